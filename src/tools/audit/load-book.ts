// Host copies and loads that are open.
import type { BandBook } from "./band-book.js";
import type { PageNode } from "./page-tree.js";
import type { RowBook } from "./row-book.js";
import type { Use } from "./uses.js";

/** A window page of a load. */
export interface LoadedWindow {
  readonly band: BandBook;
  id: number; // below 0 until it is bound
}

/** Pages that a copy from the host will fill. @internal */
export interface LoadBook {
  readonly name: string;
  readonly path: readonly PageNode[] | null; // of a load by key
  readonly lacking: readonly PageNode[]; // those that get the load's ids, in order
  readonly ids: readonly number[];
  readonly slots: readonly number[];
  readonly windows: readonly LoadedWindow[];
  row: RowBook | null;
  positions: readonly number[]; // of the ids in the row
  from: number; // tokens of the row before the load
  cursorsBefore: readonly number[];
  cursorsSet: readonly number[];
  isBound: boolean;
}

/** What a retracted request had, on the host. @internal */
export interface KeptRow {
  readonly positions: readonly number[];
  readonly windows: readonly (readonly number[])[]; // by band index: places in `positions`
  readonly slots: number;
  readonly allocated: number; // tokens
  readonly cursors: readonly number[];
  readonly checkpoint: number;
}

/** A submitted copy. @internal */
export interface OpenCopy {
  readonly use: Use | null; // null: its effect was missing
  readonly load: LoadBook | null; // of a copy in
  readonly kept: KeptRow | null; // of a retraction or a restore
  readonly host: readonly (readonly [band: string, page: number])[]; // host pages in use
}

/** @internal */
export interface HostCopies {
  readonly open: Map<string, OpenCopy>;
  readonly kept: Map<string, KeptRow>;
}
