// What the simulated device tells to whoever follows it with bytes: which page an id got, what is expected in it, what a
// forward, a copy or a transfer does. It is told in the order in which the device's work is issued.
import type { Effect } from "../base/effects.js";
import type { ForwardEntry } from "../base/operations.js";

/** A band as far as a follower needs it. @internal */
export interface TapBand {
  readonly index: number; // position in the chain
  readonly name: string;
  readonly units: number; // units a page
  readonly isState: boolean;
  /** The page that an id is bound to, 0 = none. */
  placeOf(id: number): number;
  /** Stamps that an id carries once all issued writes are done, one a unit. */
  contentOf(id: number): { readonly stamps: Int32Array };
  /** Lane a of the sum over them. */
  issuedContent(id: number): number;
}

/** A request's row. @internal */
export interface TapRow {
  readonly row: number;
  readonly pageCount: number;
  readonly virtual: Int32Array; // virtual page by page index
  changedFrom: number; // first cell that changed since it was told
}

/** One page of a host copy. @internal */
export interface TapCopiedPage {
  readonly band: TapBand;
  readonly place: number;
  readonly host: { readonly page: number; readonly isMadeUp: boolean };
}

/** A page that a peer reads or writes. @internal */
export interface TransferredPage {
  readonly band: TapBand;
  readonly place: number;
  readonly id: number; // whose page it is, 0 or -1 for nobody known
  readonly expected: number; // lane a of what a send finds there
  /** Units that a receive writes, and how it stamps them. */
  readonly from: number;
  readonly to: number;
  readonly firstToken: number;
  readonly writer: number;
}

/** @internal */
export interface ModelTap {
  /** An effect is about to be carried out. */
  effect(effect: Effect): void;

  /** An id begins anew: nothing is expected in any of its units. */
  renewed(band: TapBand, id: number): void;
  /** An id lies at a page from now on. */
  bound(band: TapBand, id: number, page: number): void;
  unbound(band: TapBand, id: number): void;
  /** What an id holds changed by something other than a forward. */
  changed(band: TapBand, id: number): void;
  /** The place of an id that was written already shows. */
  revealed(band: TapBand, id: number, page: number): void;
  /** Its holder let go of a page that stays bound: no forward launched from now on uses it. */
  letGo(band: TapBand, id: number): void;
  rowChanged(row: TapRow): void;

  /** A forward writes units `[from, to)` of an id; unit u is token `firstToken` + u. */
  issued(
    band: TapBand,
    id: number,
    from: number,
    to: number,
    firstToken: number,
    writer: number,
  ): void;
  /** A forward without overlap: the schedule stream goes on behind it. */
  forward(step: string, batch: readonly ForwardEntry[], isWaited: boolean): void;
  copy(name: string, direction: "out" | "in", pages: readonly TapCopiedPage[]): void;
  transfer(name: string, direction: "send" | "receive", pages: readonly TransferredPage[]): void;
  /** A transfer is over; what it wrote counts from now on. */
  transferOver(name: string): void;
}
