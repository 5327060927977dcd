// Network transfers by name: what is open, in which phase, which writers have yet to end, and which names are closed.
//
// A transfer is *held* until its places are told to the peer, then *published*: from there on the ledger knows it. It is
// over when its writers ended, when a host wait ended it, or when its request closed before it was published.
import { hashName, LaneSum } from "../../base/digest.js";
import type { NetworkTransfer } from "../alloc/signals.js";
import type { Component } from "../component.js";
import type { Request } from "../requests.js";

/** @internal */
export type TransferDirection = NetworkTransfer["direction"];

/** One transfer from its opening to its end. @internal */
export interface Transfer {
  readonly name: string;
  readonly direction: TransferDirection;
  readonly serial: number; // transfers opened before this one
  epoch: number; // move epoch when its places were read last
  readonly req: string; // whose rows; the request may close once the transfer is published
  readonly first: number; // page indices `[first, end)` of the row
  readonly end: number;
  /** A receive: the virtual pages that its row named when it opened, by page index from `first`; a send has none, it
   * sends what the row names when it goes. */
  readonly virtual: readonly number[];
  readonly slots: readonly number[]; // slot ids
  /** Writers that have yet to end; one without a name where none were given. */
  readonly writers: Set<string>;
  readonly named: ReadonlySet<string>; // all writers that were given
  isStalled: boolean; // a host wait for it would outlive its deadline
  use: NetworkTransfer | null; // null: held
}

/** The only writer of a transfer that was given none. @internal */
export const ANY_WRITER = "";

/** Closed names that are still known: an end that comes later than that many others is a stranger's. */
const CLOSED_MAX = 65_536;

const FIELD = {
  open: 1,
  name: 16,
  published: 17,
  writers: 18,
  epoch: 19,
  stalled: 20,
  first: 21,
  end: 22,
} as const;

/** The registry of transfers. @internal */
export class Transfers implements Component {
  version = 0;
  serial = 0; // transfers opened so far
  readonly #open = new Map<string, Transfer>();
  readonly #held = new Set<Transfer>();
  readonly #closed = new Set<string>(); // oldest first
  readonly #cells = new LaneSum();

  /** Open transfers in the order of their opening. */
  get open(): ReadonlyMap<string, Transfer> {
    return this.#open;
  }
  /** Transfers that are not published, in the order of their opening. */
  get held(): ReadonlySet<Transfer> {
    return this.#held;
  }
  get closedNames(): Iterable<string> {
    return this.#closed;
  }
  find(name: string): Transfer | undefined {
    return this.#open.get(name);
  }
  /** Whether a transfer of this name is over. */
  wasClosed(name: string): boolean {
    return this.#closed.has(name);
  }
  /** Whether a request has transfers that are not published: they need its row. */
  holds(request: Request): boolean {
    for (const { req } of this.#held) if (req === request.name) return true;
    return false;
  }

  add(transfer: Transfer): void {
    this.#open.set(transfer.name, transfer);
    if (transfer.use === null) this.#held.add(transfer);
    this.#enter(transfer);
  }

  /** From now on the peer knows the places. */
  publish(transfer: Transfer, use: NetworkTransfer, epoch: number): void {
    this.#leave(transfer);
    transfer.use = use;
    transfer.epoch = epoch;
    this.#held.delete(transfer);
    this.#enter(transfer);
  }

  stall(transfer: Transfer): void {
    this.#leave(transfer);
    transfer.isStalled = true;
    if (transfer.use !== null) transfer.use.isStalled = true;
    this.#enter(transfer);
  }

  /** One writer ended; the transfer may go on. */
  endWriter(transfer: Transfer, writer: string): void {
    this.#leave(transfer);
    transfer.writers.delete(writer);
    this.#enter(transfer);
  }

  /** The transfer is over. Later ends of it are late. */
  close(name: string): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    this.#open.delete(name);
    this.#held.delete(transfer);
    this.#leave(transfer);
    this.remember(name);
  }

  /** Ends the transfers of a request that closes before they are published: nobody was told of their places. Returns
   * their names, oldest first. */
  closeHeldOf(request: Request): readonly string[] {
    const names = [...this.#held].filter(({ req }) => req === request.name).map(({ name }) => name);
    for (const name of names) this.close(name);
    return names;
  }

  /** Keeps a closed name; the oldest is forgotten when there are too many. */
  remember(name: string): void {
    this.#closed.add(name);
    if (this.#closed.size <= CLOSED_MAX) return;
    for (const oldest of this.#closed) {
      this.#closed.delete(oldest);
      return;
    }
  }

  digestInto(sum: LaneSum, layout: boolean): void {
    if (this.#open.size > 0) sum.add(FIELD.open, 0, this.#open.size);
    if (layout) sum.join(this.#cells);
  }

  /** The cells recomputed from content, to check the running sum against. */
  recomputed(): LaneSum {
    const sum = new LaneSum();
    for (const transfer of this.#open.values()) eachCell(transfer, (...cell) => sum.add(...cell));
    return sum;
  }
  get cells(): LaneSum {
    return this.#cells;
  }

  #enter(transfer: Transfer): void {
    eachCell(transfer, (...cell) => this.#cells.add(...cell));
    this.version += 1;
  }
  #leave(transfer: Transfer): void {
    eachCell(transfer, (...cell) => this.#cells.remove(...cell));
    this.version += 1;
  }
}

function eachCell(
  { name, serial, use, writers, epoch, isStalled, first, end }: Transfer,
  visit: (field: number, index: number, value: number) => void,
): void {
  visit(FIELD.name, serial, hashName(name));
  visit(FIELD.published, serial, use === null ? 0 : 1);
  visit(FIELD.writers, serial, writers.size);
  visit(FIELD.epoch, serial, epoch);
  visit(FIELD.stalled, serial, isStalled ? 1 : 0);
  visit(FIELD.first, serial, first);
  visit(FIELD.end, serial, end);
}
