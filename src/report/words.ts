// Numbers and names as a reader likes them: `1,234 operations`, `12 KiB`, a short commit.

/** Thousands between commas, the same on every machine. @public */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 run`, `1,234 runs`. @public */
export function counted(value: number, noun: string, plural: string = `${noun}s`): string {
  return `${grouped(value)} ${value === 1 ? noun : plural}`;
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** `512 B`, `4096 B (4 KiB)`. @public */
export function bytes(value: number): string {
  let scaled = value;
  let unit = "";
  for (const next of UNITS) {
    if (scaled < 1024) break;
    scaled /= 1024;
    unit = next;
  }
  if (unit === "") return `${value} B`;
  const short = Number.isInteger(scaled) ? String(scaled) : scaled.toFixed(1);
  return `${value} B (${short} ${unit})`;
}

// Control characters, separators of lines, and what turns the direction of writing: a terminal acts on them.
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text that comes from a file or an implementation, as it may reach a terminal: `\\u001b` in place of ESC. @public */
export function visible(text: string): string {
  return text.replaceAll(
    ACTED_ON,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The first digits of a commit; `unknown revision` without one. @public */
export function revisionName(revision: string | null, dirty: boolean | null): string {
  const commit =
    revision === null ? "unknown revision" : `revision ${visible(revision.slice(0, 12))}`;
  return dirty === true ? `${commit} with local changes` : commit;
}

/** `a`, `a and b`, `a, b and c`. @public */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
}

/** Cuts a text that is too long and says how much is missing. @public */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${grouped(text.length - most)} characters more)`;
}
