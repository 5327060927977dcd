// What a scenario has open, seen from its operations and answers, and the operations that end all of it. Also the two
// looks at a state: whether it is quiescent, and whether a drained one is back where it was at boot.
import type {
  Answer,
  EndedTransfers,
  Extents,
  Key,
  KvArgs,
  KvOperation,
  Operation,
} from "../base/operations.js";
import { expand, expandHost } from "../base/extents.js";
import type { BandState, State } from "../base/state.js";
import { FIXED_COMPONENTS } from "../base/operations.js";
import type { Mismatch } from "./scenario-match.js";

interface OpenForward {
  readonly name: string;
  readonly prebuilt: boolean;
  recorded: boolean;
}
interface OpenLock {
  readonly key: Key;
  readonly len: number; // tokens
  readonly req: string;
}

interface OpenTransfer {
  readonly isSend: boolean;
  readonly writers: Set<string>; // that have yet to end
}
/** The only writer of a transfer that was given none. */
const ANY_WRITER = "";

/** Follows what is open. @internal */
export class OpenThings {
  readonly #lengths = new Map<string, number>(); // open request → allocated tokens
  readonly #forwards: OpenForward[] = []; // unprocessed, launch order
  readonly #backups = new Set<string>(); // copies
  readonly #loading = new Set<string>(); // copies
  readonly #loads = new Set<string>(); // reserved, not submitted
  readonly #retracting = new Set<string>(); // copies out of retracted requests
  readonly #kept = new Set<string>(); // those copies, once they are complete
  readonly #restoring = new Set<string>(); // copies back into their rows
  readonly #transfers = new Map<string, OpenTransfer>();
  #locks: OpenLock[] = [];
  #usesTree = false;
  #isGroupOpen = false;

  /** Learns what an operation did; a refusal did nothing. */
  learn(operation: Operation, answer: Answer): void {
    if (answer.ok === undefined) return;
    // A wait of the host and the end of its request end a transfer, too.
    const { ended } = answer.ok as { readonly ended?: EndedTransfers };
    for (const name of ended?.transfers ?? []) this.#transfers.delete(name);
    this.#usesTree ||=
      operation.op === "tree.insert" ||
      (operation.op === "request.finish" && operation.args.insert);
    switch (operation.op) {
      case "row.alloc":
        for (const name of operation.args.reqs) this.#lengths.set(name, 0);
        break;
      case "row.free":
        this.#lengths.delete(operation.args.req);
        break;
      case "request.finish":
        this.#close(operation.args.req);
        break;
      case "request.retract":
        this.#close(operation.args.req);
        if (operation.args.backup !== undefined) this.#retracting.add(operation.args.backup);
        break;
      case "request.restore":
        this.#lengths.set(operation.args.req, 0);
        this.#kept.delete(operation.args.copy);
        this.#restoring.add(operation.args.copy);
        break;
      case "tokens.extend":
        for (const { req, to } of operation.args.batch) this.#lengths.set(req, to);
        break;
      case "tokens.decode":
        for (const { req, len } of operation.args.batch) this.#lengths.set(req, len);
        break;
      case "group.begin":
        this.#isGroupOpen = true;
        break;
      case "group.end":
        this.#isGroupOpen = false;
        break;
      default:
        this.#learnForward(operation);
        this.#learnOutside(operation);
    }
  }

  #learnForward(operation: Operation): void {
    if (operation.op === "forward.launch") {
      const { step, mode } = operation.args;
      this.#forwards.push({ name: step, prebuilt: mode === "prebuilt", recorded: false });
    } else if (operation.op === "forward.record") {
      const forward = this.#forwards.find((each) => each.name === operation.args.step);
      if (forward !== undefined) forward.recorded = true;
    } else if (operation.op === "forward.process") {
      const index = this.#forwards.findIndex((each) => each.name === operation.args.step);
      if (index >= 0) this.#forwards.splice(index, 1);
    }
  }

  #learnOutside(operation: Operation): void {
    switch (operation.op) {
      case "host.backup":
        this.#backups.add(operation.args.copy);
        break;
      case "host.backup_done":
        this.#endBackup(operation.args);
        break;
      case "host.load_reserve":
        this.#loads.add(operation.args.load);
        break;
      case "host.load_cancel":
        this.#loads.delete(operation.args.load);
        break;
      case "host.load_submit":
        this.#loads.delete(operation.args.load);
        this.#loading.add(operation.args.copy);
        break;
      case "host.load_done":
        this.#endLoad(operation.args);
        break;
      case "net.send":
      case "net.receive":
        this.#transfers.set(operation.args.transfer, {
          isSend: operation.op === "net.send",
          writers: new Set(operation.args.writers ?? [ANY_WRITER]),
        });
        break;
      case "net.end":
        this.#endTransfer(operation.args);
        break;
      case "tree.lock":
        this.#locks.push(operation.args);
        break;
      case "tree.unlock":
        this.#dropLock(operation.args);
        break;
      default:
    }
  }

  /** The end of a request undoes every lock under its name. */
  #close(req: string): void {
    this.#lengths.delete(req);
    this.#locks = this.#locks.filter((lock) => lock.req !== req);
  }

  #dropLock({ key, len, req }: OpenLock): void {
    const text = JSON.stringify(key);
    const index = this.#locks.findIndex(
      (lock) => lock.req === req && lock.len === len && JSON.stringify(lock.key) === text,
    );
    if (index >= 0) this.#locks.splice(index, 1);
  }

  #endBackup({ copy, outcome }: KvArgs["host.backup_done"]): void {
    this.#backups.delete(copy);
    if (this.#retracting.delete(copy) && outcome === "ok") this.#kept.add(copy);
  }

  #endLoad({ copy, outcome }: KvArgs["host.load_done"]): void {
    this.#loading.delete(copy);
    if (this.#restoring.delete(copy) && outcome === "failed") this.#kept.add(copy);
  }

  #endTransfer({ transfer, writer, outcome }: KvArgs["net.end"]): void {
    const open = this.#transfers.get(transfer);
    if (open === undefined) return;
    // An end that comes a second time is late and ends nothing.
    if (!open.writers.delete(writer ?? ANY_WRITER) && outcome !== "timeout") return;
    const isOver =
      outcome === "timeout" || open.writers.size === 0 || (open.isSend && outcome === "failed");
    if (isOver) this.#transfers.delete(transfer);
  }

  get #outgoing(): readonly string[] {
    return [...this.#backups, ...this.#retracting];
  }
  get #incoming(): readonly string[] {
    return [...this.#loading, ...this.#restoring];
  }

  /** What keeps the run from being quiescent, as words; empty where nothing does. */
  unsettled(): string[] {
    const words = this.#forwards.map((forward) => `forward ${forward.name}`);
    if (this.#isGroupOpen) words.push("an open group");
    for (const copy of [...this.#outgoing, ...this.#incoming]) words.push(`copy ${copy}`);
    for (const load of this.#loads) words.push(`load ${load}`);
    for (const transfer of this.#transfers.keys()) words.push(`transfer ${transfer}`);
    return words;
  }

  /** Operations that end and free everything, flush twice and look for leaks. */
  drainOperations(): KvOperation[] {
    const list: KvOperation[] = [];
    for (const forward of this.#forwards) {
      if (forward.recorded || forward.prebuilt) continue;
      list.push({ op: "forward.record", args: { step: forward.name, writes: "known" } });
    }
    if (this.#isGroupOpen) list.push({ op: "group.end", args: {} });
    for (const load of this.#loads) list.push({ op: "host.load_cancel", args: { load } });
    for (const copy of this.#outgoing)
      list.push({ op: "host.backup_done", args: { copy, outcome: "ok" } });
    for (const copy of this.#incoming)
      list.push({ op: "host.load_done", args: { copy, outcome: "ok" } });
    // A timeout ends a transfer whatever its writers did.
    for (const transfer of this.#transfers.keys())
      list.push({ op: "net.end", args: { transfer, outcome: "timeout" } });
    for (const forward of this.#forwards)
      list.push({ op: "forward.process", args: { step: forward.name } });
    for (const { key, len, req } of this.#locks) {
      if (!this.#lengths.has(req)) list.push({ op: "tree.unlock", args: { key, len, req } });
    }
    for (const [req, len] of this.#lengths)
      list.push({ op: "request.finish", args: { req, len, insert: false } });
    const isKept = this.#kept.size + this.#retracting.size > 0;
    if (this.#usesTree || isKept) list.push({ op: "contents.discard", args: {} });
    list.push(
      { op: "chain.flush", args: {} },
      { op: "chain.flush", args: {} },
      { op: "check.idle", args: {} },
    );
    return list;
  }
}

/** Names of the bands of a state, in its own order. */
function bandNames(state: State): string[] {
  const fixed: readonly string[] = FIXED_COMPONENTS;
  return Object.keys(state).filter((key) => !fixed.includes(key) && !key.startsWith("x_"));
}

/** The first thing that keeps a state from being quiescent, null where it is. @internal */
export function firstUnsettled(state: State): Mismatch | null {
  const { unprocessed, open } = state.forwards;
  if (unprocessed.length > 0)
    return { path: "/state/forwards/unprocessed", expected: [], got: unprocessed };
  if (open !== null) return { path: "/state/forwards/open", expected: null, got: open };
  for (const name of bandNames(state)) {
    // every key that is no fixed component is a band
    const band = state[name] as BandState;
    if (band.pending.length > 0)
      return { path: `/state/${name}/pending`, expected: [], got: band.pending };
    if (band.vacated.length > 0)
      return { path: `/state/${name}/vacated`, expected: [], got: band.vacated };
  }
  return null;
}

/** The ledger of a state, where it should hold nothing. @internal */
export function firstLedgerRecord(state: State): Mismatch | null {
  return state.ledger.length === 0
    ? null
    : { path: "/state/ledger", expected: [], got: state.ledger };
}

/**
 * What a drained state lacks of the boot state, null where it is back: spans, live counts, holes, pending, vacated and
 * fixed pages, bindings, the free ids and the free
 * host pages as sets (their order tells of the past). @public
 */
export function differenceFromBoot(boot: State, drained: State): Mismatch | null {
  for (const name of bandNames(boot)) {
    const before = comparable(boot[name] as BandState);
    const after = drained[name] === undefined ? {} : comparable(drained[name] as BandState);
    for (const [field, expected] of Object.entries(before)) {
      const got = after[field];
      if (JSON.stringify(got) !== JSON.stringify(expected))
        return { path: `/state/${name}/${field}`, expected, got };
    }
  }
  const open = Object.keys(drained.rows).filter((key) => !key.startsWith("x_"));
  if (open.length > 0) return { path: "/state/rows", expected: [], got: open };
  return firstHostPage(boot, drained) ?? firstUnsettled(drained) ?? firstLedgerRecord(drained);
}

/** A host pool that lacks pages of its boot, their order left aside; null where all are back or no pools are told. */
function firstHostPage(boot: State, drained: State): Mismatch | null {
  const sorted = (state: State, band: string): readonly number[] => {
    const free = (state.host["free"] ?? {}) as Readonly<Record<string, Extents>>;
    return expandHost(free[band] ?? []).sort((left, right) => left - right);
  };
  for (const band of Object.keys(boot.host["free"] ?? {})) {
    const expected = sorted(boot, band);
    const got = sorted(drained, band);
    if (JSON.stringify(got) !== JSON.stringify(expected))
      return { path: `/state/host/free/${band}`, expected, got };
  }
  return null;
}

function comparable(band: BandState): Record<string, unknown> {
  const { span, live, holes, fixed, bindings } = band;
  const ids = expand(band.free_ids).sort((left, right) => left - right);
  return { span, live, holes, fixed, bindings, free_ids: ids };
}
