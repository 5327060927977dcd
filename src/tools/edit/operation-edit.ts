// What an edit makes of the operations of one run, one by one and in order.
import type { Operation } from "../../base/operations.js";
import type { OpLine } from "../../trace/lines.js";
import { namesOf } from "../../trace/open-names.js";
import type { RunWords } from "../../trace/run-words.js";
import { withoutNames } from "../shrink/arguments.js";
import { Follower } from "../shrink/follower.js";
import type { Chosen } from "./filters.js";
import type { Substitutions } from "./substitutions.js";

/** Operations `[from, to)`, by their number in the trace as it was. @public */
export interface Range {
  readonly from: number;
  readonly to: number; // Infinity: to the end
}

/** What an edit asks of operations. @internal */
export interface OperationEdits {
  readonly cut: Range | null;
  readonly kinds: Chosen;
  readonly requests: Chosen;
  readonly substitutions: Substitutions;
}

/** How often. @public */
export interface EditCounts {
  dropped: number; // operations taken away
  changed: number; // operations with other arguments
  stayed: number; // operations that were to go and stay: what is open without them needs them
}

const LASTING: ReadonlySet<string> = new Set(["forward", "copy", "load", "transfer"]);

/** Follows one run. @internal */
export class OperationEdit {
  readonly #edits: OperationEdits;
  readonly #words: RunWords | null;
  readonly #follower = new Follower(true, true);
  readonly counts: EditCounts = { dropped: 0, changed: 0, stayed: 0 };
  hasCut = false; // an operation lies in the range

  constructor(edits: OperationEdits, words: RunWords | null) {
    this.#edits = edits;
    this.#words = words;
  }

  get isChanged(): boolean {
    return this.counts.dropped > 0 || this.counts.changed > 0;
  }

  /** What is left of the next operation, null: nothing. Throws `UsageError` for a value that does not fit. */
  next({ n, op, args, ok }: OpLine): Operation | null {
    const before = { op, args } as Operation; // they stood on one line
    const isWanted = this.#isWanted(n, before);
    const stays = !isWanted && this.#isNeeded(before);
    if (stays) this.counts.stayed += 1;
    const left = this.#follower.follow(
      before,
      isWanted || stays ? this.#changed(n, before) : null,
      ok !== undefined,
    );
    const ended = left === null ? this.#ended(before) : left;
    if (ended === null) this.counts.dropped += 1;
    else if (ended !== before) this.counts.changed += 1;
    return ended;
  }

  /** In place of a bind whose request is gone: the load, which nobody can bind any more, is given up. */
  #ended(before: Operation): Operation | null {
    if (before.op !== "host.load_bind") return null;
    const { load } = before.args;
    if (!this.#follower.isOpen(load)) return null;
    const cancel: Operation = { op: "host.load_cancel", args: { load } };
    return this.#follower.follow(cancel, cancel);
  }

  #isWanted(n: number, { op }: Operation): boolean {
    const { cut, kinds } = this.#edits;
    const isCut = cut !== null && n >= cut.from && n < cut.to;
    this.hasCut ||= isCut;
    return kinds.keeps(op) && !isCut;
  }

  /** Whether something that is open goes on or ends with it: without it that would stay half done for ever. */
  #isNeeded(operation: Operation): boolean {
    if (operation.op === "boot") return true;
    if (this.#follower.endsPair(operation)) return true;
    return namesOf(operation).some(({ kind, role, name }) => {
      if (!this.#follower.isOpen(name)) return false;
      // how long a row is that takes its prefix from the tree, only the answer tells
      const isMatch = operation.op === "tree.match" && kind === "request";
      return role === "closes" || isMatch || (role === "uses" && LASTING.has(kind));
    });
  }

  #changed(n: number, before: Operation): Operation | null {
    const { requests, substitutions } = this.#edits;
    const changed = substitutions.operation(n, before, this.#words);
    if (requests.isEmpty) return changed;
    return withoutNames(
      changed,
      (name, _role, kind) => kind === "request" && !requests.keeps(name),
    );
  }
}
