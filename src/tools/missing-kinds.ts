// Operation kinds that an implementation does not answer: told before its first operation. Only where it lacks some is the
// trace looked into ahead of the comparison, and only so far: what a verdict takes must not grow with the trace.
import { operationNames } from "../trace/operation-table.js";
import type { Adapter } from "../adapter/adapter.js";
import type { Domain } from "../base/operations.js";
import { openSource } from "../trace/reader-source.js";
import type { SideDifference } from "./outcome.js";

const LOOK_BYTES = 8 << 20; // what is scanned ahead, after unpacking: about 30,000 operations
// Lines as every writer of the format writes them; others are met when they are compared.
const OPENING = /^\{"kind":(?:"run","run":("(?:[^"\\]|\\.)*")|"op","n":\d+,"op":"([a-z_.]+)")/gm;

/** Operation kinds of a domain that an implementation does not answer, in the order of the table. @internal */
export function lackingKinds({ info }: Adapter, domain: Domain): readonly string[] {
  const known = new Set(info.ops);
  return operationNames(domain).filter((name) => !known.has(name));
}

/** A kind that was met ahead of the comparison, and the first run that uses it. @internal */
export interface KindAhead {
  readonly op: string;
  readonly run: string;
}

/** What a look into a trace found. @internal */
export interface LookAhead {
  readonly met: readonly KindAhead[];
  readonly isWhole: boolean; // false: the trace goes on behind what was looked at
}

/**
 * Which of the kinds a trace uses in its first bytes, each with the first chosen run that does. Finds nothing rather than
 * telling what is wrong with a file: that is for the comparison to say.
 * @param isChosen - whether a run is compared, by its name and its place in the file
 * @internal
 */
export async function kindsAhead(
  trace: string,
  lacking: readonly string[],
  isChosen: (run: string, index: number) => boolean,
): Promise<LookAhead> {
  const wanted = new Set(lacking);
  const found = new Map<string, string>();
  let run: string | null = null;
  let index = 0;
  const { text, isWhole } = await beginningOf(trace);
  for (const [, name, op] of text.matchAll(OPENING)) {
    if (name !== undefined) {
      const id = String(JSON.parse(name));
      run = isChosen(id, index) ? id : null;
      index += 1;
    } else if (run !== null && op !== undefined && wanted.has(op) && !found.has(op)) {
      found.set(op, run);
    }
  }
  return { met: [...found].map(([op, by]) => ({ op, run: by })), isWhole };
}

async function beginningOf(trace: string): Promise<{ text: string; isWhole: boolean }> {
  const buffer = Buffer.allocUnsafe(LOOK_BYTES);
  const source = openSource(trace);
  try {
    let length = 0;
    while (length < LOOK_BYTES) {
      const count = await source.fill(buffer, length);
      if (count === 0) break;
      length += count;
    }
    return { text: buffer.toString("utf8", 0, length), isWhole: length < LOOK_BYTES };
  } finally {
    await source.close();
  }
}

/** What the candidate lacks, as a difference of the two sides; null where it lacks nothing. @internal */
export function kindsDifference(
  lacking: readonly string[],
  used: ReadonlySet<string>,
): SideDifference | null {
  if (lacking.length === 0) return null;
  const met = lacking.filter((name) => used.has(name));
  return {
    what: "operation kinds",
    base: met.length === 0 ? "uses none of these" : `uses ${met.join(", ")}`,
    candidate: `lacks ${lacking.join(", ")}`,
    isLoss: met.length > 0,
  };
}

/** Kinds among operations that an implementation does not answer, sorted. @internal */
export function unanswered(
  lines: readonly { readonly op: string }[],
  known: ReadonlySet<string>,
): readonly string[] {
  const missing = new Set<string>();
  for (const { op } of lines) if (!known.has(op)) missing.add(op);
  return [...missing].sort();
}
