// The full state of a run, as `state` lines and the protocol carry it. Types only.
import type { Extent, Extents } from "./values.js";

/** A set of pages that wait together for a forward. @public */
export interface PendingState {
  readonly key: string; // the forward's name
  readonly pages: Extents;
}
/** A page run whose move left readers behind. @public */
export interface VacatedState {
  readonly pages: Extents;
  readonly readers: readonly string[];
}
/** One band. @public */
export interface BandState {
  readonly span: Extent; // [first, count] pages
  readonly live: number;
  readonly holes: Extents; // list order
  readonly pending: readonly PendingState[];
  readonly vacated: readonly VacatedState[];
  readonly fixed: Extents;
  readonly bindings: readonly (readonly [virtual: number, physical: number, count: number])[];
  readonly free_ids: Extents; // owner and state band; a window band has none
}
/** @public */
export interface ChainState {
  readonly move_epoch: number;
  readonly fences: readonly {
    readonly bytes: readonly [from: number, to: number];
    readonly signals: readonly string[];
  }[];
}
/** @public */
export interface ForwardsState {
  readonly unprocessed: readonly string[];
  readonly retired: string | null; // newest retired forward
  readonly open: string | null; // launched, not yet recorded
  readonly [extension: `x_${string}`]: unknown;
}
/** @public */
export interface LedgerRecord {
  readonly use: string;
  readonly band: string;
  readonly pages: Extents;
  readonly signal: string;
}
/** @public */
export interface RowState {
  readonly row: number;
  readonly allocated: number; // tokens
  readonly protected: number; // tokens
  readonly cursors: Readonly<Record<string, number>>; // tokens, per window band
  readonly checkpoint: number | null; // tokens
  readonly slots: Readonly<Record<string, Extents>>; // slot ids per purpose
  readonly reset: boolean;
  readonly [extension: `x_${string}`]: unknown;
}
/** Every component by name: the bands in chain order, then the fixed components. @public */
export interface State {
  readonly chain: ChainState;
  readonly forwards: ForwardsState;
  readonly ledger: readonly LedgerRecord[];
  readonly rows: Readonly<Record<string, RowState>>;
  readonly tree: readonly unknown[];
  readonly host: Readonly<Record<string, unknown>>;
  readonly net: Readonly<Record<string, unknown>>;
  readonly [band: string]: unknown; // a band's name: BandState
}
