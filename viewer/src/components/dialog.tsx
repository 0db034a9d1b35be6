import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";

interface Props {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  /** A sheet comes from the side (from below on a phone); a dialog stands in the middle. */
  sheet?: boolean;
}

export function Dialog({ title, open, onClose, children, sheet = false }: Props) {
  return (
    <Base.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Base.Portal container={document.getElementById("main")}>
        <Base.Backdrop className="fade fixed inset-0 z-40 bg-scrim" />
        <Base.Popup
          className={
            sheet
              ? "sheet fixed inset-x-0 bottom-0 z-40 flex max-h-[85dvh] flex-col rounded-t-2xl bg-surface shadow-float outline-none sm:inset-x-auto sm:inset-y-0 sm:right-0 sm:max-h-none sm:w-96 sm:rounded-none"
              : "pop fixed top-[12dvh] left-1/2 z-40 flex max-h-[80dvh] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-2xl bg-surface shadow-float outline-none"
          }
        >
          <div className="flex items-center justify-between gap-4 pt-4 pr-3 pl-5">
            <Base.Title className="text-[17px] font-semibold">{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" icon={X} />} />
          </div>
          <div className="overflow-y-auto px-5 pt-2 pb-5">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export const fieldClass =
  "w-full rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-ink placeholder:text-ink-quiet";

export function Field({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <label className="block">
      <span className="mb-1 block text-[13px] font-medium text-ink-soft">{label}</span>
      {children}
      {hint && <span className="mt-1 block text-[13px] text-ink-quiet">{hint}</span>}
    </label>
  );
}
