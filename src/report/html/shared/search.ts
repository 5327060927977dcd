// The search field of the page: an operation number, an operation kind or outcome, a page, an id, or a name.
import type { DecodedChanges } from "./changes-code.js";
import type { Unpacked } from "./unpack.js";
import { frameAt } from "./timeline.js";

/** What a search means. @internal */
export type Query =
  | { readonly kind: "operation"; readonly n: number }
  | { readonly kind: "word"; readonly word: string } // an operation kind, a group of them, an outcome
  | { readonly kind: "page" | "id"; readonly lane: number; readonly number: number }
  | { readonly kind: "name"; readonly name: string };

/** @internal */
export interface Found {
  readonly query: Query;
  readonly means: string; // in words
  readonly frames: readonly number[]; // ascending
}

/** Reads what was typed; null: nothing was. @internal */
export function parseQuery(text: string, data: Unpacked): Query | null {
  const typed = text.trim();
  if (typed === "") return null;
  const number = /^(?:#|op(?:eration)?\s+)?([\d,]+)$/i.exec(typed);
  if (number !== null) return { kind: "operation", n: Number(number[1]!.replaceAll(",", "")) };
  const { ops, outcomes } = data.head;
  const isWord = [...ops, ...outcomes].some(
    (word) => word === typed || word.startsWith(`${typed}.`),
  );
  if (isWord) return { kind: "word", word: typed };
  const place = /^([a-z][a-z0-9_]*)\s*[: ]\s*(page|id|slot|#)?\s*(\d+)$/i.exec(typed);
  const lane = place === null ? -1 : laneNamed(data, place[1]!);
  if (place !== null && lane >= 0) {
    const kind = /^(id|slot)$/i.test(place[2] ?? "") ? "id" : "page";
    return { kind, lane, number: Number(place[3]) };
  }
  return { kind: "name", name: typed.replace(/^(?:request|req)\s+/i, "") };
}

/** Everything a query finds. @internal */
export function search(query: Query, data: Unpacked): Found {
  const means = meaning(query, data);
  switch (query.kind) {
    case "operation":
      return { query, means, frames: data.n.length === 0 ? [] : [frameAt(data.n, query.n)] };
    case "word":
      return { query, means, frames: framesOfWord(query.word, data) };
    case "page":
      return {
        query,
        means,
        frames: framesChanging(data, (run, at) => touchesPage(run, at, query)),
      };
    case "id":
      return { query, means, frames: framesChanging(data, (run, at) => touchesId(run, at, query)) };
    case "name":
      return { query, means, frames: framesNaming(query.name, data) };
  }
}

/** Index of a band in the chain, -1: no such band. @internal */
export function laneNamed({ head }: Unpacked, band: string): number {
  return head.geometries[0]?.lanes.findIndex((lane) => lane.band === band) ?? -1;
}

function meaning(query: Query, data: Unpacked): string {
  switch (query.kind) {
    case "operation":
      return `operation ${query.n}`;
    case "word":
      return `operations and outcomes ${query.word}`;
    case "page":
    case "id": {
      const band = data.head.geometries[0]?.lanes[query.lane]?.band ?? "";
      const what = query.kind === "page" ? "page" : "the page with id";
      return `operations that change ${what} ${query.number} of band ${band}, on either side`;
    }
    case "name":
      return `operations that name ${query.name}`;
  }
}

function framesOfWord(word: string, { head, op, outcome, n }: Unpacked): number[] {
  const fits = (text: string): boolean => text === word || text.startsWith(`${word}.`);
  const kinds = head.ops.map(fits);
  const codes = head.outcomes.map(fits);
  const found: number[] = [];
  for (let frame = 0; frame < n.length; frame++) {
    // indexes of the lists
    const isThere =
      codes[outcome.base[frame]!] === true || codes[outcome.candidate[frame]!] === true;
    if (kinds[op[frame]!] === true || isThere) found.push(frame);
  }
  return found;
}

function framesNaming(name: string, { head, details }: Unpacked): number[] {
  const quoted = JSON.stringify(name);
  const found: number[] = [];
  for (let frame = head.detailsFrom; frame < head.detailsTo; frame++)
    if (details(frame)?.args.includes(quoted) === true) found.push(frame);
  return found;
}

function framesChanging(
  { changes }: Unpacked,
  touches: (runs: readonly number[], at: number) => boolean,
): number[] {
  const found: number[] = [];
  const isTouched = ({ runs }: DecodedChanges): boolean => {
    for (let at = 0; at < runs.length; at += 6) if (touches(runs, at)) return true;
    return false;
  };
  for (const [frame, own] of changes.base.entries()) {
    const other = changes.candidate[frame];
    if (isTouched(own) || (other !== undefined && other !== own && isTouched(other)))
      found.push(frame);
  }
  return found;
}

interface Place {
  readonly lane: number;
  readonly number: number;
}

function touchesPage(runs: readonly number[], at: number, { lane, number }: Place): boolean {
  const first = runs[at + 2]!; // whole runs
  return runs[at] === lane && first <= number && number < first + runs[at + 3]!;
}

function touchesId(runs: readonly number[], at: number, { lane, number }: Place): boolean {
  const first = runs[at + 5]!; // whole runs
  return runs[at] === lane && first > 0 && first <= number && number < first + runs[at + 3]!;
}
