// The tables that lie in device memory beside the pages: where each id lies, which ids each row names. Whoever checks
// the bytes of a run reads them here; nothing that decides does.
import type { StatePurpose } from "../base/operations.js";
import type { KvCore } from "./core.js";

/** One open request's row. @internal */
export interface DeviceRow {
  readonly row: number;
  readonly pages: readonly number[]; // virtual page by page index, 0 = none
  readonly slots: Readonly<Record<StatePurpose, readonly number[]>>; // slot ids
  readonly trackCursor: number; // index into `slots.track` of the ring's current slot
}

/** A view of one run's tables. @internal */
export class DeviceTables {
  readonly #core: KvCore;

  constructor(core: KvCore) {
    this.#core = core;
  }

  /** Physical page by id, 0 = unbound, of a band by its place in the chain. */
  places(band: number): Int32Array {
    return this.#core.chain.bands[band]!.v2p; // the caller knows the chain
  }

  row(req: string): DeviceRow | undefined {
    return this.#core.requests.find(req);
  }

  /** Whether a row still holds its page under an id: it is bound, and no free waits for a group's end or a transfer. */
  isHeld(band: number, id: number): boolean {
    return this.#core.isWindowBound(this.#core.chain.bands[band]!, id);
  }
}
