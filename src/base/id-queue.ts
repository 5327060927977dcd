// An ordered free list: first in, first out, over a growing ring of int32, with the digest of its order kept along.
//
// The digest of a list is the sum over its positions i of (2i + 1) * mix(field, 0, id). A weight linear in the position
// lets the head be taken in constant time: every later weight falls by 2, which is twice the plain sum of mixes.
import { mixA, mixB } from "./digest.js";

/** Ids in order; `shift` takes the oldest, `push` appends. @internal */
export class IdQueue {
  #ring: Int32Array;
  #mask: number;
  #head = 0;
  #length = 0;
  #ascending = true; // whether the ids are known to ascend
  readonly #field: number; // digest field, 0: no digest kept
  #plainA = 0; // sum of mixes, lane a
  #plainB = 0;
  /** Digest of the order, lane a. */
  orderA = 0;
  /** Digest of the order, lane b. */
  orderB = 0;

  /** @param field - digest field of the cells; 0 keeps no digest */
  constructor(field = 0, capacity = 16) {
    let size = 16;
    while (size < capacity) size *= 2;
    this.#ring = new Int32Array(size);
    this.#mask = size - 1;
    this.#field = field;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether the ids are known to ascend; false may be pessimistic. */
  get isAscending(): boolean {
    return this.#ascending;
  }

  /** The id at position `index`, counted from the oldest; `index` below `length`. */
  at(index: number): number {
    return this.#ring[(this.#head + index) & this.#mask]!;
  }

  push(id: number): void {
    if (this.#length > this.#mask) this.#grow();
    if (this.#ascending && this.#length > 0 && this.at(this.#length - 1) > id)
      this.#ascending = false;
    this.#ring[(this.#head + this.#length) & this.#mask] = id;
    if (this.#field !== 0) {
      const weight = 2 * this.#length + 1;
      const a = mixA(this.#field, 0, id);
      const b = mixB(this.#field, 0, id);
      this.#plainA = (this.#plainA + a) | 0;
      this.#plainB = (this.#plainB + b) | 0;
      this.orderA = (this.orderA + Math.imul(weight, a)) | 0;
      this.orderB = (this.orderB + Math.imul(weight, b)) | 0;
    }
    this.#length += 1;
  }

  /** Takes the oldest id; the queue must not be empty. */
  shift(): number {
    const id = this.#ring[this.#head]!;
    this.#head = (this.#head + 1) & this.#mask;
    this.#length -= 1;
    if (this.#length === 0) this.#ascending = true;
    if (this.#field !== 0) {
      const a = mixA(this.#field, 0, id);
      const b = mixB(this.#field, 0, id);
      this.#plainA = (this.#plainA - a) | 0;
      this.#plainB = (this.#plainB - b) | 0;
      this.orderA = (this.orderA - a - 2 * this.#plainA) | 0;
      this.orderB = (this.orderB - b - 2 * this.#plainB) | 0;
    }
    return id;
  }

  /** Takes the newest id; the queue must not be empty. */
  pop(): number {
    this.#length -= 1;
    const id = this.at(this.#length);
    if (this.#length === 0) this.#ascending = true;
    if (this.#field !== 0) {
      const weight = 2 * this.#length + 1;
      const a = mixA(this.#field, 0, id);
      const b = mixB(this.#field, 0, id);
      this.#plainA = (this.#plainA - a) | 0;
      this.#plainB = (this.#plainB - b) | 0;
      this.orderA = (this.orderA - Math.imul(weight, a)) | 0;
      this.orderB = (this.orderB - Math.imul(weight, b)) | 0;
    }
    return id;
  }

  /** Puts the ids into ascending order. */
  sort(): void {
    if (this.#ascending) return;
    this.replace(Int32Array.from(this.toArray()).sort());
  }

  /** Replaces the whole content. */
  replace(ids: Iterable<number>): void {
    this.clear();
    for (const id of ids) this.push(id);
  }

  clear(): void {
    this.#head = 0;
    this.#length = 0;
    this.#ascending = true;
    this.#plainA = 0;
    this.#plainB = 0;
    this.orderA = 0;
    this.orderB = 0;
  }

  toArray(): number[] {
    return Array.from({ length: this.#length }, (_, index) => this.at(index));
  }

  clone(): IdQueue {
    const copy = new IdQueue(this.#field);
    copy.#ring = this.#ring.slice();
    copy.#mask = this.#mask;
    copy.#head = this.#head;
    copy.#length = this.#length;
    copy.#ascending = this.#ascending;
    copy.#plainA = this.#plainA;
    copy.#plainB = this.#plainB;
    copy.orderA = this.orderA;
    copy.orderB = this.orderB;
    return copy;
  }

  #grow(): void {
    const ring = new Int32Array((this.#mask + 1) * 2);
    for (let i = 0; i < this.#length; i++) ring[i] = this.at(i);
    this.#ring = ring;
    this.#mask = ring.length - 1;
    this.#head = 0;
  }
}
