// What a device with bytes has yet to be told, id by id. One operation may bind thousands of ids: flat tables, no sets.

// What is noted of an id.
/** @internal */
export const PLACED = 1; // its place is to be told
/** @internal */
export const RENEWED = 2; // and that nothing is expected in it any more
/** @internal */
export const CHANGED = 4; // what is expected in it is to be told
/** @internal */
export const DIRTY = 8; // its bytes may differ from what was last looked at

/** What one band has yet to tell: flat tables by id, and the ids in the order in which they came. @internal */
export class Gathered {
  readonly flags: Uint8Array;
  readonly places: Int32Array; // page, 0 = none
  readonly placed: number[] = [];
  readonly changed: number[] = [];
  readonly dirty: number[] = [];

  constructor(ids: number) {
    this.flags = new Uint8Array(ids);
    this.places = new Int32Array(ids);
  }

  place(id: number, page: number): void {
    this.places[id] = page;
    if (!this.#set(id, PLACED)) this.placed.push(id);
    if (!this.#set(id, DIRTY)) this.dirty.push(id);
  }
  change(id: number): void {
    if (!this.#set(id, CHANGED)) this.changed.push(id);
    if (!this.#set(id, DIRTY)) this.dirty.push(id);
  }
  write(id: number): void {
    if (!this.#set(id, DIRTY)) this.dirty.push(id);
  }
  /** Nothing that was expected counts any more. */
  renew(id: number): void {
    this.flags[id] = (this.flags[id]! | RENEWED) & ~CHANGED; // a known id, as below
  }
  forget(id: number): void {
    this.flags[id] = this.flags[id]! & ~CHANGED;
  }
  has(id: number, flag: number): boolean {
    return (this.flags[id]! & flag) !== 0;
  }
  clear(ids: number[], flag: number): void {
    for (const id of ids) this.flags[id] = this.flags[id]! & ~flag;
    ids.length = 0;
  }

  /** Sets a flag; whether it was set already. */
  #set(id: number, flag: number): boolean {
    const before = this.flags[id]!;
    this.flags[id] = before | flag;
    return (before & flag) !== 0;
  }
}
