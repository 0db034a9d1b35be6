import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "./api/client.ts";

export function App() {
  const [q, setQ] = useState("");
  const status = useQuery({ queryKey: ["status"], queryFn: ({ signal }) => api.status(signal) });
  return (
    <main className="mx-auto flex h-full max-w-xl flex-col justify-center gap-4 p-6">
      <h1 className="text-xl font-semibold">Neurigraph</h1>
      <input
        type="search"
        aria-label="Search your memory"
        placeholder="Search your memory"
        value={q}
        onChange={(event) => setQ(event.target.value)}
        className="rounded-lg border border-line bg-surface px-3 py-2"
      />
      <p className="text-ink-quiet" role="status">
        {status.data
          ? `${status.data.counts.memories} memories in ${status.data.counts.broad} topics`
          : (status.error?.message ?? "Asking the daemon…")}
      </p>
    </main>
  );
}
