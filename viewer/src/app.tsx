import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleQuestionMark, MapPinOff } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { follow } from "./api/live.ts";
import { refresh, statusQuery } from "./api/queries.ts";
import { IconButton } from "./components/button.tsx";
import { focusSearch, useHelp, useKeys, useSearchChord } from "./components/keys.tsx";
import { Link } from "./components/link.tsx";
import { SearchBar } from "./components/search-bar.tsx";
import { Blank } from "./components/states.tsx";
import { StatusCorner } from "./components/status-corner.tsx";
import { Toasts } from "./components/toast.tsx";
import { go, urls, useRoute, type Route } from "./route.ts";
import { MemoryPage } from "./views/memory-page.tsx";
import { PlacePage, usePlaceNames } from "./views/place-page.tsx";
import { SearchPage } from "./views/search-page.tsx";
import { StatusPage } from "./views/status-page.tsx";

export function App() {
  const queries = useQueryClient();
  useEffect(() => follow(queries), [queries]);
  const { data: status } = useQuery(statusQuery);
  const before = useRef(status?.state);
  const state = status?.state;
  useEffect(() => {
    // What was asked while the vault was still being read is asked once more when it has been.
    const waited = before.current !== undefined && before.current !== "ready";
    if (state === "ready" && waited) refresh(queries, "memories", "edges");
    before.current = state;
  }, [state, queries]);
  const route = useRoute();
  const [openHelp, help] = useHelp();
  useSearchChord();
  const keys = useMemo(
    () => ({
      "/": focusSearch,
      "?": openHelp,
      s: () => go(urls.status()),
    }),
    [openHelp],
  );
  useKeys(keys);
  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className="sr-only z-50 rounded-lg bg-raised px-3 py-2 shadow-float focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to the page
      </a>
      <header className="z-20 flex shrink-0 items-center gap-2 border-b border-line bg-page px-2 py-2 sm:gap-4 sm:px-4">
        <Link
          href="/"
          className="flex h-9 shrink-0 items-center gap-2 rounded-lg px-1.5 text-[15px] font-semibold tracking-tight hover:bg-sunken sm:w-44 lg:w-52"
        >
          <img src="/favicon.svg" alt="" width={22} height={22} />
          <span className="sr-only sm:not-sr-only">Neurigraph</span>
        </Link>
        <div className="mx-auto flex min-w-0 max-w-2xl grow">
          <TopSearch route={route} />
        </div>
        <div className="flex shrink-0 items-center justify-end gap-1 sm:w-44 lg:w-52">
          <StatusCorner />
          <IconButton label="Keys" icon={CircleQuestionMark} className="max-sm:hidden" onClick={openHelp} />
        </div>
      </header>
      <main id="main" tabIndex={-1} className="relative flex min-h-0 grow flex-col outline-none">
        <Page route={route} />
      </main>
      <Toasts />
      {help}
    </div>
  );
}

function TopSearch({ route }: { route: Route }) {
  const names = usePlaceNames(route.page === "place" ? route.place : { at: "all" });
  const q = route.page === "search" || route.page === "memory" ? route.q : "";
  return <SearchBar q={q} scope={names.scope} />;
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "place":
      return <PlacePage place={route.place} view={route.view} filters={route.filters} />;
    case "memory":
      return <MemoryPage key={route.id} id={route.id} q={route.q} />;
    case "search":
      return <SearchPage q={route.q} scope={route.scope} />;
    case "status":
      return <StatusPage />;
    case "lost":
      return (
        <Blank icon={MapPinOff} title="There is nothing at this address" page>
          <p>
            <Link href="/" className="text-accent underline">
              Go to all topics
            </Link>
          </p>
        </Blank>
      );
  }
}
