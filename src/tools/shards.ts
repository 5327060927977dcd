// Work in parts of about the same cost. Which part a piece belongs to follows from names and costs alone, so that the same
// pieces in another order, on another machine, make the same parts.

/** Part `index`, from 1, of `of`. @public */
export interface ShardPart {
  readonly index: number;
  readonly of: number;
}

/** One piece of work. Names are told apart. @internal */
export interface ShardPiece {
  readonly name: string;
  readonly cost: number; // in any unit
}

/** The dearest first, of equal ones by name: each goes to the part that has the least so far. @internal */
export function ofShard<P extends ShardPiece>(pieces: readonly P[], part: ShardPart): P[] {
  const sums = new Array<number>(part.of).fill(0);
  const own: P[] = [];
  for (const piece of dearestFirst(pieces)) {
    const least = sums.indexOf(Math.min(...sums));
    sums[least] = (sums[least] ?? 0) + piece.cost;
    if (least === part.index - 1) own.push(piece);
  }
  return own;
}

/** A list in the order of cost, the dearest first; of equal ones by name. @internal */
export function dearestFirst<P extends ShardPiece>(pieces: readonly P[]): P[] {
  return [...pieces].sort(
    (left, right) => right.cost - left.cost || (left.name < right.name ? -1 : 1),
  );
}
