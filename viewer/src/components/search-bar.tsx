/** The front door: a field that is always there and answers as you type. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Search, X } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { searchQuery } from "../api/queries.ts";
import { go, urls } from "../route.ts";
import { count, number } from "../words.ts";
import { IconButton } from "./button.tsx";
import { HitBody } from "./hit.tsx";

const SHOWN = 8;
/** Long enough that a fast typist asks once a word, short enough to feel at once. */
const PAUSE_MS = 90;

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === "" ? "" : settled;
}

interface Scope {
  id: string;
  name: string;
}

export function SearchBar({ q: asked, scope }: { q: string; scope: Scope | null }) {
  const [text, setText] = useState(asked);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [within, setWithin] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const list = useId();
  const queries = useQueryClient();
  const q = useSettled(text).trim();
  const where = within && scope ? scope.id : "";
  const answer = useQuery({ ...searchQuery(q, where, SHOWN), enabled: open && q !== "" });
  const hits = q && answer.data ? answer.data.results : [];

  const [before, setBefore] = useState(asked);
  if (asked !== before) {
    setBefore(asked);
    setText(asked);
  }
  useEffect(() => setActive(0), [q, where]);
  useEffect(() => {
    if (!open) return;
    const away = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);

  function leave(url: string) {
    setOpen(false);
    input.current?.blur();
    go(url);
  }

  /** Open what is chosen; typed faster than answered, the first result of what was typed. */
  async function enter(words: string) {
    if (!words) return;
    const settled = words === q && answer.data && !answer.isPlaceholderData;
    let hit = settled ? hits[active] : undefined;
    if (!settled) {
      const found = await queries.fetchQuery(searchQuery(words, where, SHOWN)).catch(() => null);
      if (input.current?.value.trim() !== words) return;
      hit = found?.results[0];
    }
    leave(hit ? urls.memory(hit.id, words) : urls.search(words, where));
  }

  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const rows = hits.length + (q ? 1 : 0);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (rows) setActive((active + step + rows) % rows);
    } else if (event.key === "Enter") {
      event.preventDefault();
      void enter(text.trim());
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (open && text) setOpen(false);
      else input.current?.blur();
    }
  }

  const shown = open && q !== "";
  return (
    <div
      ref={box}
      role="search"
      className="relative min-w-0 grow"
      onBlur={(event) => {
        if (event.relatedTarget && !box.current?.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <Search
        aria-hidden
        size={16}
        className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-ink-quiet"
      />
      <input
        ref={input}
        id="search"
        type="text"
        role="combobox"
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        spellCheck={false}
        aria-label="Search your memory"
        aria-expanded={shown}
        aria-controls={shown ? list : undefined}
        aria-autocomplete="list"
        aria-activedescendant={shown && (hits[active] || active === hits.length) ? `${list}-${active}` : undefined}
        placeholder="Search your memory"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
        }}
        onFocus={(event) => {
          setOpen(true);
          event.target.select();
        }}
        onKeyDown={press}
        className="h-10 w-full rounded-xl border border-line bg-surface pr-10 pl-9 text-[15px] placeholder:text-ink-quiet focus:border-accent focus:outline-none focus-visible:ring-2 focus-visible:ring-accent/40"
      />
      {text ? (
        <IconButton
          label="Clear the search"
          icon={X}
          className="absolute top-1 right-1"
          onClick={() => {
            setText("");
            input.current?.focus();
          }}
        />
      ) : (
        <kbd
          aria-hidden
          className="pointer-events-none absolute top-1/2 right-3 hidden -translate-y-1/2 rounded border border-line px-1.5 font-sans text-xs text-ink-quiet sm:block"
        >
          /
        </kbd>
      )}
      {shown && (
        <div className="pop fixed inset-x-2 top-[3.75rem] z-30 overflow-hidden rounded-xl border border-line bg-raised shadow-float sm:absolute sm:inset-x-0 sm:top-full sm:mt-1.5">
          <p role="status" className="sr-only">
            {answer.data ? count(answer.data.total, "result") : "Searching"}
          </p>
          {answer.error ? (
            <p className="px-4 py-3 text-danger">{answer.error.message}</p>
          ) : (
            <ul id={list} role="listbox" aria-label="Results" className="max-h-[70dvh] overflow-y-auto p-1">
              {hits.map((hit, at) => (
                <Option key={hit.id} id={`${list}-${at}`} active={at === active} onPoint={() => setActive(at)} onPick={() => leave(urls.memory(hit.id, q))}>
                  <HitBody hit={hit} brief />
                </Option>
              ))}
              {answer.data && (
                <Option id={`${list}-${hits.length}`} active={active === hits.length} onPoint={() => setActive(hits.length)} onPick={() => leave(urls.search(q, where))}>
                  <span className="flex justify-between gap-4 text-[14px]">
                    <span className="font-medium text-accent">
                      {hits.length ? `All results (${number(answer.data.total)})` : "Nothing found here. Search everywhere"}
                    </span>
                    <span className="text-ink-quiet tabular-nums">{Math.round(answer.data.took_ms)} ms</span>
                  </span>
                </Option>
              )}
              {!answer.data && <li role="presentation" className="px-3 py-2 text-ink-quiet">Searching…</li>}
            </ul>
          )}
          {scope && (
            <label className="flex cursor-pointer items-center gap-2 border-t border-line px-4 py-2 text-[14px] text-ink-soft">
              <input type="checkbox" className="accent-(--accent-fill)" checked={within} onChange={(event) => setWithin(event.target.checked)} />
              Only in {scope.name}
            </label>
          )}
        </div>
      )}
    </div>
  );
}

interface OptionProps {
  id: string;
  active: boolean;
  onPoint: () => void;
  onPick: () => void;
  children: React.ReactNode;
}

function Option({ id, active, onPoint, onPick, children }: OptionProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (active) row.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <li
      ref={row}
      id={id}
      role="option"
      aria-selected={active}
      onPointerMove={onPoint}
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPick}
      className={`cursor-pointer rounded-lg px-3 py-2 ${active ? "bg-sunken" : ""}`}
    >
      {children}
    </li>
  );
}
