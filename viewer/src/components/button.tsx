import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, Ref } from "react";

type Tone = "plain" | "accent" | "danger" | "quiet";

const TONES: Record<Tone, string> = {
  plain: "border border-line-strong bg-surface text-ink hover:bg-sunken",
  accent: "border border-transparent bg-accent-fill text-white hover:brightness-110",
  danger: "border border-transparent bg-danger-soft text-danger hover:brightness-95",
  quiet: "border border-transparent text-ink-soft hover:bg-sunken hover:text-ink",
};

export function buttonClass(tone: Tone = "plain"): string {
  return `inline-flex min-h-8 items-center justify-center gap-1.5 rounded-lg px-3 text-[14px] font-medium whitespace-nowrap transition-colors disabled:opacity-50 ${TONES[tone]}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: Tone;
  icon?: LucideIcon;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ tone = "plain", icon: Icon, className = "", children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`${buttonClass(tone)} ${className}`} {...rest}>
      {Icon && <Icon aria-hidden size={15} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  icon: LucideIcon;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ label, icon: Icon, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-grid size-8 shrink-0 place-items-center rounded-lg text-ink-quiet transition-colors hover:bg-sunken hover:text-ink disabled:opacity-40 ${className}`}
      {...rest}
    >
      <Icon aria-hidden size={17} />
    </button>
  );
}
