/** Numbers and dates as a person says them. */

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const dayThisYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const plain = new Intl.NumberFormat();

export const number = (value: number) => plain.format(value);

/** "1 memory", "12 memories". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${plain.format(value)} ${value === 1 ? one : many}`;
}

export const memories = (value: number) => count(value, "memory", "memories");

function parsed(iso: string | null): Date | null {
  if (!iso) return null;
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** "12 Mar", with the year when it is not this one; empty for no date. */
export function dateOf(iso: string | null, now = new Date()): string {
  const at = parsed(iso);
  if (!at) return "";
  return (at.getFullYear() === now.getFullYear() ? dayThisYear : day).format(at);
}

export function momentOf(iso: string | null): string {
  const at = parsed(iso);
  return at ? moment.format(at) : "";
}

/** "5 minutes ago", "yesterday", "in 20 minutes"; "never" for no date. */
export function since(iso: string | null, now = new Date()): string {
  const at = parsed(iso);
  if (!at) return "never";
  const seconds = (at.getTime() - now.getTime()) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return "just now";
  if (size < 45 * 60) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 22 * 3600) return relative.format(Math.round(seconds / 3600), "hour");
  if (size < 26 * 86_400) return relative.format(Math.round(seconds / 86_400), "day");
  if (size < 320 * 86_400) return relative.format(Math.round(seconds / 2_629_800), "month");
  return relative.format(Math.round(seconds / 31_557_600), "year");
}

/** "Last opened yesterday", "Never opened". */
export const lastOpened = (iso: string | null) =>
  parsed(iso) ? `Last opened ${since(iso)}` : "Never opened";

/** "18 KB", "2.4 MB": thousands of bytes, as file managers count them. */
export function bytes(value: number): string {
  if (value < 1000) return count(value, "byte");
  const units = ["KB", "MB", "GB", "TB"];
  let size = value;
  let unit = -1;
  do {
    size /= 1000;
    unit += 1;
  } while (size >= 999.5 && unit < units.length - 1);
  return `${size < 10 ? size.toFixed(1).replace(/\.0$/, "") : Math.round(size)} ${units[unit]}`;
}

const STAGES: Record<string, string> = {
  exact: "exact keyword",
  text: "in the text",
  meaning: "meaning",
};

/** Why a memory was found. `fromTranscript`: the best passage stands in the transcript. */
export function stage(name: string, fromTranscript = false): string {
  if (name === "text" && fromTranscript) return "in the transcript";
  return STAGES[name] ?? name;
}

/** A turn's time as the transcript writes it, without seconds; without the day, too, when the
 * turn before was on the same. What is no date and time stays as it is. */
export function turnTime(when: string, before: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)/.exec(when) ?? [];
  if (!day || !time) return when;
  return before.startsWith(day) ? time : `${day} ${time}`;
}
