// Values that arguments, results and effects share: extents, demands, keys, small vocabularies. Types only.

/** `[first, count]`; count below zero descends; in a window's list `[0, k]` is k unbound pages. @public */
export type Extent = readonly [first: number, count: number];
/** Ids in order, merged greedily from the left. @public */
export type Extents = readonly Extent[];
/** Pages (slots for state) per band, absent = 0. Keys in chain order when written. @public */
export type Demand = Readonly<Record<string, number>>;
/** Extents per band name (`virtual` and `slots` first where ids come or go). @public */
export type PageLists = Readonly<Record<string, Extents>>;
/** `[hash, tokens]` segments. @public */
export type Key = readonly (readonly [hash: number | string, tokens: number])[];

/** @public */
export type StatePurpose = "main" | "track" | "replace" | "cow";
/** @public */
export type ForwardMode = "extend" | "decode" | "verify" | "prebuilt";
/** The rearrangement steps, least first; `none` only in the answer of `ask.plan`. @public */
export type Step = "no_move" | "flush_ends" | "relayout";
/** @public */
export type DigestDepth = "light" | "layout" | "deep";
