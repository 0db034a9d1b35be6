/** What stands in a view's place while there is nothing to show: waiting, empty, or failed. */

import { CloudOff, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

export function Blank({
  icon: Icon,
  title,
  children,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-6 py-16 text-center">
      <Icon aria-hidden size={28} strokeWidth={1.5} className="mb-4 text-ink-quiet" />
      <h2 className="text-[17px] font-semibold">{title}</h2>
      <div className="mt-2 space-y-3 text-ink-soft">{children}</div>
    </div>
  );
}

export function Failed({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <div role="alert">
      <Blank icon={CloudOff} title="That did not work">
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
      <pre className="rounded-lg bg-sunken px-4 py-2.5 text-left font-mono text-[14px] text-ink select-all">
        neurigraph connect
      </pre>
      <p>Or drop exported conversations into the vault’s _inbox folder.</p>
    </>
  );
}

export function Bar({ className = "" }: { className?: string }) {
  return <div aria-hidden className={`skeleton rounded bg-line ${className}`} />;
}
