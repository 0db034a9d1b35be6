/** The one language of temperature: a shape and a word beside the colour, everywhere the same. */

import { Flame, Layers, Snowflake, Sun, type LucideIcon } from "lucide-react";
import type { Temperature } from "../api/shapes.ts";

interface Look {
  icon: LucideIcon;
  word: string;
  means: string;
  className: string;
  /** The CSS variable of its colour, for canvas. */
  variable: string;
}

export const LOOKS: Record<Temperature, Look> = {
  hot: {
    icon: Flame,
    word: "Hot",
    means: "opened within the last hour",
    className: "text-hot",
    variable: "--hot",
  },
  warm: {
    icon: Sun,
    word: "Warm",
    means: "opened lately",
    className: "text-warm",
    variable: "--warm",
  },
  cold: {
    icon: Snowflake,
    word: "Cold",
    means: "its transcript is compressed",
    className: "text-cold",
    variable: "--cold",
  },
  "deep-cold": {
    icon: Layers,
    word: "Deep-cold",
    means: "transcript and files are compressed",
    className: "text-deep-cold",
    variable: "--deep-cold",
  },
};

export const TEMPERATURES = Object.keys(LOOKS) as Temperature[];

export function TemperatureMark({ value, wordless }: { value: Temperature; wordless?: boolean }) {
  const { icon: Icon, word, means, className } = LOOKS[value];
  return (
    <span
      className={`inline-flex shrink-0 items-center gap-1 align-middle text-[13px] leading-5 ${className}`}
      title={`${word}: ${means}`}
    >
      <Icon aria-hidden size={14} strokeWidth={2} />
      <span className={wordless ? "sr-only" : ""}>{word}</span>
    </span>
  );
}
