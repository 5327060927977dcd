// Changes operations of a case and keeps the rest meaningful: what uses a name that nothing opens any more goes too,
// the end of a pair goes with its opening, and a request that grew less has its later token positions moved down.
import type { KvOperation } from "../../base/operations.js";
import type { Piece, Work } from "./case.js";
import { Follower } from "./follower.js";

/** Operations to replace by index; null: take it away. @internal */
export type Changes = ReadonlyMap<number, KvOperation | null>;

/**
 * The case after the changes, or null without boot.
 * @param shifts - whether later token positions follow a growth that is gone
 * @internal
 */
export function rewrite(work: Work, changes: Changes, shifts: boolean): Work | null {
  const follower = new Follower(shifts);
  const pieces: Piece[] = [];
  for (const [index, piece] of work.pieces.entries()) {
    const changed = changes.get(index);
    const wanted = changed === undefined ? piece.operation : changed;
    const operation = follower.follow(piece.operation, wanted);
    if (operation !== null) {
      pieces.push(operation === piece.operation ? piece : { ...piece, operation });
    } else if (index === 0) {
      return null;
    }
  }
  return { ...work, pieces };
}

/** The case without these operations. @internal */
export function without(work: Work, indexes: Iterable<number>, shifts: boolean): Work | null {
  const changes = new Map<number, null>();
  for (const index of indexes) changes.set(index, null);
  return rewrite(work, changes, shifts);
}
