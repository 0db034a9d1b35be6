/** All results of a search, with their passages. */

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Search, SearchX } from "lucide-react";
import { useEffect, useMemo, useRef, type KeyboardEvent } from "react";
import { api } from "../api/client.ts";
import { broadQuery } from "../api/queries.ts";
import { Button } from "../components/button.tsx";
import { HitBody } from "../components/hit.tsx";
import { useKeys } from "../components/keys.tsx";
import { Link } from "../components/link.tsx";
import { Bar, Blank, Failed } from "../components/states.tsx";
import { back, go, urls } from "../route.ts";
import { count } from "../words.ts";

const A_TIME = 20;

export function SearchPage({ q, scope }: { q: string; scope: string }) {
  const broad = useQuery(broadQuery);
  const queries = useQueryClient();
  const list = useRef<HTMLOListElement>(null);
  const answer = useInfiniteQuery({
    queryKey: ["search", "page", q, scope],
    queryFn: ({ pageParam, signal }) =>
      api.search({ q, scope, limit: A_TIME, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const shown = pages.reduce((sum, page) => sum + page.results.length, 0);
      return last.results.length > 0 && shown < last.total ? shown : undefined;
    },
    enabled: q !== "",
  });
  useEffect(() => {
    document.title = q ? `${q} · Neurigraph` : "Search · Neurigraph";
  }, [q]);
  useKeys(useMemo(() => ({ Escape: () => back("/") }), []));

  function press(event: KeyboardEvent) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
  }

  const pages = answer.data?.pages ?? [];
  const hits = pages.flatMap((page) => page.results);
  const total = pages[0]?.total ?? 0;
  const scoped = scope
    ? (broad.data?.find((node) => node.id === scope)?.name ??
      queries.getQueryData<{ name: string }>(["nodes", "one", "focused", scope])?.name ??
      "one topic")
    : "";
  return (
    <div className="min-h-0 grow overflow-y-auto px-3 py-4 sm:px-6">
      <div className="mx-auto max-w-3xl">
        <div className="mb-3 flex flex-wrap items-center gap-3 px-1">
          <h1 className="text-[17px] font-semibold">{q ? `Results for “${q}”` : "Search"}</h1>
          {pages[0] && (
            <p role="status" className="text-[14px] text-ink-quiet tabular-nums">
              {count(total, "result")} in {Math.round(pages[0].took_ms)} ms
            </p>
          )}
          <label className="ml-auto flex items-center gap-2 text-[13px] text-ink-quiet">
            Within
            <select
              value={scope}
              onChange={(event) => go(urls.search(q, event.target.value), { replace: true })}
              className="h-8 rounded-lg border border-line-strong bg-surface px-2 text-[14px] text-ink"
            >
              <option value="">all topics</option>
              {scope && !broad.data?.some((node) => node.id === scope) && (
                <option value={scope}>{scoped}</option>
              )}
              {broad.data?.map((node) => (
                <option key={node.id} value={node.id}>
                  {node.name}
                </option>
              ))}
            </select>
          </label>
        </div>
        {answer.error ? (
          <Failed error={answer.error} retry={() => void answer.refetch()} />
        ) : q === "" ? (
          <Blank icon={Search} title="What are you looking for?">
            <p>Type a word, a phrase or a question into the field above.</p>
          </Blank>
        ) : answer.isPending ? (
          <div className="space-y-3" aria-busy>
            {[0, 1, 2].map((at) => (
              <div key={at} className="rounded-2xl border border-line bg-surface p-5">
                <Bar className="h-4 w-1/2" />
                <Bar className="mt-3 h-3 w-full" />
                <Bar className="mt-2 h-3 w-2/3" />
              </div>
            ))}
          </div>
        ) : hits.length === 0 ? (
          <Blank icon={SearchX} title={`Nothing about “${q}”`}>
            <p>Try fewer or other words. Cold memories are searched too.</p>
            {scope && <Button onClick={() => go(urls.search(q))}>Search all topics</Button>}
          </Blank>
        ) : (
          <>
            <ol ref={list} onKeyDown={press} className="space-y-2.5">
              {hits.map((hit) => (
                <li key={hit.id}>
                  <Link
                    href={urls.memory(hit.id, q)}
                    className="block rounded-2xl border border-line bg-surface px-4 py-3 hover:border-line-strong sm:px-5"
                  >
                    <HitBody hit={hit} />
                  </Link>
                </li>
              ))}
            </ol>
            {answer.hasNextPage && (
              <div className="py-5 text-center">
                <Button disabled={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
                  Show more
                </Button>
              </div>
            )}
          </>
        )}
      </div>
    </div>
  );
}
