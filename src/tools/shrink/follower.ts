// Keeps the rest of a list of operations meaningful where some are taken away or changed: what uses a name that nothing
// opens any more goes too, the end of a pair goes with its opening, and a request that grew less has its later token
// positions moved down.
import { canonicalJson } from "../../base/canonical-json.js";
import type { Operation } from "../../base/operations.js";
import { namesOf } from "../../trace/open-names.js";
import { growthOf, openedBy, specOf, withoutNames, withPositions } from "./arguments.js";

const GONE_MOST = 65_536; // as many as readers remember

/** Walks operations in order and knows what is missing so far. @internal */
export class Follower {
  readonly #shifts: boolean;
  readonly #isRecorded: boolean;
  readonly #gone = new Set<string>(); // names whose last opening is gone
  readonly #alive = new Set<string>(); // names that are open
  readonly #open = new Map<string, boolean[]>(); // pairs by kind and arguments: whether each opening is still there
  readonly #rows = new Map<string, MissingTokens>();

  /**
   * @param shifts - whether later token positions follow a growth that is gone
   * @param isRecorded - the operations are those of a trace: their outcomes are known, so that positions follow a free
   *   that is gone as well, and their number has no end, so that 65,536 names are remembered as gone
   */
  constructor(shifts: boolean, isRecorded = false) {
    this.#shifts = shifts;
    this.#isRecorded = isRecorded;
  }

  /** Whether a name is open, as far as the operations left have opened and closed it. */
  isOpen(name: string): boolean {
    return this.#alive.has(name);
  }

  /** Whether the operation is the end of a pair whose opening is still there. */
  endsPair(operation: Operation): boolean {
    return (
      specOf(operation).bracket === "closes" && this.#open.get(pairOf(operation))?.at(-1) === true
    );
  }

  /**
   * What is left of `wanted`, which stands in place of `before`; null: nothing.
   * @param isGranted - false: it is known to have been refused, so that it opened, closed and added nothing
   */
  follow<O extends Operation>(before: O, wanted: O | null, isGranted = true): O | null {
    let left = wanted;
    if (this.#gone.size > 0 && left !== null) {
      left = withoutNames(left, (name, role) => {
        return (role === "uses" || role === "closes") && this.#gone.has(name);
      });
    }
    if (!this.#pairs(before, left !== null)) left = null;
    this.#opens(before, left, isGranted);
    if (isGranted) this.#closes(left);
    if (!this.#shifts) return left;
    if (isGranted) this.#grows(before, left);
    return left === null ? null : this.#place(left, isGranted);
  }

  /** False for the end of a pair whose opening is gone. */
  #pairs(before: Operation, isLeft: boolean): boolean {
    const { bracket } = specOf(before);
    if (bracket === null) return true;
    const key = pairOf(before);
    const stack = this.#open.get(key) ?? [];
    if (bracket === "opens") {
      stack.push(isLeft);
      this.#open.set(key, stack);
      return true;
    }
    const isThere = stack.pop() ?? true;
    if (stack.length === 0) this.#open.delete(key);
    return isThere;
  }

  #opens(before: Operation, left: Operation | null, isGranted: boolean): void {
    const opened = openedBy(before);
    if (opened.length === 0) return;
    const now = new Set(left === null ? [] : openedBy(left));
    for (const name of opened) {
      const isOpen = this.#alive.has(name); // an earlier opening holds, and this one was refused
      if (now.has(name)) {
        this.#gone.delete(name);
        if (isGranted) this.#alive.add(name);
      } else if (!isOpen) this.#miss(name);
      if (!isOpen) this.#rows.delete(name); // a request opened again begins at 0
    }
  }

  #miss(name: string): void {
    this.#gone.delete(name);
    this.#gone.add(name); // the newest stands last
    if (!this.#isRecorded || this.#gone.size <= GONE_MOST) return;
    for (const oldest of this.#gone) {
      this.#gone.delete(oldest);
      return;
    }
  }

  #closes(left: Operation | null): void {
    if (left === null) return;
    for (const { name, role } of namesOf(left)) if (role === "closes") this.#alive.delete(name);
  }

  #grows(before: Operation, left: Operation | null): void {
    const kept = left === null ? [] : growthOf(left);
    for (const { req, from, to } of growthOf(before)) {
      if (this.#gone.has(req)) continue; // nothing speaks of its row
      const now = kept.find((entry) => entry.req === req && entry.from === from);
      const row = this.#rows.get(req) ?? new MissingTokens();
      this.#rows.set(req, row);
      row.grow(to);
      const end = Math.max(from, now?.to ?? from);
      if (end < to) row.miss(end, to);
    }
    // The one shrinking of a row: what is taken back at its end will be written anew.
    const isTaken = left !== null || this.#isRecorded;
    if (before.op === "tokens.free" && before.args.bands === "all" && isTaken) {
      const { req, from, to } = before.args;
      this.#rows.get(req)?.cut(from, to, left !== null);
    }
  }

  #place<O extends Operation>(left: O, isGranted: boolean): O {
    if (this.#rows.size === 0) return left;
    const placed = withPositions(left, (req, at) => this.#rows.get(req)?.place(at) ?? at);
    // a request opened again begins at 0
    if (isGranted)
      for (const { name, role } of namesOf(left)) if (role === "closes") this.#rows.delete(name);
    return placed;
  }
}

/** What the two ends of a pair have in common. */
function pairOf({ op, args }: Operation): string {
  return `${op.slice(0, op.indexOf("."))} ${canonicalJson(args)}`;
}

/** The token positions of a row that are no longer taken, and those no longer freed, in the numbers of before. */
class MissingTokens {
  #missing: (readonly [from: number, to: number])[] = []; // ascending, disjoint
  #extra: (readonly [at: number, count: number])[] = []; // tokens that lie before a position; ascending
  #length = 0;

  grow(to: number): void {
    this.#length = to;
  }

  miss(from: number, to: number): void {
    this.#missing.push([from, to]);
  }

  /** The row was freed from `from` on, if that was its end. `isLeft`: it still is. */
  cut(from: number, to: number, isLeft: boolean): void {
    if (to < this.#length) return;
    const stay = isLeft ? 0 : this.place(to) - this.place(from);
    this.#length = from;
    this.#missing = this.#missing.flatMap(([start, end]) =>
      start >= from ? [] : [[start, Math.min(end, from)] as const],
    );
    // what lay behind `from` is freed with it, or counted in what stays
    this.#extra = this.#extra.filter(([at]) => at <= from);
    if (stay > 0) this.#extra.push([from, stay]);
  }

  place(position: number): number {
    let placed = position;
    for (const [from, to] of this.#missing)
      if (position > from) placed -= Math.min(position, to) - from;
    for (const [at, count] of this.#extra) if (at <= position) placed += count;
    return placed;
  }
}
