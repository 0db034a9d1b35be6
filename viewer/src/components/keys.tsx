/** The keyboard: one key a view, and Esc always one step back. */

import { useLayoutEffect, useState } from "react";
import { Dialog } from "./dialog.tsx";

export type KeyMap = Record<string, () => void>;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

const somethingOpen = () => 
  document.querySelector('[role="dialog"][data-open], [role="menu"][data-open]') !== null;

/** Give the focus to an element that may have to be scrolled into being first. */
export function focusSoon(find: () => HTMLElement | null | undefined, tries = 8): void {
  requestAnimationFrame(() => {
    const element = find();
    if (element) element.focus({ preventScroll: true });
    else if (tries > 1) focusSoon(find, tries - 1);
  });
}

/** Single keys, heard while nobody types and no dialog is open. */
export function useKeys(keys: KeyMap): void {
  useLayoutEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      if (typing(event.target) || somethingOpen()) return;
      const run = keys[event.key];
      if (!run) return;
      event.preventDefault();
      run();
    }
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [keys]);
}

export function focusSearch(): void {
  document.getElementById("search")?.focus();
}

/** Ctrl-K or ⌘K reaches the search field from everywhere, also while typing. */
export function useSearchChord(): void {
  useLayoutEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      focusSearch();
    }
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

const MAP: [keys: string[], does: string][] = [
  [["/", "Ctrl K"], "Search"],
  [["↑", "↓"], "Move through results, cards, rows and the tree"],
  [["←", "→"], "Close or open a branch; move in the graph"],
  [["Enter"], "Open"],
  [["Esc"], "One step back"],
  [["g"], "Graph"],
  [["f"], "Feed"],
  [["t"], "Table"],
  [["r"], "Tree"],
  [["d"], "Show or hide the topic’s details"],
  [["s"], "Status"],
  [["?"], "These keys"],
];

export function useHelp(): [() => void, React.ReactNode] {
  const [open, setOpen] = useState(false);
  const help = (
    <Dialog title="Keys" open={open} onClose={() => setOpen(false)}>
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-6 gap-y-2.5">
        {MAP.map(([keys, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1.5">
              {keys.map((key) => (
                <kbd key={key} className="rounded-md border border-line-strong bg-sunken px-2 py-0.5 font-sans text-[13px]">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-ink-soft">{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
  return [() => setOpen(true), help];
}
