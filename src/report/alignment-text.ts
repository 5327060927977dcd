// What stands past the first difference of two recorded runs, one line for all blocks of one cause.
import type { AlignedBlock, Alignment, SideCounts } from "../tools/align/alignment.js";
import { type Palette, PLAIN } from "./palette.js";
import { counted, grouped, listed, visible } from "./words.js";

const CAUSES_MAX = 20;
const KINDS_MAX = 4;
const KIND_WIDTH = 8;

/** Blocks of one cause, the first of them the cause. */
interface Cause {
  readonly blocks: readonly AlignedBlock[];
  readonly operations: SideCounts;
  readonly summary: ReadonlyMap<string, SideCounts>;
  readonly opens: ReadonlyMap<string, SideCounts>;
}

/** The lines of an alignment. @public */
export function alignmentText(
  alignment: Alignment,
  { palette, verbose }: { readonly palette: Palette; readonly verbose: boolean },
): string[] {
  const causes = causesOf(alignment);
  const most = verbose ? Infinity : CAUSES_MAX;
  const more = causes.length - most;
  return [
    `  from there on  ${headOf(alignment, causes.length)}`,
    ...causes.slice(0, most).map((cause) => `    ${causeLine(cause, palette)}`),
    ...(more > 0 ? [`    … and ${counted(more, "more cause")} (--verbose)`] : []),
    ...recoveryLines(alignment),
  ];
}

/** The same in words for a page: what stands between equal operations, and where the sides do the same again. @internal */
export function alignmentPoints(alignment: Alignment): {
  readonly head: string;
  readonly points: readonly string[];
} {
  const lines = alignmentText(alignment, { palette: PLAIN, verbose: false });
  const [head = "", ...points] = lines.map((line) => line.trim().replace(/ {2,}/g, ": "));
  return { head: `${head.replace("from there on: ", "From there on ")}.`, points };
}

/** The whole difference in one sentence, where it has one cause; null otherwise. @public */
export function alignmentSentence(alignment: Alignment | null): string | null {
  if (alignment === null) return null;
  const causes = causesOf(alignment);
  const [only] = causes;
  return only === undefined || causes.length > 1 || !alignment.isWhole ? null : sentenceOf(only);
}

function headOf(alignment: Alignment, causes: number): string {
  const { blocks, agreed, isWhole, read } = alignment;
  const limit = isWhole
    ? ""
    : `; only the first ${grouped(Math.max(read.base, read.candidate))} operations were aligned (--keep-going: all)`;
  const same = `${counted(agreed, "operation")} the same on both sides`;
  if (blocks.length === 0) return `no operation is missing or more: ${same}${limit}`;
  const one = causes === blocks.length ? "" : ` of ${counted(causes, "cause")}`;
  return `${counted(blocks.length, "block")}${one}, ${same}${limit}`;
}

function causeLine(cause: Cause, palette: Palette): string {
  const kind = cause.blocks[0]?.kind ?? "changed";
  const paint = {
    inserted: palette.candidate,
    removed: palette.base,
    moved: palette.warn,
    changed: palette.warn,
  };
  return `${paint[kind](kind.padEnd(KIND_WIDTH))}  ${placesOf(cause)}: ${sentenceOf(cause)}`;
}

// `14 events at 166-179 of the candidate`; operations where the trace was not imported.
function placesOf({ blocks, operations }: Cause): string {
  const [first] = blocks;
  if (first === undefined) return "";
  const hasBase = operations.base > 0;
  const hasCandidate = operations.candidate > 0;
  const of = (side: "base" | "candidate"): string =>
    `${sideWords(blocks, side, operations[side])} of the ${side}`;
  if (hasBase && hasCandidate) {
    return first.kind === "moved"
      ? `${of("base")}, ${of("candidate")}`
      : `${of("base")} against ${of("candidate")}`;
  }
  return hasBase ? of("base") : of("candidate");
}

function sideWords(
  blocks: readonly AlignedBlock[],
  side: "base" | "candidate",
  operations: number,
): string {
  const ranges = blocks.map((block) => block[side]).filter(({ from, to }) => to > from);
  const events = ranges.flatMap((range) => (range.events === null ? [] : [range.events]));
  const isLog = events.length === ranges.length;
  const places = (isLog ? events : ranges.map(({ from, to }) => [from, to] as const)).map(
    ([from, to]) => (to === from + 1 ? String(from) : `${from}-${to - 1}`),
  );
  const shown = places.length > KINDS_MAX ? [...places.slice(0, KINDS_MAX), "…"] : places;
  const inLog = events.reduce((total, [from, to]) => total + to - from, 0);
  return `${counted(isLog ? inLog : operations, isLog ? "event" : "operation")} at ${shown.join(", ")}`;
}

function sentenceOf(cause: Cause): string {
  const { operations, blocks } = cause;
  const kind = blocks[0]?.kind ?? "changed";
  if (kind === "moved") {
    return `${counted(operations.base, "operation")} at another place (${kindsOf(cause, "base")})`;
  }
  if (operations.base > 0 && operations.candidate > 0) {
    return `the base has ${kindsOf(cause, "base")}, the candidate ${kindsOf(cause, "candidate")}`;
  }
  const side = operations.base > 0 ? "base" : "candidate";
  const subject = subjectOf(cause, side);
  const rest = operations[side] - (subject?.operations ?? 0);
  if (subject === null) {
    const what = kindsOf(cause, side);
    return side === "candidate" ? `the candidate has more: ${what}` : `the candidate lacks ${what}`;
  }
  const { count, verb, one, many } = subject;
  const their = count === 1 ? "its" : "their";
  const tail = rest > 0 ? ` and ${their} ${counted(rest, "operation")}` : "";
  if (side === "candidate") {
    return `the candidate ${verb} ${numberWord(count)} more ${count === 1 ? one : many}${tail}`;
  }
  return `the candidate lacks ${numberWord(count)} ${count === 1 ? one : many}${tail}`;
}

interface Subject {
  readonly count: number;
  readonly operations: number; // that open them
  readonly verb: string;
  readonly one: string;
  readonly many: string;
}

// What holds the others comes first: an allocator its objects, a request its transfers.
const SUBJECTS: readonly (readonly [
  what: string,
  op: string,
  verb: string,
  one: string,
  many: string,
])[] = [
  ["pool", "pool.make", "makes", "allocator", "allocators"],
  ["request", "row.alloc", "opens", "request", "requests"],
  ["forward", "forward.launch", "launches", "forward", "forwards"],
  ["transfer", "net.", "begins", "transfer", "transfers"],
  ["load", "host.load_reserve", "begins", "load", "loads"],
  ["copy", "host.backup", "begins", "host copy", "host copies"],
  ["object", "heap.alloc", "allocates", "object", "objects"],
];

function subjectOf({ opens, summary }: Cause, side: "base" | "candidate"): Subject | null {
  for (const [what, opener, verb, one, many] of SUBJECTS) {
    const count = opens.get(what)?.[side] ?? 0;
    if (count === 0) continue;
    let operations = 0;
    for (const [op, counts] of summary) if (op.startsWith(opener)) operations += counts[side];
    return { count, operations, verb, one, many };
  }
  return null;
}

// `3 heap.alloc, 1 heap.free`
function kindsOf({ summary }: Cause, side: "base" | "candidate"): string {
  const found = [...summary].filter(([, counts]) => counts[side] > 0);
  const shown = found
    .slice(0, KINDS_MAX)
    .map(([op, counts]) => `${grouped(counts[side])} ${visible(op)}`);
  const more = found.length - shown.length;
  return listed(more > 0 ? [...shown, counted(more, "more kind")] : shown);
}

function recoveryLines({ blocks, recovers, isWhole }: Alignment): string[] {
  if (blocks.length === 0) return [];
  const label = "  agree again    ";
  if (recovers === null)
    return [
      isWhole ? `${label}no: the last block reaches the end` : `${label}not in what was aligned`,
    ];
  const { base, candidate } = recovers;
  const there = candidate === base ? "" : ` (${grouped(candidate)} of the candidate)`;
  return [`${label}from operation ${grouped(base)}${there} on they do the same`];
}

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

function numberWord(count: number): string {
  return WORDS[count] ?? grouped(count);
}

function causesOf({ blocks }: Alignment): Cause[] {
  const byCause = new Map<number, AlignedBlock[]>();
  for (const block of blocks) {
    const known = byCause.get(block.cause);
    if (known === undefined) byCause.set(block.cause, [block]);
    else known.push(block);
  }
  return [...byCause.values()].map((group) => ({
    blocks: group,
    operations: {
      base: group.reduce((total, { operations }) => total + operations.base, 0),
      candidate: group.reduce((total, { operations }) => total + operations.candidate, 0),
    },
    summary: summed(group.flatMap(({ summary }) => summary.map((row) => [row.op, row] as const))),
    opens: summed(group.flatMap(({ opens }) => opens.map((row) => [row.what, row] as const))),
  }));
}

function summed(rows: readonly (readonly [string, SideCounts])[]): Map<string, SideCounts> {
  const sums = new Map<string, SideCounts>();
  for (const [name, { base, candidate }] of rows) {
    const known = sums.get(name) ?? { base: 0, candidate: 0 };
    sums.set(name, { base: known.base + base, candidate: known.candidate + candidate });
  }
  return sums;
}
