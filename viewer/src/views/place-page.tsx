/** A place (everything, a broad topic, a focused topic) seen as graph, feed, table or tree. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronRight, ListTree, Newspaper, PanelRight, Table2, Waypoints, type LucideIcon } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { api } from "../api/client.ts";
import { nodeQuery } from "../api/queries.ts";
import type { Node } from "../api/shapes.ts";
import { Dialog } from "../components/dialog.tsx";
import { IconButton } from "../components/button.tsx";
import { useKeys } from "../components/keys.tsx";
import { Link } from "../components/link.tsx";
import { Failed } from "../components/states.tsx";
import { keep, kept, useKept, usePhone, useWide } from "../kept.ts";
import { go, urls, VIEWS, type Filters, type ListView, type Place, type View } from "../route.ts";
import { Feed } from "./feed.tsx";
import { NodePanel } from "./node-panel.tsx";
import { Table } from "./table.tsx";
import { Tree } from "./tree.tsx";

// The graph's engine is a quarter of the script; lists are on screen before it has come.
const Graph = lazy(() => import("./graph/graph.tsx"));

const LOOKS: Record<View, { icon: LucideIcon; word: string }> = {
  graph: { icon: Waypoints, word: "Graph" },
  feed: { icon: Newspaper, word: "Feed" },
  table: { icon: Table2, word: "Table" },
  tree: { icon: ListTree, word: "Tree" },
};

function lastList(): ListView {
  const view = kept("view");
  return view === "table" || view === "tree" ? view : "feed";
}

/** The broad and focused node of a place, as far as they are known. */
function usePlaceNodes(place: Place) {
  const broadId = place.at === "all" ? "" : place.broad;
  const focusedId = place.at === "focused" ? place.focused : "";
  const broad = useQuery({ ...nodeQuery("broad", broadId), enabled: broadId !== "" });
  const focused = useQuery({ ...nodeQuery("focused", focusedId), enabled: focusedId !== "" });
  return { broad, focused };
}

export function usePlaceNames(place: Place): { scope: { id: string; name: string } | null } {
  const { broad, focused } = usePlaceNodes(place);
  const node = place.at === "focused" ? focused.data : place.at === "broad" ? broad.data : undefined;
  return { scope: node ? { id: node.id, name: node.name } : null };
}

interface Props {
  place: Place;
  view: View | null;
  filters: Filters;
}

export function PlacePage({ place, view: asked, filters }: Props) {
  const phone = usePhone();
  const wide = useWide();
  const queries = useQueryClient();
  const { broad, focused } = usePlaceNodes(place);
  const view = asked ?? (place.at === "focused" || phone ? lastList() : "graph");
  const [details, setDetails] = useKept("details", "open");
  const [sheet, setSheet] = useState(false);
  const node = place.at === "focused" ? focused.data : place.at === "broad" ? broad.data : undefined;
  const parent = place.at === "focused" ? broad.data : undefined;
  const docked = wide && details === "open" && place.at !== "all";

  useEffect(() => {
    if (place.at !== "all") document.title = node ? `${node.name} · Neurigraph` : "Neurigraph";
    else document.title = "Neurigraph";
  }, [place.at, node]);

  // Entering a focused topic is opening it: its neighbours warm.
  const entered = place.at === "focused" ? place.focused : null;
  useEffect(() => {
    if (!entered) return;
    api.openNode(entered).then(
      (opened) => queries.setQueryData(["nodes", "one", "focused", entered], opened),
      () => undefined, // The page itself says what is wrong with the topic.
    );
  }, [entered, queries]);

  const keys = useMemo(() => {
    const show = (next: View) => () => {
      if (next !== "graph") keep("view", next);
      go(urls.place(place, next));
    };
    const up = () => {
      if (place.at === "focused") go(urls.place({ at: "broad", broad: place.broad }));
      else if (place.at === "broad") go("/");
      else if (view !== (phone ? "feed" : "graph")) go("/");
    };
    return {
      g: show("graph"),
      f: show("feed"),
      t: show("table"),
      r: show("tree"),
      d: () => (wide ? setDetails(details === "open" ? "closed" : "open") : setSheet(true)),
      Escape: up,
    };
  }, [place, view, phone, wide, details, setDetails]);
  useKeys(keys);

  const failed = broad.error ?? focused.error;
  if (failed) {
    const retry = () => void Promise.all([broad.refetch(), focused.refetch()]);
    return <Failed page error={failed} retry={retry} />;
  }
  const listNode = place.at === "all" ? null : place.at === "broad" ? place.broad : place.focused;
  const panel = node && <NodePanel node={node} />;
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5 sm:px-5">
        <Crumbs place={place} node={node} parent={parent} />
        <div className="ml-auto flex items-center gap-1">
          <Switch place={place} view={view} />
          {place.at !== "all" && (
            <IconButton
              label={docked ? "Hide details" : "Show details"}
              icon={PanelRight}
              aria-pressed={docked}
              onClick={keys.d}
              className={docked ? "text-accent" : ""}
            />
          )}
        </div>
      </div>
      <div className="flex min-h-0 grow">
        <div className="relative flex min-h-0 min-w-0 grow flex-col">
          {view === "graph" && (
            <Suspense fallback={null}>
              <Graph place={place} />
            </Suspense>
          )}
          {view === "feed" && <Feed key={listNode} node={listNode} place={place} filters={filters} />}
          {view === "table" && <Table key={listNode} node={listNode} place={place} filters={filters} />}
          {view === "tree" && <Tree key={listNode} place={place} />}
        </div>
        {docked && (
          <aside aria-label="Details" className="w-80 shrink-0 overflow-y-auto border-l border-line bg-surface p-5">
            {panel}
          </aside>
        )}
      </div>
      <Dialog title="Details" sheet open={sheet && !docked} onClose={() => setSheet(false)}>
        {panel}
      </Dialog>
    </>
  );
}

function Crumbs({ place, node, parent }: { place: Place; node?: Node | undefined; parent?: Node | undefined }) {
  const steps: { name: string; href: string }[] = [{ name: "All topics", href: "/" }];
  if (place.at === "focused") {
    steps.push({ name: parent?.name ?? "…", href: urls.place({ at: "broad", broad: place.broad }) });
  }
  if (place.at !== "all") steps.push({ name: node?.name ?? "…", href: urls.place(place) });
  return (
    <nav aria-label="Where you are" className="min-w-0">
      <ol className="flex min-w-0 items-center text-[15px]">
        {steps.map((step, at) => {
          const last = at === steps.length - 1;
          return (
            <li key={step.href} className="flex min-w-0 items-center">
              {at > 0 && <ChevronRight aria-hidden size={15} className="mx-0.5 shrink-0 text-ink-quiet" />}
              {last ? (
                <h1 className="truncate px-1 font-semibold" aria-current="page">
                  {step.name}
                </h1>
              ) : (
                <Link href={step.href} className="truncate rounded px-1 text-ink-soft hover:text-ink hover:underline">
                  {step.name}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Switch({ place, view }: { place: Place; view: View }) {
  return (
    <nav aria-label="Views" className="flex rounded-lg bg-sunken p-0.5">
      {VIEWS.map((name) => {
        const { icon: Icon, word } = LOOKS[name];
        const current = name === view;
        return (
          <Link
            key={name}
            href={urls.place(place, name)}
            aria-current={current ? "page" : undefined}
            aria-label={word}
            title={`${word} (${name === "tree" ? "r" : name[0]})`}
            onClick={() => name !== "graph" && keep("view", name)}
            className={`flex h-7 items-center gap-1.5 rounded-md px-2.5 text-[14px] ${current ? "bg-raised font-medium text-ink shadow-card" : "text-ink-quiet hover:text-ink"}`}
          >
            <Icon aria-hidden size={15} />
            <span className="hidden md:inline">{word}</span>
          </Link>
        );
      })}
    </nav>
  );
}
