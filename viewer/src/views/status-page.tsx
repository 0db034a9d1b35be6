/** How things stand: indexing, temperatures and the next cycle, sync, and what needs a person. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, type ReactNode } from "react";
import { api } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { refresh, secretsQuery, statusQuery, temperatureQuery } from "../api/queries.ts";
import type { HeldMemory, Status, TemperatureStatus } from "../api/shapes.ts";
import { Button } from "../components/button.tsx";
import { useKeys } from "../components/keys.tsx";
import { Link } from "../components/link.tsx";
import { Bar, Failed } from "../components/states.tsx";
import { LOOKS, TEMPERATURES, TemperatureMark } from "../components/temperature.tsx";
import { complain, say } from "../notices.ts";
import { back, urls } from "../route.ts";
import { bytes, count, memories, momentOf, number, since } from "../words.ts";

export function StatusPage() {
  const status = useQuery(statusQuery);
  const temperature = useQuery(temperatureQuery);
  useKeys(useMemo(() => ({ Escape: () => back("/") }), []));
  useEffect(() => {
    document.title = "Status · Neurigraph";
  }, []);
  if (status.error) return <Failed page error={status.error} retry={() => void status.refetch()} />;
  return (
    <div className="min-h-0 grow overflow-y-auto px-3 py-5 sm:px-6">
      <div className="mx-auto max-w-3xl space-y-4">
        <h1 className="px-1 text-[17px] font-semibold">Status</h1>
        {status.data ? (
          <>
            {status.data.failure && (
              <p role="alert" className="rounded-2xl bg-danger-soft px-5 py-4 text-danger">
                {status.data.failure}
              </p>
            )}
            {status.data.notices.map((notice) => (
              <p key={notice} className="rounded-2xl bg-accent-soft px-5 py-3">
                {notice}
              </p>
            ))}
            <Index status={status.data} />
            {temperature.data && <Cooling temperature={temperature.data} />}
            {temperature.error && (
              <Card title="Temperature">
                <p className="text-danger">{temperature.error.message}</p>
                <Button onClick={() => void temperature.refetch()}>Try again</Button>
              </Card>
            )}
            <Sync status={status.data} />
            <Secrets />
            <Problems status={status.data} />
          </>
        ) : (
          <div className="rounded-2xl border border-line bg-surface p-5">
            <Bar className="h-4 w-40" />
            <Bar className="mt-3 h-3 w-full" />
          </div>
        )}
      </div>
    </div>
  );
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="space-y-3 rounded-2xl border border-line bg-surface px-4 py-4 sm:px-6">
      <h2 className="text-[15px] font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <label className="block text-[14px] text-ink-soft">
      <span className="flex justify-between gap-4 tabular-nums">
        <span>{label}</span>
        <span>
          {number(done)} of {number(total)}
        </span>
      </span>
      <progress value={done} max={total} className="bar mt-1 h-1.5 w-full" />
    </label>
  );
}

function Index({ status }: { status: Status }) {
  const progress = useLive((live) => live.progress);
  const { counts, index } = status;
  const behind = Math.max(index.keyword_behind, index.vector_behind);
  const parts = [
    [index.keyword_behind, "by words"],
    [index.vector_behind, "by meaning"],
  ] as const;
  return (
    <Card title="Memory">
      <p>
        {memories(counts.memories)} in {count(counts.focused, "topic")} under {number(counts.broad)}{" "}
        broad ones.
      </p>
      <p className="text-[14px] text-ink-quiet">
        {status.state === "starting"
          ? "The daemon is starting."
          : behind === 0
            ? "Everything is searchable, by words and by meaning."
            : "Search already answers; what is listed here follows."}
      </p>
      {parts.map(
        ([left, word]) =>
          left > 0 && (
            <Progress key={word} label={`Searchable ${word}`} done={Math.max(0, counts.memories - left)} total={Math.max(counts.memories, left)} />
          ),
      )}
      {[...progress.values()].map((job) => (
        <Progress key={job.job} label={job.text || job.job} done={job.done} total={job.total ?? job.done} />
      ))}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 text-[14px]">
        <dt className="text-ink-quiet">Vault</dt>
        <dd className="break-all text-ink-soft">{status.vault}</dd>
        <dt className="text-ink-quiet">Meaning by</dt>
        <dd className="text-ink-soft">{worker(status.embedder)}</dd>
        <dt className="text-ink-quiet">Summaries by</dt>
        <dd className="text-ink-soft">{worker(status.summarizer)}</dd>
        <dt className="text-ink-quiet">Version</dt>
        <dd className="text-ink-soft">{status.version}</dd>
      </dl>
    </Card>
  );
}

const worker = (one: Status["embedder"]) =>
  one ? one.name + (one.ready ? "" : ", still loading") : "nothing";

const KEYS = { hot: "hot", warm: "warm", cold: "cold", "deep-cold": "deep_cold" } as const;

function Cooling({ temperature }: { temperature: TemperatureStatus }) {
  const queries = useQueryClient();
  const { counts, planned, last_cycle: last, agreed, cool } = temperature;
  const total = counts.hot + counts.warm + counts.cold + counts.deep_cold;
  const size = Object.values(temperature.bytes).reduce((sum, part) => sum + part, 0);
  const nothing = planned.compress + planned.deepen === 0;
  const asks = !agreed || Boolean(temperature.held);
  const run = useMutation({
    mutationFn: () => api.cool(asks),
    onSuccess: () => {
      say(asks ? "Thank you. Cooling has begun." : "Cooling has begun.");
      void queries.invalidateQueries({ queryKey: ["temperature"] });
    },
    onError: complain,
  });
  const plan = nothing
    ? "nothing, for everything was opened lately"
    : [
        planned.compress > 0 && `compress ${count(planned.compress, "transcript")}`,
        planned.deepen > 0 && `compress the files of ${memories(planned.deepen)}`,
      ]
        .filter(Boolean)
        .join(" and ") + (planned.bytes > 0 ? `, saving about ${bytes(planned.bytes)}` : "");
  return (
    <Card title="Temperature">
      {total > 0 && (
        <div aria-hidden className="flex h-2 overflow-hidden rounded-full">
          {TEMPERATURES.map((name) => (
            <div key={name} className={`${LOOKS[name].className} bg-current`} style={{ width: `${(100 * counts[KEYS[name]]) / total}%` }} />
          ))}
        </div>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        {TEMPERATURES.map((name) => (
          <div key={name}>
            <dt>
              <TemperatureMark value={name} />
            </dt>
            <dd className="text-[17px] font-medium tabular-nums">{number(counts[KEYS[name]])}</dd>
            <dd className="text-[13px] text-ink-quiet tabular-nums">{bytes(temperature.bytes[KEYS[name]])}</dd>
          </div>
        ))}
      </dl>
      <p className="text-[14px] text-ink-quiet">{bytes(size)} in all. Cold memories are compressed, and found like the rest.</p>
      {cool === "never" ? (
        <p>Cooling is switched off in the settings.</p>
      ) : agreed && temperature.held ? (
        <div className="space-y-2 rounded-xl bg-danger-soft px-4 py-3">
          <p className="font-medium text-danger">Cooling is stopped.</p>
          <p className="text-[14px] text-ink-soft">
            The reason: {temperature.held}. Nothing is compressed until you have looked at this machine’s date and time and
            said that they are right.
          </p>
          <Button disabled={run.isPending} onClick={() => run.mutate()}>
            The date is right: cool again
          </Button>
        </div>
      ) : agreed ? (
        <>
          <p>
            The next cycle {temperature.next_cycle ? `runs ${since(temperature.next_cycle)}` : "is not planned"} and will do: {plan}.
          </p>
          {last && (
            <p className="text-[14px] text-ink-quiet">
              The last one, {since(last.at)}, compressed {count(last.compressed, "transcript")} and the files of{" "}
              {memories(last.deepened)}: {bytes(last.saved_bytes)} saved.
              {last.problem && <span className="text-danger"> {last.problem}</span>}
            </p>
          )}
          <Button disabled={run.isPending || nothing} onClick={() => run.mutate()}>
            Run it now
          </Button>
        </>
      ) : (
        <div className="space-y-2 rounded-xl bg-accent-soft px-4 py-3">
          <p className="font-medium">Cooling waits for your first yes.</p>
          <p className="text-[14px] text-ink-soft">
            It would now do: {plan}. Only stored transcripts and files are compressed; the text of your notes stays as
            it is, and opening a memory brings it back as it was.
          </p>
          <Button tone="accent" disabled={run.isPending} onClick={() => run.mutate()}>
            Yes, let memories cool
          </Button>
        </div>
      )}
    </Card>
  );
}

function Sync({ status: { sync } }: { status: Status }) {
  const queries = useQueryClient();
  const run = useMutation({
    mutationFn: () => api.sync(),
    onSuccess: () => {
      say("Sync has begun.");
      void queries.invalidateQueries({ queryKey: ["status"] });
    },
    onError: complain,
  });
  return (
    <Card title="Sync">
      {sync.enabled ? (
        <>
          <p>
            {sync.state ? `${sync.state[0]?.toUpperCase()}${sync.state.slice(1)}. ` : ""}
            {sync.last ? <span title={momentOf(sync.last)}>Last synced {since(sync.last)}.</span> : "Not synced yet."}
          </p>
          {sync.problem && <p className="text-danger">{sync.problem}</p>}
          <Button disabled={run.isPending} onClick={() => run.mutate()}>
            Sync now
          </Button>
        </>
      ) : (
        <p className="text-ink-soft">
          Off. To keep several machines in step with git, run{" "}
          <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[13px]">neurigraph sync init ADDRESS</code> on each
          of them.
        </p>
      )}
    </Card>
  );
}

function Secrets() {
  const { data: held = [] } = useQuery(secretsQuery);
  return held.length === 0 ? null : (
    <Card title="Held out of git">
      <p className="text-[14px] text-ink-soft">
        Something in {held.length === 1 ? "this memory" : "these memories"} looks like a password or a key. It is kept as it is,
        and travels to no other machine before you say yes.
      </p>
      <ul className="divide-y divide-line">
        {held.map((memory) => (
          <HeldRow key={memory.id} memory={memory} />
        ))}
      </ul>
    </Card>
  );
}

function HeldRow({ memory }: { memory: HeldMemory }) {
  const queries = useQueryClient();
  const release = useMutation({
    mutationFn: () => api.releaseSecrets(memory.id),
    onSuccess: () => {
      say("Git may have it now.");
      refresh(queries, "memories");
    },
    onError: complain,
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2.5 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <Link href={urls.memory(memory.id)} className="underline decoration-line underline-offset-4 hover:decoration-current">
          {memory.title}
        </Link>
        <p className="mt-0.5 text-[13px] text-ink-quiet">
          {memory.found.map(({ kind, line, where }) => `${kind}, line ${line} of the ${where}`).join("; ")}
        </p>
      </div>
      <Button disabled={release.isPending} aria-label={`Let git have ${memory.title}`} onClick={() => release.mutate()}>
        Let git have it
      </Button>
    </li>
  );
}

function Problems({ status: { problems } }: { status: Status }) {
  return (
    <Card title={problems.length ? count(problems.length, "problem") : "Problems"}>
      {problems.length === 0 ? (
        <p className="text-ink-soft">None. Every note was read.</p>
      ) : (
        <ul className="divide-y divide-line">
          {problems.map(({ path, problem }) => (
            <li key={path + problem} className="py-2.5 first:pt-0 last:pb-0">
              <p className="font-mono text-[13px] break-all">{path}</p>
              <p className="mt-0.5 text-ink-soft">{problem}</p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
