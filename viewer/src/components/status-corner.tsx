/** The corner of the page that says in a word how things stand, and leads to the rest. */

import { useQuery } from "@tanstack/react-query";
import { CircleCheck, LoaderCircle, TriangleAlert, Unplug, type LucideIcon } from "lucide-react";
import { statusQuery } from "../api/queries.ts";
import { useLive } from "../api/live.ts";
import { urls } from "../route.ts";
import { count, number } from "../words.ts";
import { Link } from "./link.tsx";

interface Word {
  icon: LucideIcon;
  text: string;
  tone: string;
  turning?: boolean;
}

function useWord(): Word {
  const { data: status, error } = useQuery(statusQuery);
  const connected = useLive((live) => live.connected);
  const job = useLive((live) => live.progress.values().next().value);
  if (error || !connected) return { icon: Unplug, text: "Not connected", tone: "text-danger" };
  if (!status) return { icon: LoaderCircle, text: "Connecting", tone: "text-ink-quiet", turning: true };
  if (job) {
    const text = job.text || job.job;
    const part = job.total ? ` ${Math.floor((100 * job.done) / job.total)} %` : "";
    return { icon: LoaderCircle, text: text + part, tone: "text-ink-soft", turning: true };
  }
  if (status.state === "failed") {
    return { icon: TriangleAlert, text: "The vault cannot be served", tone: "text-danger" };
  }
  const behind = status.index.keyword_behind + status.index.vector_behind;
  if (status.state !== "ready") {
    const text = status.state === "starting" ? "Starting" : `Indexing, ${number(behind)} left`;
    return { icon: LoaderCircle, text, tone: "text-ink-soft", turning: true };
  }
  if (status.problems.length || status.sync.problem) {
    const problems = status.problems.length + (status.sync.problem ? 1 : 0);
    return { icon: TriangleAlert, text: count(problems, "problem"), tone: "text-warm" };
  }
  return { icon: CircleCheck, text: "Ready", tone: "text-ink-quiet" };
}

export function StatusCorner() {
  const { icon: Icon, text, tone, turning } = useWord();
  return (
    <Link
      href={urls.status()}
      aria-label={`Status: ${text}`}
      title="Status"
      className={`inline-flex h-9 shrink-0 items-center gap-1.5 rounded-lg px-2 text-[14px] hover:bg-sunken ${tone}`}
    >
      <Icon aria-hidden size={17} className={turning ? "animate-spin motion-reduce:animate-none" : ""} />
      <span aria-hidden className="hidden max-w-48 truncate tabular-nums lg:inline">
        {text}
      </span>
    </Link>
  );
}
