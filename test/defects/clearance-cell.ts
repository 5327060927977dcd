// Changing one cell of the table of who waits for whom.
import {
  CLEARANCE,
  type Clearance,
  type Consumer,
  type Hazard,
} from "../../src/kv/alloc/clearance.js";

/** Says that a consumer need not clear a hazard. */
export function clearNothing(consumer: Consumer, hazard: Hazard): () => void {
  // Read-only by its type alone.
  const row = CLEARANCE[consumer] as Record<Hazard, Clearance>;
  const before = row[hazard];
  row[hazard] = "none";
  return () => {
    row[hazard] = before;
  };
}
