/** What can be done to a memory from its card: each tells what it did, and how to take it back. */

import { useQueryClient } from "@tanstack/react-query";
import { api, changedElsewhere, type MemoryChange } from "../api/client.ts";
import { place, refresh, take } from "../api/queries.ts";
import type { Memory } from "../api/shapes.ts";
import { complain, say } from "../notices.ts";
import { urls } from "../route.ts";

export function useMemoryActions() {
  const queries = useQueryClient();

  /** A change that names single flags or the place: made again once on the newest version. */
  async function change(memory: Memory, body: MemoryChange): Promise<Memory | null> {
    try {
      let made: Memory;
      try {
        made = await api.changeMemory(memory, body);
      } catch (error) {
        const current = changedElsewhere(error);
        if (!current) throw error;
        made = await api.changeMemory(current, body);
      }
      place(queries, made);
      refresh(queries, "memories");
      return made;
    } catch (error) {
      complain(error);
      return null;
    }
  }

  async function restore(id: string): Promise<void> {
    try {
      place(queries, await api.restoreMemory(id));
      refresh(queries, "memories");
    } catch (error) {
      complain(error);
    }
  }

  async function remove(memory: Memory): Promise<boolean> {
    try {
      let version = memory;
      try {
        await api.deleteMemory(version);
      } catch (error) {
        const current = changedElsewhere(error);
        if (!current) throw error;
        version = current;
        await api.deleteMemory(version);
      }
    } catch (error) {
      complain(error);
      return false;
    }
    take(queries, memory.id);
    refresh(queries, "memories");
    say(`“${memory.title}” is in the trash.`, { label: "Undo", run: () => void restore(memory.id) });
    return true;
  }

  async function pin(memory: Memory): Promise<void> {
    const pinned = !memory.pinned;
    const made = await change(memory, { pinned });
    if (made) say(pinned ? "Pinned: it never cools." : "No longer pinned.");
  }

  async function hide(memory: Memory): Promise<void> {
    const made = await change(memory, { private: !memory.private });
    if (made) say(made.private ? "Private: no AI is shown it." : "No longer private.");
  }

  async function release(memory: Memory): Promise<void> {
    const made = await change(memory, { secrets_ok: true });
    if (made) say("Git may have it now.");
  }

  async function move(memory: Memory, focused_id: string): Promise<void> {
    const made = await change(memory, { focused_id });
    if (!made) return;
    const undo = () => void change(made, { focused_id: memory.focused_id });
    say(`Moved to ${made.broad} › ${made.focused}.`, { label: "Undo", run: undo });
  }

  async function copyLink(memory: Memory): Promise<void> {
    try {
      await navigator.clipboard.writeText(location.origin + urls.memory(memory.id));
      say("The link is copied.");
    } catch {
      complain("The browser did not allow copying. The link is in the address bar of the memory’s page.");
    }
  }

  /** Reading it counts as opening: it warms. Fails in silence, the reader has the text anyway. */
  async function opened(id: string): Promise<void> {
    try {
      place(queries, await api.openMemory(id));
    } catch {
      return;
    }
  }

  return { change, remove, pin, hide, release, move, copyLink, opened };
}
