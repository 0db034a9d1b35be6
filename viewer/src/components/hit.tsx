/** Why a memory was found: its matched words, its place, and the stage that found it, in words. */

import type { Hit } from "../api/shapes.ts";
import { marked } from "../marked.tsx";
import { dateOf, stage } from "../words.ts";
import { TemperatureMark } from "./temperature.tsx";

export function HitBody({ hit, brief = false }: { hit: Hit; brief?: boolean }) {
  const best = hit.passages[0];
  const text = hit.snippet || best?.text || "";
  return (
    <span className="block min-w-0">
      <span className="flex items-baseline gap-3">
        <span className={`min-w-0 truncate font-semibold ${brief ? "text-[15px]" : "text-[16px]"}`}>
          {hit.title}
        </span>
        <span className="ml-auto shrink-0 text-[13px] text-ink-quiet tabular-nums">{dateOf(hit.created)}</span>
      </span>
      {text && (
        <span className={`mt-0.5 text-[14px] text-ink-soft ${brief ? "line-clamp-2" : "line-clamp-4"}`}>
          {marked(text)}
        </span>
      )}
      <span className="mt-1 flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-[13px] text-ink-quiet">
        <TemperatureMark value={hit.temperature} wordless={brief} />
        <span>
          {hit.broad} › {hit.focused}
        </span>
        <span aria-hidden>·</span>
        <span>{stage(hit.stage, best?.source === "transcript")}</span>
        {!brief && (
          <>
            <span aria-hidden>·</span>
            <span className="tabular-nums">score {hit.score.toFixed(2)}</span>
          </>
        )}
        {hit.stale && <span>· being indexed</span>}
      </span>
    </span>
  );
}
