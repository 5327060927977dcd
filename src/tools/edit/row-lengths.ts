// How long the rows of requests are, as the trace was answered and as it is answered now. Where a match finds less, or a
// take is refused that was granted, what follows speaks of other positions: they move by the difference.
import type { Answer, Operation } from "../../base/operations.js";
import { growthOf, withPositions } from "../shrink/arguments.js";

/** @internal */
export class RowLengths {
  readonly #before = new Lengths();
  readonly #now = new Lengths();

  /** The operation with the positions that its requests have now. */
  placed<O extends Operation>(operation: O): O {
    return withPositions(operation, (req, position) => {
      const [before, now] = [this.#before.of(req), this.#now.of(req)];
      if (position === 0 || before === now) return position; // a row's beginning is its beginning
      return Math.max(0, position + now - before);
    });
  }

  /** An operation as it stood and was answered, and as it was asked (null: not at all) and answered now. */
  note(
    before: { readonly operation: Operation; readonly answer: Answer },
    now: { readonly operation: Operation; readonly answer: Answer } | null,
  ): void {
    this.#before.note(before.operation, before.answer);
    if (now !== null) this.#now.note(now.operation, now.answer);
  }
}

/** Of open requests, and of copies of those that gave way. */
class Lengths {
  readonly #rows = new Map<string, number>();
  readonly #copies = new Map<string, number>();

  of(req: string): number {
    return this.#rows.get(req) ?? 0;
  }

  note(operation: Operation, { ok }: Answer): void {
    if (ok === undefined) return;
    for (const { req, to } of growthOf(operation)) this.#rows.set(req, to);
    switch (operation.op) {
      case "tree.match": {
        const { req } = operation.args;
        const { len } = ok as { readonly len: number }; // of a match
        if (req !== undefined) this.#rows.set(req, len);
        return;
      }
      case "tokens.free": {
        const { req, from, to, bands } = operation.args;
        if (bands === "all" && to >= this.of(req)) this.#rows.set(req, from);
        return;
      }
      case "request.retract": {
        const { req, backup } = operation.args;
        if (backup !== undefined) this.#copies.set(backup, this.of(req));
        this.#rows.delete(req);
        return;
      }
      case "request.restore": {
        const { req, copy } = operation.args;
        this.#rows.set(req, this.#copies.get(copy) ?? 0);
        this.#copies.delete(copy);
        return;
      }
      case "request.finish":
      case "row.free":
        this.#rows.delete(operation.args.req);
        return;
      default:
    }
  }
}
