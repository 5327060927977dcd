// Changes operations of a case and keeps the rest meaningful: what uses a name that nothing opens any more goes too,
// the end of a pair goes with its opening, and a request that grew less has its later token positions moved down.
import { canonicalJson } from "../../base/canonical-json.js";
import type { KvOperation } from "../../base/operations.js";
import { namesOf } from "../../trace/open-names.js";
import { growthOf, openedBy, specOf, withoutNames, withPositions } from "./arguments.js";
import type { Piece, Work } from "./case.js";

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

/** Walks a case in order and knows what is missing so far. */
class Follower {
  readonly #shifts: boolean;
  readonly #gone = new Set<string>(); // names whose last opening is gone
  readonly #alive = new Set<string>(); // names that are open
  readonly #open = new Map<string, boolean[]>(); // pairs by kind and arguments: whether each opening is still there
  readonly #rows = new Map<string, MissingTokens>();

  constructor(shifts: boolean) {
    this.#shifts = shifts;
  }

  /** What is left of `wanted`, which stands in place of `before`; null: nothing. */
  follow(before: KvOperation, wanted: KvOperation | null): KvOperation | null {
    let left = wanted;
    if (this.#gone.size > 0 && left !== null) {
      left = withoutNames(left, (name, role) => {
        return (role === "uses" || role === "closes") && this.#gone.has(name);
      });
    }
    if (!this.#pairs(before, left !== null)) left = null;
    this.#opens(before, left);
    this.#closes(left);
    if (!this.#shifts) return left;
    this.#grows(before, left);
    return left === null ? null : this.#place(left);
  }

  /** False for the end of a pair whose opening is gone. */
  #pairs(before: KvOperation, isLeft: boolean): boolean {
    const { bracket } = specOf(before);
    if (bracket === null) return true;
    const family = before.op.slice(0, before.op.indexOf("."));
    const key = `${family} ${canonicalJson(before.args)}`;
    const stack = this.#open.get(key) ?? [];
    this.#open.set(key, stack);
    if (bracket === "closes") return stack.pop() ?? true;
    stack.push(isLeft);
    return true;
  }

  #opens(before: KvOperation, left: KvOperation | null): void {
    const opened = openedBy(before);
    if (opened.length === 0) return;
    const now = new Set(left === null ? [] : openedBy(left));
    for (const name of opened) {
      const isOpen = this.#alive.has(name); // an earlier opening holds, and this one was refused
      if (now.has(name)) {
        this.#gone.delete(name);
        this.#alive.add(name);
      } else if (!isOpen) this.#gone.add(name);
      if (!isOpen) this.#rows.delete(name); // a request opened again begins at 0
    }
  }

  #closes(left: KvOperation | null): void {
    if (left === null) return;
    for (const { name, role } of namesOf(left)) if (role === "closes") this.#alive.delete(name);
  }

  #grows(before: KvOperation, left: KvOperation | null): void {
    const kept = left === null ? [] : growthOf(left);
    for (const { req, from, to } of growthOf(before)) {
      const now = kept.find((entry) => entry.req === req && entry.from === from);
      const row = this.#rows.get(req) ?? new MissingTokens();
      this.#rows.set(req, row);
      row.grow(to);
      const end = Math.max(from, now?.to ?? from);
      if (end < to) row.miss(end, to);
    }
    // The one shrinking of a row: what is taken back at its end will be written anew.
    if (before.op === "tokens.free" && before.args.bands === "all" && left !== null) {
      const { req, from, to } = before.args;
      this.#rows.get(req)?.cut(from, to);
    }
  }

  #place(left: KvOperation): KvOperation {
    if (this.#rows.size === 0) return left;
    return withPositions(left, (req, at) => this.#rows.get(req)?.place(at) ?? at);
  }
}

/** The token positions of a row that are no longer taken, in the numbers of the case before. */
class MissingTokens {
  #missing: (readonly [from: number, to: number])[] = []; // ascending, disjoint
  #length = 0;

  grow(to: number): void {
    this.#length = to;
  }

  miss(from: number, to: number): void {
    this.#missing.push([from, to]);
  }

  /** The row was freed from `from` on, if that was its end. */
  cut(from: number, to: number): void {
    if (to < this.#length) return;
    this.#length = from;
    this.#missing = this.#missing.flatMap(([start, end]) =>
      start >= from ? [] : [[start, Math.min(end, from)] as const],
    );
  }

  place(position: number): number {
    let below = 0;
    for (const [from, to] of this.#missing) {
      if (position > from) below += Math.min(position, to) - from;
    }
    return position - below;
  }
}
