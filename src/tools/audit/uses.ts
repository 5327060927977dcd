// Who may still use bytes: forwards in flight, host copies, network transfers. Uses are places, where a page lay when the
// use began. Waiting a forward retires it and every earlier one; a copy that was waited is over for later writers.
import type { BandBook, PlaceUse } from "./band-book.js";

/** A copy or transfer over physical pages. @internal */
export interface Use extends PlaceUse {
  readonly places: readonly (readonly [band: BandBook, page: number])[];
}

/** A launched forward that is not processed. @internal */
export interface Forward {
  readonly name: string;
  readonly serial: number; // from 1, in launch order
  readonly launchedAt: number; // operation
  readonly isPrebuilt: boolean;
  readonly reqs: readonly string[];
  isRecorded: boolean;
  hasUnknownWrites: boolean;
}

/** Forwards, copies and transfers that are not over. @internal */
export class Uses {
  forwards: Forward[] = []; // launch order
  retiredThrough = 0; // serial
  readonly copies: Map<string, Use> = new Map(); // submitted and not done
  readonly transfers: Map<string, Use> = new Map(); // published and not over
  #serials = 0;

  launch(name: string, launchedAt: number, isPrebuilt: boolean, reqs: readonly string[]): Forward {
    this.#serials += 1;
    const serial = this.#serials;
    const rest = { launchedAt, isPrebuilt, reqs, isRecorded: false, hasUnknownWrites: false };
    const forward: Forward = { name, serial, ...rest };
    this.forwards.push(forward);
    return forward;
  }
  forwardNamed(name: string): Forward | undefined {
    return this.forwards.find((forward) => forward.name === name);
  }
  /** Recorded, neither waited nor processed, oldest first. */
  unretired(): Forward[] {
    return this.forwards.filter((one) => one.isRecorded && one.serial > this.retiredThrough);
  }
  /** The newest recorded forward that is not processed: what is freed now pends under it. */
  newestRecorded(): Forward | undefined {
    return this.forwards.findLast((forward) => forward.isRecorded);
  }
  /** The forward of a mark on a page, while it may still run. */
  running(serial: number): Forward | undefined {
    if (serial <= this.retiredThrough) return undefined;
    return this.forwards.find((forward) => forward.serial === serial && forward.isRecorded);
  }
  /** The newest running forward whose writes are unknown. */
  unknownWriter(): Forward | undefined {
    return this.unretired().findLast((forward) => forward.hasUnknownWrites);
  }

  /** Ends the wait for a signal; false where nothing of that name is open. */
  wait(signal: string): boolean {
    const forward = this.forwardNamed(signal);
    if (forward?.isRecorded === true) {
      this.retiredThrough = Math.max(this.retiredThrough, forward.serial);
      return true;
    }
    const copy = this.copies.get(signal);
    if (copy === undefined) return false;
    this.end(copy);
    return true;
  }

  begin(use: Use): void {
    (use.kind === "copy" ? this.copies : this.transfers).set(use.name, use);
    for (const [band, page] of use.places) band.record(page).uses.push(use);
  }
  /** Nobody needs to wait for it any more. */
  end(use: Use): void {
    if (use.isOver) return;
    use.isOver = true;
    for (const [band, page] of use.places) {
      const record = band.record(page);
      record.uses = record.uses.filter((other) => other !== use);
    }
  }
}
