/** One memory: date and title first, then the summary; its transcript opens inside. */

import {
  ChevronDown,
  Copy,
  Ellipsis,
  ExternalLink,
  EyeOff,
  Eye,
  FolderInput,
  KeyRound,
  Paperclip,
  Pencil,
  Pin,
  PinOff,
  Trash2,
} from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import { useChangedLately } from "../api/live.ts";
import type { Memory } from "../api/shapes.ts";
import { Button } from "../components/button.tsx";
import { Link } from "../components/link.tsx";
import { MenuButton } from "../components/menu.tsx";
import { TemperatureMark } from "../components/temperature.tsx";
import { back, urls, type Place } from "../route.ts";
import { bytes, count, dateOf, momentOf, number, since } from "../words.ts";
import { useMemoryActions } from "./memory-actions.ts";
import { MemoryEdit } from "./memory-edit.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import { Transcript } from "./transcript.tsx";

interface Props {
  memory: Memory;
  place: Place;
  open: boolean;
  onOpen: (id: string, open: boolean) => void;
  onKeyword: (keyword: string) => void;
  position: [at: number, of: number];
  tabIndex: number;
  onFocus: () => void;
}

export function MemoryCard(props: Props) {
  const { memory, place, open, onOpen, onKeyword, position, tabIndex, onFocus } = props;
  const [editing, setEditing] = useState(false);
  const changed = useChangedLately(memory.id);
  const card = useRef<HTMLElement>(null);
  const { opened } = useMemoryActions();
  const headline = `t-${memory.id}`;
  const { has_transcript, id } = memory;
  useEffect(() => {
    // Where there is a conversation, asking for its first page is the opening.
    if (open && !has_transcript) void opened(id);
  }, [open, has_transcript, id]);

  function stopEditing() {
    setEditing(false);
    card.current?.focus();
  }

  return (
    <article
      ref={card}
      aria-labelledby={headline}
      aria-posinset={position[0]}
      aria-setsize={position[1]}
      tabIndex={tabIndex}
      onFocus={onFocus}
      className={`rounded-2xl border border-line bg-surface px-4 pt-3.5 pb-3 sm:px-5 ${changed ? "flash" : ""}`}
    >
      {editing ? (
        <MemoryEdit memory={memory} onDone={stopEditing} />
      ) : (
        <>
          <Facts memory={memory} place={place} />
          <div className="mt-0.5 flex items-start gap-2">
            <h2 id={headline} className="min-w-0 grow text-[17px] leading-snug font-semibold text-pretty">
              <Link href={urls.memory(memory.id)} tabIndex={tabIndex} className="rounded hover:underline">
                {memory.title}
              </Link>
            </h2>
            <Actions memory={memory} onEdit={() => setEditing(true)} />
          </div>
          <Summary memory={memory} full={open} />
          <div className="mt-2.5 flex flex-wrap items-center gap-1.5">
            <Keywords memory={memory} onKeyword={onKeyword} />
            <Artifacts memory={memory} />
            <Button
              tone="quiet"
              aria-expanded={open}
              onClick={() => onOpen(memory.id, !open)}
              className="-mr-2 ml-auto !min-h-7 !px-2 text-[13px]"
            >
              {open ? "Close" : memory.has_transcript ? "Read the conversation" : "Read on"}
              <ChevronDown aria-hidden size={14} className={open ? "rotate-180" : ""} />
            </Button>
          </div>
          {open && (
            <>
              <Sections memory={memory} />
              {memory.has_transcript && (
                <div className="mt-3 border-t border-line pt-1">
                  <Transcript id={memory.id} q="" />
                </div>
              )}
            </>
          )}
        </>
      )}
    </article>
  );
}

/** The small line above the title. */
export function Facts({ memory, place }: { memory: Memory; place: Place | null }) {
  const elsewhere = place?.at !== "focused";
  return (
    <p className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-[13px] text-ink-quiet tabular-nums">
      <time dateTime={memory.created ?? undefined} title={momentOf(memory.created)}>
        {dateOf(memory.created) || "No date"}
      </time>
      <TemperatureMark value={memory.temperature} />
      {elsewhere && (
        <Link
          href={urls.place({ at: "focused", broad: memory.broad_id, focused: memory.focused_id })}
          className="rounded hover:text-ink hover:underline"
        >
          {place?.at === "broad" ? memory.focused : `${memory.broad} › ${memory.focused}`}
        </Link>
      )}
      {memory.source_model && (
        <span className="rounded-md border border-line px-1.5 text-ink-soft">{memory.source_model}</span>
      )}
      {!memory.owned && <span title="A note written by hand">your note</span>}
      {memory.pinned && (
        <span className="inline-flex items-center gap-1 text-accent">
          <Pin aria-hidden size={13} /> Pinned
        </span>
      )}
      {memory.private && (
        <span className="inline-flex items-center gap-1">
          <EyeOff aria-hidden size={13} /> Private
        </span>
      )}
      {memory.secrets === "held" && (
        <span
          className="inline-flex items-center gap-1 text-warm"
          title="Something in it looks like a password or a key. Until you say yes, git does not get it."
        >
          <KeyRound aria-hidden size={13} /> Held out of git
        </span>
      )}
      {memory.access_count > 0 && (
        <span title={`Last opened ${since(memory.last_accessed)}`}>
          opened {memory.access_count === 1 ? "once" : `${number(memory.access_count)} times`}
        </span>
      )}
      {memory.stale && <span>being indexed</span>}
    </p>
  );
}

export function Actions({ memory, onEdit, leaving = false }: { memory: Memory; onEdit: () => void; leaving?: boolean }) {
  const { remove, pin, hide, release, move, copyLink } = useMemoryActions();
  const [moving, setMoving] = useState(false);
  const topic = urls.place({ at: "focused", broad: memory.broad_id, focused: memory.focused_id });
  return (
    <div className="-mt-1.5 -mr-1.5 flex">
      <MenuButton
        label={`What to do with “${memory.title}”`}
        icon={Ellipsis}
        entries={[
          { label: "Edit", icon: Pencil, run: onEdit },
          { label: "Move", icon: FolderInput, run: () => setMoving(true) },
          {
            label: memory.pinned ? "Unpin" : "Pin",
            icon: memory.pinned ? PinOff : Pin,
            run: () => void pin(memory),
          },
          {
            label: memory.private ? "Make public to AIs" : "Make private",
            icon: memory.private ? Eye : EyeOff,
            run: () => void hide(memory),
          },
          {
            label: "Let git have it",
            icon: KeyRound,
            run: () => void release(memory),
            hidden: memory.secrets !== "held",
          },
          {
            label: "Open in Obsidian",
            icon: ExternalLink,
            run: () => window.location.assign(memory.obsidian_url),
            hidden: !memory.obsidian_url.startsWith("obsidian://"),
          },
          { label: "Copy link", icon: Copy, run: () => void copyLink(memory) },
          {
            label: "Delete",
            icon: Trash2,
            danger: true,
            run: () => void remove(memory).then((gone) => gone && leaving && back(topic)),
          },
        ]}
      />
      {moving && (
        <MoveDialog
          memory={memory}
          onClose={() => setMoving(false)}
          onPick={(focused) => {
            setMoving(false);
            void move(memory, focused);
          }}
        />
      )}
    </div>
  );
}

export function Summary({ memory, full }: { memory: Memory; full: boolean }) {
  if (!memory.summary) return null;
  return (
    <p className={`mt-1.5 max-w-[70ch] whitespace-pre-line text-ink-soft ${full ? "" : "line-clamp-4"}`}>
      {memory.summary}
    </p>
  );
}

export function Keywords({ memory, onKeyword }: { memory: Memory; onKeyword: (keyword: string) => void }) {
  return memory.keywords.map((keyword) => (
    <button
      key={keyword}
      type="button"
      title={`Show only “${keyword}”`}
      onClick={() => onKeyword(keyword)}
      className="rounded-full bg-sunken px-2.5 py-0.5 text-[13px] text-ink-soft hover:bg-accent-soft hover:text-accent"
    >
      {keyword}
    </button>
  ));
}

export function Artifacts({ memory }: { memory: Memory }) {
  return memory.artifacts.map((artifact) => (
    <a
      key={artifact.name}
      href={api.artifactUrl(memory.id, artifact.name)}
      download={artifact.name}
      title={`${artifact.name}, ${bytes(artifact.size)}${artifact.compressed ? ", compressed" : ""}`}
      className="inline-flex max-w-56 items-center gap-1 rounded-full border border-line px-2.5 py-0.5 text-[13px] text-ink-soft hover:border-line-strong hover:text-ink"
    >
      <Paperclip aria-hidden size={12} className="shrink-0" />
      <span className="truncate">{artifact.name}</span>
    </a>
  ));
}

/** Decisions, open questions and the person's own notes, as they stand in the note. */
export function Sections({ memory }: { memory: Memory }) {
  const parts: [string, string][] = [
    ["Decisions", memory.decisions],
    ["Open questions", memory.open_questions],
    ["Notes", memory.notes],
  ];
  const links: [string, string | null][] = [
    ["Earlier part", memory.previous_part],
    ["Next part", memory.next_part],
  ];
  return (
    <>
      {parts.map(
        ([title, text]) =>
          text && (
            <section key={title} className="mt-3">
              <h3 className="text-[13px] font-semibold text-ink-quiet">{title}</h3>
              <div className="max-w-[70ch] whitespace-pre-line text-ink-soft">{text}</div>
            </section>
          ),
      )}
      {(memory.previous_part || memory.next_part) && (
        <p className="mt-3 flex gap-4 text-[14px]">
          {links.map(
            ([word, id]) =>
              id && (
                <Link key={word} href={urls.memory(id)} className="text-accent underline">
                  {word}
                </Link>
              ),
          )}
        </p>
      )}
    </>
  );
}

export const lengthOf = (memory: Memory) => count(memory.token_count, "token");
