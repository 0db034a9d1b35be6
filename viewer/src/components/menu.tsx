import { Menu as Base } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import { useRef, useState } from "react";
import { IconButton } from "./button.tsx";

export interface MenuEntry {
  label: string;
  icon: LucideIcon;
  run: () => void;
  danger?: boolean;
  hidden?: boolean;
}

/** A button that opens a menu. The menu itself is made at the first press: lists hold many. */
export function MenuButton({ label, icon, entries }: { label: string; icon: LucideIcon; entries: MenuEntry[] }) {
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // Run once the menu is gone and the focus is back: what is run may take the focus itself.
  const chosen = useRef<(() => void) | null>(null);
  return (
    <>
      <IconButton
        ref={button}
        label={label}
        icon={icon}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => {
          setMade(true);
          setOpen(!open);
        }}
      />
      {made && (
        <Base.Root
          open={open}
          onOpenChange={setOpen}
          onOpenChangeComplete={(now) => {
            if (now) return;
            chosen.current?.();
            chosen.current = null;
          }}
        >
          <Base.Portal container={document.getElementById("main")}>
            <Base.Positioner anchor={button} align="end" sideOffset={4} className="z-40 outline-none">
              <Base.Popup
                finalFocus={button}
                aria-label={label}
                className="pop min-w-48 rounded-xl border border-line bg-raised p-1 shadow-float outline-none"
              >
                {entries
                  .filter((entry) => !entry.hidden)
                  .map(({ label: text, icon: Icon, run, danger }) => (
                    <Base.Item
                      key={text}
                      onClick={() => {
                        chosen.current = run;
                      }}
                      className={`flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-[14px] outline-none data-highlighted:bg-sunken ${danger ? "text-danger" : "text-ink"}`}
                    >
                      <Icon aria-hidden size={15} />
                      {text}
                    </Base.Item>
                  ))}
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </>
  );
}
