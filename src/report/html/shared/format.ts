// The data of a report page as it is packed: one JSON head, then byte sections. Types only.
//
// All of it is one block: the length of the head (4 bytes, low first), the head as UTF-8, the sections one after another as
// the head lists them. The block is deflated and written in base64 into the page.
import type { ArenaGeometry } from "../../../tools/view/geometry.js";

/** @internal */
export interface PackedSide {
  readonly name: string;
  readonly maps: string;
  readonly knownTo: number | null; // operation
  readonly note: string | null;
}

/** @internal */
export interface PackedHead {
  readonly run: string;
  readonly pageTokens: number;
  readonly base: PackedSide;
  readonly candidate: PackedSide | null;
  readonly geometries: readonly ArenaGeometry[];
  readonly labels: readonly (readonly [text: string, owner: string])[];
  readonly ops: readonly string[]; // operation kinds
  readonly outcomes: readonly string[]; // `granted`, refusal codes, `invalid`; 0 is no answer
  readonly frames: number;
  readonly operations: number;
  readonly stride: number;
  readonly near: number;
  readonly focus: readonly number[]; // operations
  readonly detailsFrom: number; // frames whose arguments and answers are in the page: first, behind the last
  readonly detailsTo: number;
  readonly isPaired: boolean; // some operations stand on one side alone, so that a frame has a number on either side
  readonly marks: readonly PackedMark[];
  readonly sections: Readonly<Record<SectionName, number>>; // bytes, in the order of SECTIONS
}

/** An operation that the curves mark and a button jumps to. @internal */
export interface PackedMark {
  readonly n: number;
  readonly kind: "divergence" | "failure" | "cause" | "origin" | "recovers";
  readonly title: string; // on the button
  readonly why: string; // one sentence
}

/**
 * - `frames`: per frame the number of operations since the frame before, its kind, outcome of the base, of the candidate;
 * - `lengths`: per frame with details the bytes of its arguments, of the base's and of the candidate's answer (plus one; 0:
 *   the same as the base's);
 * - `texts`: those texts, as UTF-8;
 * - `base`, `candidate`: per frame what changed in the page map;
 * - `pairs`: empty unless frames are paired; then per frame the candidate's operations since the frame before, and who has the
 *   operation: 0 both, 1 the base alone, 2 the candidate alone.
 * @internal
 */
export const SECTIONS = ["frames", "lengths", "texts", "base", "candidate", "pairs"] as const;
/** @internal */
export type SectionName = (typeof SECTIONS)[number];

/** Who has the operation of a frame, by its code. @internal */
export const PAIR_SIDES = [null, "base", "candidate"] as const;
