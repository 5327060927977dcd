// Mode `quiescent`: in between the sides may do what they like; at every point where nothing is under way (no forward,
// host copy, load or transfer, no open group) their states must be the same, by the digests of all components.
import type { Answer, Operation } from "../../base/operations.js";
import type { NameKind } from "../../trace/fields.js";
import { changesNames, namesOf } from "../../trace/open-names.js";
import type { AnsweredLine } from "../answered-line.js";
import { DigestPair } from "../digests.js";
import type { FieldDifference } from "../outcome.js";
import type { Equality, PartsHolder } from "./equality.js";

const UNDER_WAY: ReadonlySet<NameKind> = new Set(["forward", "copy", "load"]);

/** @internal */
export class QuiescentEquality implements Equality {
  readonly mode = "quiescent";
  looked = 0;
  readonly #of: PartsHolder;
  readonly #digests = new DigestPair();
  readonly #base = new Activity();
  #candidate = this.#base; // one while both sides answered alike

  constructor(of: PartsHolder) {
    this.#of = of;
  }

  differences(line: AnsweredLine, candidate: Answer): readonly FieldDifference[] {
    this.#digests.agree(line.digest, candidate.digest);
    const isOne = this.#candidate === this.#base;
    if (isOne && line.ok !== candidate.ok) this.#candidate = this.#base.copy();
    this.#base.note(line, line);
    if (this.#candidate !== this.#base) this.#candidate.note(line, candidate);
    if (!this.#of.parts.digest || !this.#base.isQuiet || !this.#candidate.isQuiet) return [];
    this.looked += 1;
    return this.#digests.differences().map(({ component, base, candidate: other }) => ({
      path: `/digest/${component}`,
      base: base ?? undefined,
      candidate: other ?? undefined,
    }));
  }
}

/** What one side has under way, from the operations that were granted. */
class Activity {
  readonly #open = new Set<string>(); // forwards, copies, loads
  readonly #transfers = new Map<string, { isSend: boolean; writers: Set<string> }>();
  #isGrouped = false;

  get isQuiet(): boolean {
    return this.#open.size === 0 && this.#transfers.size === 0 && !this.#isGrouped;
  }

  copy(): Activity {
    const other = new Activity();
    for (const name of this.#open) other.#open.add(name);
    for (const [name, { isSend, writers }] of this.#transfers)
      other.#transfers.set(name, { isSend, writers: new Set(writers) });
    other.#isGrouped = this.#isGrouped;
    return other;
  }

  note({ op, args }: AnsweredLine, answer: Answer): void {
    if (answer.ok === undefined) return;
    const operation = { op, args } as Operation; // they stood on one line
    for (const { kind, role, name } of changesNames(op) ? namesOf(operation) : []) {
      if (!UNDER_WAY.has(kind)) continue;
      if (role === "opens") this.#open.add(name);
      else if (role === "closes") this.#open.delete(name);
    }
    switch (operation.op) {
      case "group.begin":
      case "group.end":
        this.#isGrouped = operation.op === "group.begin";
        break;
      case "request.restore": // the copy runs again, the other way
        this.#open.add(operation.args.copy);
        break;
      case "net.send":
      case "net.receive": {
        const { transfer, writers } = operation.args;
        const isSend = operation.op === "net.send";
        this.#transfers.set(transfer, { isSend, writers: new Set(writers) });
        break;
      }
      case "net.end":
        this.#endTransfer(operation.args);
        break;
      default:
        break;
    }
    for (const name of endedBy(answer)) this.#transfers.delete(name);
  }

  /** Over with the last writer, at a timeout, or for a send at its first failure. */
  #endTransfer(args: {
    readonly transfer: string;
    readonly writer?: string;
    readonly outcome: string;
  }): void {
    const found = this.#transfers.get(args.transfer);
    if (found === undefined) return;
    if (args.writer !== undefined) found.writers.delete(args.writer);
    const isCutShort = args.outcome === "timeout" || (found.isSend && args.outcome === "failed");
    const isLast = args.writer === undefined || found.writers.size === 0;
    if (isCutShort || isLast) this.#transfers.delete(args.transfer);
  }
}

// Transfers that an operation ended by itself.
function endedBy({ ok }: Answer): readonly string[] {
  const { ended } = ok as { readonly ended?: { readonly transfers: readonly string[] } };
  return ended?.transfers ?? [];
}
