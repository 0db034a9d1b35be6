/** What stands in a view's place while there is nothing to show: waiting, empty, or failed. */

import { CloudOff, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

export function Blank({
  icon: Icon,
  title,
  page = false,
  children,
}: {
  icon: LucideIcon;
  title: string;
  /** It stands for the whole page, so its title is the page's. */
  page?: boolean;
  children?: ReactNode;
}) {
  const Heading = page ? "h1" : "h2";
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-6 py-16 text-center">
      <Icon aria-hidden size={28} strokeWidth={1.5} className="mb-4 text-ink-quiet" />
      <Heading className="text-[17px] font-semibold">{title}</Heading>
      <div className="mt-2 space-y-3 text-ink-soft">{children}</div>
    </div>
  );
}

interface FailedProps {
  error: Error;
  retry: () => void;
  page?: boolean;
}

export function Failed({ error, retry, page = false }: FailedProps) {
  return (
    <div role="alert">
      <Blank icon={CloudOff} title="That did not work" page={page}>
        <p>{error.message}</p>
        <Button onClick={retry}>Try again</Button>
      </Blank>
    </div>
  );
}

/** The command that connects an AI, to copy. */
export function Connect() {
  return (
    <>
      <p>Connect an AI, and what you talk about is kept here. In a terminal:</p>
      <pre className="rounded-lg bg-sunken px-4 py-2.5 font-mono text-[14px] text-ink select-all">
        neurigraph connect
      </pre>
      <p>Or drop exported conversations into the vault’s _inbox folder.</p>
    </>
  );
}

export function Bar({ className = "" }: { className?: string }) {
  return <div aria-hidden className={`skeleton rounded bg-line ${className}`} />;
}
