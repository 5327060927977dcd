// Arguments, answers and effects of an operation as short text: ids as ranges, sizes with units, one line a field.
import type { Effect } from "../base/effects.js";
import type { Answer, Extents } from "../base/operations.js";
import { bytes, visible } from "./words.js";

/** A field of an answer and its value as text. @public */
export interface Leaf {
  readonly path: string; // dots between keys, such as `ok.pages.r1.full`
  readonly text: string;
}

// Keys whose value is a list of pairs but no list of extents.
const PAIR_KEYS: ReadonlySet<string> = new Set(["moves"]);
const SEGMENT_KEYS: ReadonlySet<string> = new Set(["key"]);
const SPANS_KEY = "spans"; // one extent a band, possibly empty

/** `7..9, 12, 3 unbound`; `none` for an empty list. @public */
export function extentsText(extents: Extents): string {
  if (extents.length === 0) return "none";
  return extents.map(([first, count]) => extentText(first, count)).join(", ");
}

function extentText(first: number, count: number): string {
  if (first === 0) return `${count} unbound`;
  if (count === 1) return String(first);
  return `${first}..${first + count + (count > 0 ? -1 : 1)}`;
}

/** One value on one line. `key` is the name under which it stands. @public */
export function valueText(value: unknown, key = ""): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" && key.endsWith("_bytes")) return bytes(value);
  if (typeof value === "string") return isPlainWord(value) ? value : visible(JSON.stringify(value));
  if (!isObject(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return listText(value, key);
  const parts = Object.entries(value).map(([name, part]) => {
    const text = key === SPANS_KEY ? spanText(part) : memberText(part, name);
    return `${visible(name)} ${text}`;
  });
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function spanText(span: unknown): string {
  if (!Array.isArray(span) || span[1] === 0) return "none";
  return valueText([span]);
}

function memberText(value: unknown, key: string): string {
  const text = valueText(value, key);
  const isNested = isObject(value) && !Array.isArray(value) && Object.keys(value).length > 1;
  return isNested ? `(${text})` : text;
}

function listText(list: readonly unknown[], key: string): string {
  if (PAIR_KEYS.has(key) && isPairs(list)) return pairsText(list);
  if (!SEGMENT_KEYS.has(key) && isPairs(list)) return extentsText(list);
  if (list.length === 0) return "none";
  return `[${list.map((entry) => (isObject(entry) && !Array.isArray(entry) ? `{${valueText(entry)}}` : valueText(entry))).join(", ")}]`;
}

function pairsText(pairs: Extents): string {
  if (pairs.length === 0) return "none";
  return pairs.map(([from, to]) => `${from}→${to}`).join(", ");
}

/** An effect as words: `zero full 26..31`, `wait f3`. @public */
export function effectText(effect: Effect): string {
  const [kind, ...rest] = effect as readonly unknown[];
  const isMove = kind === "move" || kind === "copy";
  const words = rest.map((part) => valueText(part, isMove && Array.isArray(part) ? "moves" : ""));
  // a candidate of someone else's may begin its effects with no word
  return [typeof kind === "string" ? visible(kind) : valueText(kind), ...words].join(" ");
}

/** An answer on one line: `ok pages …`, `refused refused_capacity, limit bytes`. @public */
export function answerText(answer: Answer | null): string {
  if (answer === null) return "no answer";
  if (answer.err !== undefined) {
    const { code, message: _message, ...detail } = answer.err;
    const text = Object.keys(detail).length === 0 ? "" : `: ${valueText(detail)}`;
    return `${code === "invalid" ? "broken contract" : visible(code)}${text}`;
  }
  const text = valueText(answer.ok ?? {});
  return text === "nothing" ? "granted" : `granted: ${text}`;
}

/** The effects of an answer on one line. @public */
export function effectsText(answer: Answer | null): string {
  const effects = answer?.fx ?? [];
  return effects.length === 0 ? "none" : effects.map(effectText).join("; ");
}

/** Result and effects of an answer as one line a field, in order; what is not compared is left out. @public */
export function answerLeaves(answer: Answer | null): Leaf[] {
  if (answer === null) return [];
  const leaves: Leaf[] = [];
  if (answer.err !== undefined) {
    const { message: _message, ...compared } = answer.err;
    collect("err", compared, "", leaves);
  } else {
    collect("ok", answer.ok ?? {}, "", leaves);
  }
  for (const effect of answer.fx ?? []) leaves.push({ path: "fx", text: effectText(effect) });
  return leaves;
}

function collect(path: string, value: unknown, key: string, leaves: Leaf[]): void {
  if (isObject(value) && !Array.isArray(value) && key !== SPANS_KEY) {
    const entries = Object.entries(value);
    for (const [name, part] of entries) collect(`${path}.${visible(name)}`, part, name, leaves);
    if (entries.length > 0) return;
  }
  leaves.push({ path, text: valueText(value, key) });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isPlainWord(text: string): boolean {
  return /^[A-Za-z_][\w.:/+-]*$/.test(text);
}

function isPairs(list: readonly unknown[]): list is Extents {
  return list.every(
    (entry) =>
      Array.isArray(entry) && entry.length === 2 && entry.every((part) => Number.isInteger(part)),
  );
}
