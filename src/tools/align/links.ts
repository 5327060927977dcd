// Which life of the left corresponds to which of the right, as far as the alignment has come; and which operations are
// paired.
import type { Forms } from "./forms.js";

/** A state of the walk over two sides. @internal */
export class Links {
  readonly left: Forms;
  readonly right: Forms;
  readonly pairOfLeft: Int32Array; // index on the other side, -1: none
  readonly pairOfRight: Int32Array;
  readonly isChanged: Uint8Array; // by left index: paired, but with other arguments
  readonly #lifeOfLeft: Int32Array;
  readonly #lifeOfRight: Int32Array;

  constructor(left: Forms, right: Forms) {
    this.left = left;
    this.right = right;
    this.pairOfLeft = new Int32Array(left.forms.length).fill(-1);
    this.pairOfRight = new Int32Array(right.forms.length).fill(-1);
    this.isChanged = new Uint8Array(left.forms.length);
    this.#lifeOfLeft = new Int32Array(left.lives.length).fill(-1);
    this.#lifeOfRight = new Int32Array(right.lives.length).fill(-1);
    this.#linkOuter();
  }

  /** The life that corresponds to one of the left, -1: none yet. */
  partner(leftLife: number): number {
    return this.#lifeOfLeft[leftLife] ?? -1;
  }

  /** Whether the right's life has a partner. */
  isTaken(rightLife: number): boolean {
    return this.#lifeOfRight[rightLife] !== -1;
  }

  link(leftLife: number, rightLife: number): void {
    this.#lifeOfLeft[leftLife] = rightLife;
    this.#lifeOfRight[rightLife] = leftLife;
  }

  /** Whether two operations are the same after renaming: equal shapes, corresponding names. */
  isSame(i: number, j: number): boolean {
    const [left, right] = [this.left.forms[i], this.right.forms[j]];
    if (left === undefined || right === undefined || left.shape !== right.shape) return false;
    return left.lives.every((life, at) => this.#corresponds(i, life, j, right.lives[at] ?? -1));
  }

  /** Pairs two operations; the lives that they open correspond from now on. */
  pair(i: number, j: number, isChanged: boolean): void {
    this.pairOfLeft[i] = j;
    this.pairOfRight[j] = i;
    if (isChanged) this.isChanged[i] = 1;
    this.linkOpened(i, j);
  }

  /** The lives that two operations open correspond, as far as both open one at the same place. */
  linkOpened(i: number, j: number): void {
    const [left, right] = [this.left.forms[i], this.right.forms[j]];
    if (left === undefined || right === undefined) return;
    for (const [at, life] of left.lives.entries()) {
      const other = right.lives[at];
      if (other === undefined || this.partner(life) >= 0 || this.isTaken(other)) continue;
      if (this.left.lives[life]?.opener === i && this.right.lives[other]?.opener === j) {
        this.link(life, other);
      }
    }
  }

  #corresponds(i: number, leftLife: number, j: number, rightLife: number): boolean {
    const partner = this.partner(leftLife);
    if (partner >= 0) return partner === rightLife;
    if (rightLife < 0 || this.isTaken(rightLife)) return false;
    // opened here on both sides
    return this.left.lives[leftLife]?.opener === i && this.right.lives[rightLife]?.opener === j;
  }

  // Everything before the first operation was the same on both sides, names included.
  #linkOuter(): void {
    const outer = new Map<string, number>();
    for (const [life, { kind, name, opener }] of this.right.lives.entries()) {
      if (opener < 0) outer.set(`${kind} ${name}`, life);
    }
    for (const [life, { kind, name, opener }] of this.left.lives.entries()) {
      const other = opener < 0 ? outer.get(`${kind} ${name}`) : undefined;
      if (other !== undefined) this.link(life, other);
    }
  }
}
