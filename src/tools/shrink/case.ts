// What is shrunk, who judges it, and which of two cases is the smaller one.
import { createHash } from "node:crypto";
import type { DirectConfig, KvOperation } from "../../base/operations.js";
import type { Finding } from "../findings.js";

/** A configuration and operations, boot first. It needs no seed: arguments are final. @public */
export interface ShrinkCase {
  readonly config: DirectConfig;
  readonly ops: readonly KvOperation[];
}

/**
 * What a judge says of a case. `invalid`: the case proves nothing (operation `n` means nothing in it). `illegal`:
 * operations up to the finding that break a contract of the caller, which the answer `invalid` tells: a shortened case
 * may break only those that the first case broke, or its failure is another one. @public
 */
export type Judgement =
  | { readonly kind: "passes" }
  | { readonly kind: "invalid"; readonly n: number }
  | {
      readonly kind: "fails";
      readonly finding: Finding;
      readonly illegal?: readonly number[];
    };

/** Runs a case from its beginning; the same case gives the same judgement. Called for several cases at once. @public */
export type Judge = (candidate: ShrinkCase) => Promise<Judgement>;

/** What was really looked at: cases run from their beginning, and the operations in them up to where they failed. @public */
export interface Looked {
  readonly runs: number;
  readonly operations: number;
}

/** A judge that counts what it looks at. @internal */
export function tallied(judge: Judge, looked: { runs: number; operations: number }): Judge {
  return async (candidate) => {
    const judgement = await judge(candidate);
    const { length } = candidate.ops;
    const n = judgement.kind === "passes" ? length : placeOf(judgement);
    looked.runs += 1;
    looked.operations += Math.min(length, n + 1);
    return judgement;
  };
}

function placeOf(judgement: Exclude<Judgement, { readonly kind: "passes" }>): number {
  return judgement.kind === "invalid" ? judgement.n : judgement.finding.n;
}

/** One operation of a case while it is shrunk. @internal */
export interface Piece {
  readonly operation: KvOperation;
  readonly wasIllegal: boolean; // in the first case
  readonly hold: Hold;
}

/** Whether an operation may go or change: the failure of an expectation is about one operation. @internal */
export type Hold = "free" | "kept" | "unchanged";

/** A case while it is shrunk. @internal */
export interface Work {
  readonly config: DirectConfig;
  readonly pieces: readonly Piece[];
}

/** @internal */
export function caseOf(work: Work): ShrinkCase {
  return { config: work.config, ops: work.pieces.map(({ operation }) => operation) };
}

/** Names a case by its content. @internal */
export function caseDigest(value: ShrinkCase): string {
  return createHash("sha256").update(textOf(value)).digest("hex");
}

/**
 * A total order of cases: fewer operations first, then fewer arguments, a simpler configuration, smaller pages, smaller
 * numbers, then the text. Every step of a shrink goes down in it, so that shrinking ends and its result does not grow. @internal
 */
export function compareCases(left: ShrinkCase, right: ShrinkCase): number {
  if (left.ops.length !== right.ops.length) return left.ops.length - right.ops.length;
  for (const measure of MEASURES) {
    const difference = measure(left) - measure(right);
    if (difference !== 0) return difference;
  }
  const [first, second] = [textOf(left), textOf(right)];
  return first < second ? -1 : first > second ? 1 : 0;
}

const MEASURES: readonly ((value: ShrinkCase) => number)[] = [
  ({ ops }) => leavesOf(ops),
  ({ config }) => leavesOf(config),
  ({ config }) => config.page_size,
  ({ ops }) => magnitudeOf(ops),
  ({ config }) => magnitudeOf(config),
];

function textOf({ config, ops }: ShrinkCase): string {
  return JSON.stringify([ops, config]);
}

/** Values that are no list and no object. */
function leavesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let total = 0;
  for (const item of Object.values(value)) total += leavesOf(item);
  return total;
}

/** The sum of all numbers and of the lengths of all texts. */
function magnitudeOf(value: unknown): number {
  if (typeof value === "number") return Math.abs(value);
  if (typeof value === "string") return value.length;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object" || value === null) return 0;
  let total = 0;
  for (const item of Object.values(value)) total += magnitudeOf(item);
  return total;
}
