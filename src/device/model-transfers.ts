// Network transfers of the simulated device.
import type { ModelRow } from "./model-rows.js";

/** Transfers by name. @internal */
export class ModelTransfers {
  readonly #ended: string[] = [];

  /** Ends the transfers of a request that were not published. */
  endUnpublished(_row: ModelRow): void {
    return;
  }
  /** Transfers that the operation under way ended by itself, oldest first; forgets them. */
  takeEnded(): readonly string[] {
    return this.#ended.splice(0);
  }
}
