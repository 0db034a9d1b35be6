/** Short notices at the foot of the page, with a way to undo. */

import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { drop, useNotices, type Notice } from "../notices.ts";
import { Button, IconButton } from "./button.tsx";

const SHOWN_MS = 8000;

function Toast({ notice }: { notice: Notice }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => drop(notice.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, notice.id]);
  return (
    <li
      className="toast flex items-center gap-2 rounded-xl border border-line bg-raised py-2 pr-2 pl-4 shadow-float"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className={`grow ${notice.urgent ? "text-danger" : ""}`}>{notice.text}</span>
      {notice.action && (
        <Button
          tone="quiet"
          className="text-accent"
          onClick={() => {
            notice.action?.run();
            drop(notice.id);
          }}
        >
          {notice.action.label}
        </Button>
      )}
      <IconButton label="Dismiss" icon={X} onClick={() => drop(notice.id)} />
    </li>
  );
}

export function Toasts() {
  const shown = useNotices();
  return (
    <section aria-label="Notices" className="pointer-events-none fixed inset-x-0 bottom-4 z-50 px-4">
      <ol
        aria-live="polite"
        className="pointer-events-auto mx-auto flex w-fit max-w-full min-w-0 flex-col gap-2 sm:min-w-80"
      >
        {shown.map((notice) => (
          <Toast key={notice.id} notice={notice} />
        ))}
      </ol>
    </section>
  );
}
