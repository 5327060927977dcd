// The ledger of copies and transfers: which physical places they read or write until they are over. What forwards use
// is derived from their rows instead (see page-usage.ts).
//
// Records name places, not bound ids: a copy under way goes on reading the bytes where the page lay when it was
// submitted, whoever is bound there later.
import { hashName, type LaneSum } from "../../base/digest.js";
import type { Band } from "./band.js";
import type { EffectScope, HostCopy, NetworkTransfer } from "./signals.js";

const FIELD = { copies: 2, transfers: 3, copy: 18, transfer: 19 } as const;

/** Copies and transfers whose uses are not over. @internal */
export class Ledger {
  /** Not over, in the order of their submission. */
  readonly copies: HostCopy[] = [];
  readonly transfers: NetworkTransfer[] = [];
  /** Transfers that a host wait of the operation under way ended, oldest first. */
  readonly ended: NetworkTransfer[] = [];
  submissions = 0; // copies and transfers submitted so far
  version = 0;
  /** Set when a copy or transfer ends: vacated pages and fences that waited for it may be free. */
  endedSome = false;
  readonly #scope: EffectScope;
  #bands: readonly Band[] = [];

  constructor(scope: EffectScope) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.copies.length === 0 && this.transfers.length === 0;
  }

  /** Records a copy over physical pages by band index. */
  startCopy(
    bands: readonly Band[],
    name: string,
    direction: HostCopy["direction"],
    places: HostCopy["places"],
  ): HostCopy {
    const copy: HostCopy = {
      kind: "copy",
      name,
      direction,
      order: this.submissions++,
      places,
      isOver: false,
    };
    this.copies.push(copy);
    this.#enter(bands, copy);
    return copy;
  }

  /** Records a transfer over physical pages by band index. */
  startTransfer(
    bands: readonly Band[],
    name: string,
    direction: NetworkTransfer["direction"],
    places: NetworkTransfer["places"],
  ): NetworkTransfer {
    const transfer: NetworkTransfer = {
      kind: "transfer",
      name,
      direction,
      order: this.submissions++,
      places,
      isOver: false,
      isStalled: false,
    };
    this.transfers.push(transfer);
    this.#enter(bands, transfer);
    return transfer;
  }

  /** Puts the record of a loaded state in place; `isInside` tells which places are still inside their band. */
  restore(
    bands: readonly Band[],
    use: HostCopy | NetworkTransfer,
    isInside: (band: Band, page: number) => boolean,
  ): void {
    if (use.kind === "copy") this.copies.push(use);
    else this.transfers.push(use);
    this.#bands = bands;
    for (const [index, pages] of use.places.entries()) {
      const band = bands[index]!; // places by band
      band.addUses(
        pages.filter((page) => isInside(band, page)),
        use,
      );
    }
    this.version += 1;
  }

  /** Makes the schedule stream wait a copy, which is over for all later writers. */
  waitCopy(copy: HostCopy): void {
    if (copy.isOver) return;
    this.#scope.emit(["wait", copy.name]);
    this.endCopy(copy);
  }

  /** Makes the host wait a transfer, which ends thereby. */
  hostWait(transfer: NetworkTransfer): void {
    if (transfer.isOver) return;
    this.#scope.emit(["hostwait", transfer.name]);
    this.endTransfer(transfer);
    this.ended.push(transfer);
  }

  endCopy(copy: HostCopy): void {
    if (copy.isOver) return;
    copy.isOver = true;
    this.copies.splice(this.copies.indexOf(copy), 1);
    this.#leave(copy);
  }

  endTransfer(transfer: NetworkTransfer): void {
    if (transfer.isOver) return;
    transfer.isOver = true;
    this.transfers.splice(this.transfers.indexOf(transfer), 1);
    this.#leave(transfer);
  }

  /** Adds this component's cells to `sum`. */
  digestInto(sum: LaneSum, layout: boolean): void {
    if (this.copies.length > 0) sum.add(FIELD.copies, 0, this.copies.length);
    if (this.transfers.length > 0) sum.add(FIELD.transfers, 0, this.transfers.length);
    if (!layout) return;
    for (const [index, copy] of this.copies.entries())
      sum.add(FIELD.copy, index, hashName(copy.name));
    for (const [index, transfer] of this.transfers.entries())
      sum.add(FIELD.transfer, index, hashName(transfer.name));
  }

  #enter(bands: readonly Band[], use: HostCopy | NetworkTransfer): void {
    this.#bands = bands;
    for (const [index, pages] of use.places.entries()) bands[index]!.addUses(pages, use);
    this.version += 1;
  }
  #leave(use: HostCopy | NetworkTransfer): void {
    for (const [index, pages] of use.places.entries()) this.#bands[index]!.dropUses(pages, use);
    this.endedSome = true;
    this.version += 1;
  }
}
