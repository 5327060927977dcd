// The order of the effects of one operation: host reads, settling waits, host waits, ends from low to high, floats, the
// waits of the take, zeroing in chain order.
import type { Effect } from "../../base/effects.js";
import type { KvOperationName } from "../../base/operations.js";
import type { Books } from "./books.js";

/** Follows the order of one operation's effects. @internal */
export class OrderCheck {
  readonly #books: Books;
  readonly #op: KvOperationName;
  #hasWaited = false;
  #hasMoved = false;
  #hasZeroed = false;
  #hasStarted = false; // a forward, copy or transfer
  #lastEnd = -1; // chain place of the last end that moved
  #hasMovedFloat = false;
  #lastZeroed = -1; // chain place

  constructor(books: Books, op: KvOperationName) {
    this.#books = books;
    this.#op = op;
  }

  next(effect: Effect): void {
    switch (effect[0]) {
      case "hostread":
        if (this.#hasWaited)
          this.#books.report("order.host_read", `the host reads (${effect[1]}) behind a wait`);
        if (this.#hasMoved || this.#hasZeroed || this.#hasStarted) this.#wrong("hostread");
        if (this.#op === "chain.flush")
          this.#books.report("wait.flush", "a flush reads device state on the host");
        return;
      case "wait":
        if (this.#hasZeroed || this.#hasStarted) this.#wrong(`wait ${effect[1]}`);
        this.#hasWaited = true;
        return;
      case "hostwait":
        if (this.#hasMoved || this.#hasZeroed || this.#hasStarted)
          this.#wrong(`hostwait ${effect[1]}`);
        if (this.#op === "chain.flush")
          this.#books.report("wait.flush", `a flush waits ${effect[1]} on the host`);
        return;
      case "move":
        this.#move(effect[1]);
        return;
      case "zero":
        this.#zero(effect[1]);
        return;
      case "copy":
      case "reset":
      case "event":
      case "barrier":
        if (this.#hasStarted) this.#wrong(effect[0]);
        return;
      case "forward":
      case "hostcopy":
      case "net":
        if (this.#hasStarted) this.#wrong(effect[0]);
        this.#hasStarted = true;
        return;
    }
  }

  #move(name: string): void {
    if (this.#hasZeroed || this.#hasStarted) this.#wrong(`move ${name}`);
    this.#hasMoved = true;
    const band = this.#books.bandNamed(name);
    if (band === undefined) return;
    if (band.grow === "float") this.#hasMovedFloat = true;
    else {
      if (this.#hasMovedFloat || band.index < this.#lastEnd) this.#wrong(`move ${name}`);
      this.#lastEnd = band.index;
    }
  }

  #zero(name: string): void {
    if (this.#hasStarted) this.#wrong(`zero ${name}`);
    this.#hasZeroed = true;
    const place = this.#books.bandNamed(name)?.index ?? -1;
    if (place <= this.#lastZeroed) this.#wrong(`zero ${name}`);
    this.#lastZeroed = place;
  }

  #wrong(what: string): void {
    this.#books.report("order.effects", `${what} stands out of the order of effects`);
  }
}
