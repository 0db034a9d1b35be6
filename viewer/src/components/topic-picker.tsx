/** Choosing one focused topic among many: type a part of its name, arrows, Enter. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { broadQuery, focusedQuery } from "../api/queries.ts";
import type { Node } from "../api/shapes.ts";
import { fieldClass } from "./dialog.tsx";

interface Choice {
  id: string;
  label: string;
}

interface Props {
  label: string;
  /** Topics that cannot be chosen. */
  without: readonly string[];
  /** Broad topics may be chosen too. */
  broadToo?: boolean;
  onPick: (id: string, label: string) => void;
}

const SHOWN = 60;

export function TopicPicker({ label, without, broadToo = false, onPick }: Props) {
  const broad = useQuery(broadQuery);
  const topics = broad.data ?? [];
  const focused = useQueries({ queries: topics.map((topic) => focusedQuery(topic.id)) });
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const list = useId();
  const chosen = useRef<HTMLLIElement>(null);
  const version = focused.map((answer) => answer.dataUpdatedAt).join();
  const choices = useMemo(() => {
    const all: Choice[] = [];
    topics.forEach((topic, at) => {
      const within: Node[] = focused[at]?.data ?? [];
      if (broadToo) all.push({ id: topic.id, label: topic.name });
      for (const node of within) all.push({ id: node.id, label: `${topic.name} › ${node.name}` });
    });
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return all
      .filter(({ id }) => !without.includes(id))
      .filter(({ label: name }) => words.every((word) => name.toLowerCase().includes(word)))
      .slice(0, SHOWN);
  }, [topics, version, text, without, broadToo]);
  useEffect(() => setActive(0), [text]);
  useEffect(() => chosen.current?.scrollIntoView({ block: "nearest" }), [active]);

  function press(event: KeyboardEvent) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && choices.length) {
      event.preventDefault();
      setActive((active + step + choices.length) % choices.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const choice = choices[active];
      if (choice) onPick(choice.id, choice.label);
    }
  }

  return (
    <div>
      <input
        autoFocus
        role="combobox"
        aria-label={label}
        aria-expanded={choices.length > 0}
        aria-controls={list}
        aria-activedescendant={choices[active] ? `${list}-${active}` : undefined}
        placeholder="Type a part of its name"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
        className={fieldClass}
      />
      <ul id={list} role="listbox" aria-label={label} className="mt-2 h-64 overflow-y-auto">
        {choices.map((choice, at) => (
          <li
            key={choice.id}
            ref={at === active ? chosen : null}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === active}
            onPointerMove={() => setActive(at)}
            onClick={() => onPick(choice.id, choice.label)}
            className={`cursor-pointer rounded-lg px-3 py-1.5 ${at === active ? "bg-sunken" : ""}`}
          >
            {choice.label}
          </li>
        ))}
        {choices.length === 0 && (
          <li role="option" aria-disabled aria-selected={false} className="px-3 py-1.5 text-ink-quiet">
            {broad.data ? "No topic of that name" : "Loading the topics…"}
          </li>
        )}
      </ul>
    </div>
  );
}
