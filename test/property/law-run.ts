// One seeded run under all laws, on the allocator with the model device beside it.
//
// How law 6 is read. `hostread` is the host reading device state; none may stand behind a stream wait, or the host would
// be parked until a forward ends. `hostwait` waits for a transfer's engine, which runs outside every stream: the stated
// order of effects puts it behind the settling waits and before everything that touches a page, so that is checked.
import { expect } from "vitest";
import type { Effect } from "../../src/base/effects.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import type { BandState, State } from "../../src/base/state.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import {
  seededWorkload,
  type SeededOptions,
  type SeededWorkload,
} from "../../src/workload/seeded.js";
import type { Counts } from "./sweep.js";
import { Truth } from "./truth.js";

const COPY_EVERY = 11; // operations
const TWIN_LENGTH = 40; // operations that a run goes on from a state beside the original
const TWIN_EVERY = 120; // operations

/** What a run did, for laws that compare runs. */
export interface RunRecord {
  readonly lines: readonly string[]; // operation, answer and digest as text
  readonly steps: readonly (readonly [KvOperation, Answer])[];
  readonly config: DirectConfig;
}

/** Whether an operation changes nothing by what it is. */
export function isQuestion({ op }: KvOperation): boolean {
  return op.startsWith("ask.") || op === "check.idle" || op === "admit.pass";
}

/** Runs one seed to its end under all laws and adds up what happened. */
export function runUnderLaws(options: SeededOptions, counts: Counts): RunRecord {
  return new LawRun(seededWorkload(options), counts).run();
}

class LawRun {
  readonly #workload: SeededWorkload;
  readonly #counts: Counts;
  readonly #storage: KVStorage;
  readonly #lines: string[] = [];
  readonly #steps: [KvOperation, Answer][] = [];
  readonly #started: DirectConfig;
  readonly #twinAt: number; // where in every TWIN_EVERY operations a copy begins
  #config: DirectConfig; // with the arena as it was last resized
  #boot: BootOk | null = null;
  #bootState: State | null = null;
  #state: State; // after the last operation
  readonly #device = new ModelDevice({ verify: "touched" });
  #twin: { readonly storage: KVStorage; readonly until: number } | null = null;
  #operation: KvOperation = { op: "boot", args: {} }; // under way

  constructor(workload: SeededWorkload, counts: Counts) {
    this.#workload = workload;
    const { source } = workload;
    this.#twinAt = source.type === "seed" ? (source.seed * 37) % TWIN_EVERY : 0;
    this.#counts = counts;
    this.#started = workload.config as DirectConfig;
    this.#config = this.#started;
    this.#storage = new KVStorage(workload.config, { digestDepth: "deep" });
    this.#state = this.#storage.state();
  }

  run(): RunRecord {
    const workload = this.#workload;
    let answer: Answer | null = null;
    for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
      if (!("operation" in step)) continue;
      answer = this.#step(step.operation as KvOperation);
    }
    expect(this.#device.verifyAll()?.message ?? null, workload.run).toBeNull();
    expectDrained(this.#config, this.#state, this.#bootState!, workload.run);
    return { lines: this.#lines, steps: this.#steps, config: this.#started };
  }

  #step(operation: KvOperation): Answer {
    const n = this.#lines.length;
    this.#operation = operation;
    const before = this.#state;
    const answer = this.#storage.apply(operation);
    this.#count("operations");
    this.#followGeometry(operation, answer);
    this.#followDevice(operation, answer);
    const digest = this.#storage.takeDigest();
    this.#state = this.#storage.state();
    this.#expectContract(answer);
    if (answer.err !== undefined || isQuestion(operation)) {
      if (digest !== undefined) this.#fail("law 1, digest", digest);
      if (answer.fx !== undefined) this.#fail("law 1, effects", answer.fx);
      const [old, now] = [contentOf(before), contentOf(this.#state)];
      if (old !== now) expect(now, this.#where("law 1, state")).toBe(old);
    }
    if (operation.op === "ask.fits" || operation.op === "ask.plan")
      this.#expectTruth(before, operation, answer);
    if (answer.err?.code === "refused_capacity") this.#expectRefusal(answer);
    this.#expectOrder(answer.fx ?? []);
    this.#expectBooks();
    this.#followTwin(operation, answer, n);
    this.#countAnswer(operation, answer);
    this.#lines.push(JSON.stringify([operation, answer, digest]));
    this.#steps.push([operation, answer]);
    return answer;
  }

  /** Which law, run and operation. */
  #where(law: string): string {
    const { source, run } = this.#workload;
    const weights = source.type === "seed" ? source.weights : "";
    const n = String(this.#lines.length);
    return `${law}: ${weights} ${run} operation ${n} ${JSON.stringify(this.#operation)}`;
  }
  #fail(law: string, found: unknown): never {
    expect.fail(`${this.#where(law)}: ${JSON.stringify(found)}`);
  }

  #followGeometry(operation: KvOperation, answer: Answer): void {
    if (answer.ok === undefined) return;
    if (operation.op !== "boot" && operation.op !== "arena.resize") return;
    // both answer the geometry
    this.#boot = answer.ok as BootOk;
    if (operation.op === "arena.resize")
      this.#config = { ...this.#config, arena_bytes: operation.args.arena_bytes };
    this.#bootState = this.#storage.state();
    if (operation.op === "boot") this.#device.open(this.#config, this.#boot);
  }

  #followDevice(operation: KvOperation, answer: Answer): void {
    const violation = this.#device.apply(operation, answer);
    if (violation !== null) this.#fail("device", violation);
  }

  /** What the generator means to be legal is; what it means to break is refused by the rule that it says. */
  #expectContract(answer: Answer): void {
    const rule = answer.err?.code === "invalid" ? answer.err.rule : null;
    if (rule !== this.#workload.brokenRule || answer.err?.code === "unsupported")
      this.#fail(`contract, expected ${String(this.#workload.brokenRule)}`, answer);
  }

  /** Law 2: an answer about a demand is what its take does on a copy. */
  #expectTruth(before: State, operation: KvOperation, answer: Answer): void {
    const boot = this.#boot!;
    this.#count("questions");
    const { demand } = operation.args as { demand: Record<string, number> };
    const truth = new Truth(this.#config, boot, before);
    const vector = Object.keys(boot.bands).map((name) => demand[name] ?? 0);
    const tried = truth.take(vector);
    const said =
      operation.op === "ask.fits"
        ? (answer.ok as { fits: boolean }).fits
        : (answer.ok as { step: string }).step !== "none";
    if ((tried !== null) !== said) this.#fail("law 2", [answer, tried]);
    if (operation.op === "ask.plan" && said && (answer.ok as { step: string }).step !== tried)
      this.#fail("law 2, step", [answer, tried]);
    if (said) this.#count("yes");
    // Where counts decide, a no means that no layout exists at all; a yes by moving means that one does.
    if (!countsDecide(before, Object.keys(boot.bands)) || tried === "no_move") return;
    if (truth.packs(vector) !== said) this.#fail("law 2, layouts", answer);
  }

  /** A refused take would not fit, says the question too. */
  #expectRefusal(answer: Answer): void {
    const args = { demand: answer.err?.demand ?? {} };
    // Stages fold every question, so they are asked on a copy.
    const asked = this.#hasStages ? this.#storage.clone() : this.#storage;
    const { ok } = asked.apply({ op: "ask.fits", args });
    if ((ok as { fits: boolean }).fits) this.#fail("law 2, refusal", answer);
  }

  /** Law 4: every page of every band is accounted for, and no two bands share a byte. */
  #expectBooks(): void {
    const idle = this.#storage.apply({ op: "check.idle", args: {} });
    const { violations } = idle.ok as { violations: unknown[] };
    if (violations.length > 0) this.#fail("law 4", violations);
    if (this.#lines.length % COPY_EVERY !== 0) return;
    const copy = this.#storage.clone();
    expect(copy.endDigest(), this.#where("a copy")).toBe(this.#storage.endDigest());
    expect(contentOf(copy.state()), this.#where("a copy")).toBe(contentOf(this.#state));
  }

  /** Now and then the run goes on a second time from a written state, beside the original. */
  #followTwin(operation: KvOperation, answer: Answer, n: number): void {
    if (this.#twin !== null) {
      const { storage, until } = this.#twin;
      const again = storage.apply(operation);
      const where = this.#where("from a state");
      expect(JSON.stringify(again), where).toBe(JSON.stringify(answer));
      expect(storage.endDigest(), where).toBe(this.#storage.endDigest());
      if (n >= until) this.#twin = null;
    }
    if (this.#twin !== null || n % TWIN_EVERY !== this.#twinAt) return;
    const written = JSON.stringify(this.#storage.state());
    const storage = new KVStorage(this.#config, { digestDepth: "deep" });
    storage.load(JSON.parse(written) as State);
    this.#twin = { storage, until: n + TWIN_LENGTH };
  }

  /** Law 6. */
  #expectOrder(fx: readonly Effect[]): void {
    let waited = false;
    let touched = false;
    for (const [kind] of fx) {
      if (kind === "hostread" && (waited || touched)) this.#fail("law 6, host read", fx);
      if (kind === "hostwait" && touched) this.#fail("law 6, host wait", fx);
      if (kind === "wait") waited = true;
      if (TOUCHING.includes(kind)) touched = true;
    }
  }

  get #hasStages(): boolean {
    return (this.#state.forwards["x_more"] as { stages: object | null }).stages !== null;
  }

  #count(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }

  #countAnswer(operation: KvOperation, answer: Answer): void {
    const { err, ok, fx } = answer;
    if (err !== undefined) this.#count(err.code === "invalid" ? "invalid" : "refusals");
    if (err?.code === "deadline") this.#count("deadlines");
    if (err?.code === "checkpoint_stalled") this.#count("checkpoint_stalls");
    const isTake = !isQuestion(operation) && (ok as { step?: string } | undefined)?.step;
    if (typeof isTake === "string") {
      this.#count("takes");
      if (isTake !== "no_move") this.#count("above_no_move");
      if (isTake === "relayout") this.#count("relayout");
    }
    for (const effect of fx ?? []) {
      if (effect[0] === "hostwait") this.#count("hostwaits");
      if (effect[0] === "move") this.#count("moves");
    }
    if (hasPending(this.#state, Object.keys(this.#boot?.bands ?? {}))) this.#count("with_pending");
    if (ok === undefined) return;
    if (operation.op === "tree.match" && (ok as { len: number }).len > 0) this.#count("hits");
    if (operation.op === "tree.evict" && Object.keys((ok as { freed: object }).freed).length > 0)
      this.#count("evictions");
    if (operation.op === "host.load_submit" || operation.op === "request.restore")
      this.#count("loads");
    if (operation.op === "host.backup") this.#count("backups");
    if (operation.op === "net.stall") this.#count("stalls");
    if (operation.op === "state.donate") this.#count("donations");
  }
}

/** What an operation may change: a state without the count of operations, the remark that was made once, and the
 * stages' fold of questions. */
function contentOf(state: State): string {
  const more = state.forwards["x_more"] as Record<string, unknown>;
  const { clock: _clock, told_estimates: _told, stages, ...rest } = more;
  const x_more = { ...rest, stages: stages !== null };
  return JSON.stringify({ ...state, forwards: { ...state.forwards, x_more } });
}

function hasPending(state: State, bands: readonly string[]): boolean {
  return bands.some((band) => (state[band] as BandState).pending.length > 0);
}

/** Whether counts of pages alone tell which layouts there are: no stages, nothing fixed, no transfer. */
function countsDecide(state: State, bands: readonly string[]): boolean {
  const { stages } = state.forwards["x_more"] as { readonly stages: object | null };
  const transfers = state.net["transfers"] ?? {};
  return (
    stages === null &&
    Object.keys(transfers).length === 0 &&
    bands.every((band) => (state[band] as BandState).fixed.length === 0)
  );
}

const TOUCHING: readonly Effect[0][] = ["move", "copy", "zero", "forward", "hostcopy", "net"];

/** Law 7: nothing pending, no ledger record, and after two flushes the boot state but for the order of free ids. */
function expectDrained(config: DirectConfig, state: State, boot: State, run: string): void {
  expect(state.ledger, run).toEqual([]);
  expect(state.rows, run).toEqual({});
  expect(state.forwards.unprocessed, run).toEqual([]);
  expect(state.chain.fences, run).toEqual([]);
  expect(state.tree, run).toEqual([]);
  expect(idsSorted(logical(state.host)), `${run} host`).toEqual(idsSorted(logical(boot.host)));
  expect(logical(state.net), `${run} net`).toEqual(logical(boot.net));
  for (const pool of config.sub_pools) {
    const band = state[pool.name] as BandState;
    const first = boot[pool.name] as BandState;
    expect({ ...band, free_ids: [] }, `${run} ${pool.name}`).toEqual({ ...first, free_ids: [] });
    expect(sorted(band.free_ids), run).toEqual(sorted(first.free_ids));
  }
}

/** A component without extensions: counts and names of the past. */
function logical(component: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(component).filter(([key]) => !key.startsWith("x_")));
}

function sorted(extents: BandState["free_ids"]): number[] {
  return extents
    .flatMap(([id, n]) => Array.from({ length: Math.abs(n) }, (_, i) => id + (n < 0 ? -i : i)))
    .sort((a, b) => a - b);
}

/** Every list of extents as its ids in order. */
function idsSorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isExtents = value.every((each) => Array.isArray(each) && each.length === 2);
    return isExtents ? sorted(value as BandState["free_ids"]) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, idsSorted(each)]));
}
