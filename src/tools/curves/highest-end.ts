// The highest end of the objects that are live, while objects come and go: the logarithm of their number an operation.

interface Entry {
  readonly id: string;
  readonly end: number; // bytes
}

const STALE_MIN = 64;

/** A heap by end. An entry whose object went or moved stays until it comes to the top, or until most are such. @internal */
export class HighestEnd {
  readonly #ends = new Map<string, number>();
  #entries: Entry[] = []; // each parent at or above its children

  set(id: string, end: number): void {
    if (this.#ends.get(id) === end) return;
    this.#ends.set(id, end);
    this.#push({ id, end });
    if (this.#entries.length > STALE_MIN + 2 * this.#ends.size) this.#renew();
  }

  delete(id: string): void {
    this.#ends.delete(id);
  }

  /** 0 where nothing is live. */
  get end(): number {
    for (;;) {
      const top = this.#entries[0];
      if (top === undefined) return 0;
      if (this.#ends.get(top.id) === top.end) return top.end;
      this.#pop();
    }
  }

  #renew(): void {
    // descending order is a heap as well
    this.#entries = Array.from(this.#ends, ([id, end]) => ({ id, end }));
    this.#entries.sort((left, right) => right.end - left.end);
  }

  #push(entry: Entry): void {
    const entries = this.#entries;
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above]!; // above a place of the list
      if (parent.end >= entry.end) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = entry;
  }

  #pop(): void {
    const entries = this.#entries;
    const entry = entries.pop();
    if (entry === undefined || entries.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [entries[2 * at + 1], entries[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.end > left.end;
      const child = isRight ? right : left;
      if (child.end <= entry.end) break;
      entries[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    entries[at] = entry;
  }
}
