// One run under all checks of the stress harness: two ranks of the allocator, the modelled device with its streams, the
// simulated device that follows every operation logically, and the checks that look at states and copies.
import { differenceOf } from "../../base/differences.js";
import { InputError, InternalError } from "../../base/errors.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { Harness, type HarnessFinding } from "../../device/harness/harness.js";
import { deviceProblem } from "../../device/bytes.js";
import type { Device, DeviceViolation } from "../../device/device.js";
import { openDevice } from "../../device/open-device.js";
import { KVStorage } from "../../kv/storage.js";
import { OpenThings } from "../../workload/scenario-drain.js";
import { RunAuditor } from "../audit/auditor.js";
import { type Finding, isSameFailure, type Signature } from "../findings.js";
import { isQuestion } from "../laws.js";
import { falseClaim, falseEviction, isClaim } from "./capacity-truth.js";
import { PeerStages } from "./peer-stages.js";
import { contentOf, leftBehind } from "./state-looks.js";

const RANKS = 2;
/** A state is copied and compared now and then; every question is not. */
const COPY_EVERY = 16; // operations
/** A run goes on a little behind its first finding: other failures met on the way are findings of their own. */
const GOES_ON = 40; // operations
const FINDINGS_MOST = 12;
/** Checks of the modelled and of the simulated device. */
const ON_DEVICE = [
  "lost_write",
  "unordered_overlap",
  "host_read_after_wait",
  "rank_divergence",
  "cross_dtype_bytes",
  "bad_effect",
];

/** Devices that a run can go over. @public */
export type StressDevice = "model" | "host" | "cuda";

/** @public */
export interface StressRunOptions {
  readonly config: DirectConfig;
  /** Draws when each rank sees things complete, and whether barriers wait for the end of the shared reads alone. */
  readonly seed: number;
  /** How many questions are asked before one is tried on a copy: 1 tries all. Default 8. */
  readonly questionsEvery?: number;
  /** The one check whose findings are wanted: what costs time and cannot give them is left out. Default: all. */
  readonly only?: string | null;
  /** What carries the bytes; the others have real streams, whose work is held up as the seed says. Default: model. */
  readonly device?: StressDevice;
}

/** Numbers of a run. @public */
export interface StressCounts {
  operations: number;
  claims: number; // answers about capacity
  tried: number; // of them, tried on a copy
  copies: number; // states written and read back
  quiescent: number; // times that the ledger was looked at with nothing open
  waits: number; // stream waits, all ranks
  elided: number; // of them, those that had nothing to wait for on their rank
  actions: number; // pieces of work on the modelled device
}

/** @internal */
export function noStressCounts(): StressCounts {
  return {
    operations: 0,
    claims: 0,
    tried: 0,
    copies: 0,
    quiescent: 0,
    waits: 0,
    elided: 0,
    actions: 0,
  };
}

/** Applies operations one by one, `boot` first. @internal */
export class StressRun {
  readonly findings: Finding[] = [];
  readonly counts: StressCounts = noStressCounts();
  readonly #seed: number;
  readonly #every: number;
  readonly #only: string | null;
  readonly #copyAt: number;
  readonly #ranks: readonly KVStorage[];
  readonly #open = new OpenThings();
  readonly #stages: PeerStages | null;
  readonly #digests = new Map<string, string>(); // by component, as the answers of rank 0 told
  #config: DirectConfig;
  #boot: BootOk | null = null;
  readonly #deviceKind: StressDevice;
  #device: Device | null = null;
  #harness: Harness | null = null;
  #auditor: RunAuditor | null = null;
  #isBroken = false;
  #isQuiet = true; // nothing was open after the last operation
  #n = 0;

  constructor(options: StressRunOptions) {
    const { config, seed, questionsEvery = 8, only = null, device = "model" } = options;
    this.#deviceKind = device;
    this.#config = config;
    this.#seed = seed;
    this.#every = questionsEvery;
    this.#only = only;
    this.#copyAt = seed % COPY_EVERY;
    this.#stages = this.#wants("stage_divergence") ? new PeerStages(config) : null;
    const isOneEnough = ["audit", "capacity_truth", "digest_drift"].includes(only ?? "");
    this.#ranks = Array.from(
      { length: isOneEnough ? 1 : RANKS },
      () => new KVStorage(config, { digestDepth: "deep" }),
    );
  }

  /** Whether nothing more can or need be applied: an allocator broke, or the run went on long enough. */
  get isOver(): boolean {
    const first = this.findings[0];
    if (this.#isBroken || this.findings.length >= FINDINGS_MOST) return true;
    return first !== undefined && this.#n > first.n + GOES_ON;
  }

  /** How often decisions reached each `clearance/CONSUMER/HAZARD` and `relief/STEP`. */
  get reached(): ReadonlyMap<string, number> {
    return this.#ranks[0]!.reached(); // there are ranks
  }

  /**
   * Applies the next operation on every rank and checks. Null: an allocator broke, nothing can follow.
   * @param rule - the rule that it breaks on purpose, null where it is legal; left out: not known
   */
  apply(operation: KvOperation, rule?: string | null): Answer | null {
    const isCopied =
      this.#wants("digest_drift", "refused_changed_state") && this.#n % COPY_EVERY === this.#copyAt;
    const before = isCopied && this.#boot !== null ? this.#ranks[0]!.state() : null; // there are ranks
    const answers: Answer[] = [];
    for (const storage of this.#ranks) {
      try {
        answers.push(answerOf(storage, operation));
      } catch (error) {
        if (error instanceof InputError) throw error;
        this.#find(operation, brokeAs(error), null, thrownText(error));
        this.#isBroken = true;
        return null;
      }
    }
    const answer = answers[0]!; // a rank each
    this.counts.operations += 1;
    for (const [component, hex] of Object.entries(answer.digest ?? {}))
      this.#digests.set(component, hex);
    this.#followBoot(operation, answer);
    if (this.#boot !== null) this.#check(operation, answers, before, isCopied);
    if (rule !== undefined) this.#expectRule(operation, answer, rule);
    this.#open.learn(operation, answer);
    if (this.#boot !== null) this.#lookAtLedger(operation);
    this.#n += 1;
    return answer;
  }

  /** Lets everything run and looks once more. */
  end(): void {
    const last: KvOperation = { op: "check.idle", args: {} };
    this.#n = Math.max(this.#n - 1, 0);
    if (this.#harness !== null) {
      for (const found of this.#harness.end()) this.#findOnDevice(last, found);
      Object.assign(this.counts, this.#harness.counts);
    }
    const violation = this.#isBroken ? null : this.#onDevice((device) => device.verifyAll());
    this.#device?.close();
    this.#device = null;
    if (this.#isBroken || this.#boot === null) return;
    if (violation !== null)
      this.#find(last, violation.check, violation.band ?? null, violation.message);
    if (this.#wants("digest_drift")) this.#copy(last);
  }

  #wants(...checks: readonly string[]): boolean {
    return this.#only === null || checks.includes(this.#only);
  }

  #followBoot(operation: KvOperation, answer: Answer): void {
    if (answer.ok === undefined) return;
    if (operation.op === "arena.resize") {
      this.#config = { ...this.#config, arena_bytes: operation.args.arena_bytes };
      this.#boot = answer.ok as BootOk; // what a resize answers, too
    }
    if (operation.op !== "boot") return;
    this.#boot = answer.ok as BootOk;
    if (this.#wants("audit")) this.#auditor = new RunAuditor(this.#config, this.#boot);
    if (!this.#wants(...ON_DEVICE)) return;
    this.#device = openDevice(this.#deviceKind, {
      verify: "touched",
      delaySeed: this.#seed,
      hasBarriers: true,
    });
    this.#device.open(this.#config, this.#boot);
    this.#harness = new Harness({
      config: this.#config,
      boot: this.#boot,
      tables: () => this.#ranks[0]!.tables(),
      seed: this.#seed,
      ranks: RANKS,
    });
  }

  #check(
    operation: KvOperation,
    answers: readonly Answer[],
    before: State | null,
    isCopied: boolean,
  ): void {
    const answer = answers[0]!; // a rank each
    for (const found of this.#harness?.apply(operation, answers) ?? [])
      this.#findOnDevice(operation, found);
    if (answer.err !== undefined || isQuestion(operation.op))
      this.#expectUnchanged(operation, answer, before);
    if (this.#wants("capacity_truth")) this.#checkCapacity(operation, answer);
    const otherwise = this.#stages?.follow(operation, answer) ?? null;
    if (otherwise !== null) this.#find(operation, "stage_divergence", null, otherwise);
    if (isCopied) this.#copy(operation);
    this.#audit(operation, answer);
    const violation = this.#onDevice((device) => device.apply(operation, answer));
    if (violation === null) return;
    this.#find(operation, violation.check, violation.band ?? null, violation.message);
    this.#device?.close();
    this.#device = null; // its books are no longer those of the run
  }

  /** A device that fails ends the command: it says nothing of the allocator. */
  #onDevice(work: (device: Device) => DeviceViolation | null): DeviceViolation | null {
    try {
      return this.#device === null ? null : work(this.#device);
    } catch (error) {
      throw deviceProblem(this.#deviceKind, error);
    }
  }

  #checkCapacity(operation: KvOperation, answer: Answer): void {
    if (isClaim(operation, answer) && this.counts.claims++ % this.#every === 0)
      this.#tryClaim(operation, answer);
    if (operation.op === "tree.evict") this.#tryEviction(operation, answer);
  }

  /** What the answers alone tell; behind its first finding others may follow from that one. */
  #audit(operation: KvOperation, answer: Answer): void {
    const [first] = this.#auditor?.line(this.#n, operation, answer) ?? [];
    if (first === undefined) return;
    this.#auditor = null;
    this.#find(operation, "audit", first.signature.check, first.message);
  }

  #expectRule(operation: KvOperation, answer: Answer, rule: string | null): void {
    const said = answer.err?.code === "invalid" ? (answer.err.rule ?? "") : null;
    if (said === rule && answer.err?.code !== "unsupported") return;
    const [expected, got] = [rule ?? "no broken rule", said ?? answer.err?.code ?? "a grant"];
    this.#find(operation, "expectation", null, `expected ${expected}, the answer is ${got}`);
  }

  #expectUnchanged(operation: KvOperation, answer: Answer, before: State | null): void {
    const what = answer.err === undefined ? "the question" : `the refusal ${answer.err.code}`;
    const [component] = Object.keys(answer.digest ?? {});
    const check = "refused_changed_state";
    if (component !== undefined)
      this.#find(operation, check, component, `${what} changed the digest of ${component}`);
    const effect = answer.fx?.[0];
    if (effect !== undefined)
      this.#find(operation, check, null, `${what} has a ${effect[0]} effect`);
    if (before === null || component !== undefined) return;
    const path = differenceOf(contentOf(before), contentOf(this.#ranks[0]!.state()));
    if (path === null) return;
    this.#find(operation, check, path.split(".")[0] ?? null, `${what} changed ${path}`);
  }

  #tryClaim(operation: KvOperation, answer: Answer): void {
    const boot = this.#boot!; // the caller saw it
    this.counts.tried += 1;
    const state = this.#ranks[0]!.state();
    const wrong = falseClaim(this.#config, boot, state, operation, answer);
    if (wrong !== null) this.#find(operation, "capacity_truth", null, wrong);
  }

  #tryEviction(operation: KvOperation, answer: Answer): void {
    const wrong = falseEviction(this.#config, this.#ranks[0]!.state(), operation, answer);
    if (wrong !== null) this.#find(operation, "capacity_truth", null, wrong);
  }

  /** The digest that was kept up change by change is that of the state, computed anew. */
  #copy(operation: KvOperation): void {
    const storage = this.#ranks[0]!; // there are ranks
    this.counts.copies += 1;
    try {
      const copy = new KVStorage(this.#config, { digestDepth: "deep" });
      copy.load(storage.state());
      for (const [component, hex] of Object.entries(copy.takeDigest() ?? {})) {
        const told = this.#digests.get(component);
        if (told === hex) continue;
        const message = `the digest of ${component} is ${told ?? "missing"}, computed anew it is ${hex}`;
        this.#find(operation, "digest_drift", component, message);
        return;
      }
      if (copy.endDigest() !== storage.endDigest())
        this.#find(operation, "digest_drift", null, "the folded digest is not that of the state");
    } catch (error) {
      const message = `its state cannot be read back: ${thrownText(error)}`;
      this.#find(operation, "digest_drift", null, message);
    }
  }

  /** With nothing open or in flight the ledger is empty, and nothing waits for anything. */
  #lookAtLedger(operation: KvOperation): void {
    const wasQuiet = this.#isQuiet;
    this.#isQuiet = this.#open.unsettled().length === 0;
    if (!this.#isQuiet || wasQuiet) return;
    this.counts.quiescent += 1;
    const state = this.#ranks[0]!.state();
    const left = leftBehind(state, Object.keys(this.#boot?.bands ?? {}));
    if (left !== null) this.#find(operation, "ledger_leak", left.component, left.message);
  }

  #findOnDevice(operation: KvOperation, found: HarnessFinding): void {
    const { check, message, actors, bytes, band } = found;
    this.#add({
      signature: { check, op: operation.op, component: band ?? null },
      n: this.#n,
      message,
      actors,
      ...(bytes === undefined ? {} : { bytes }),
      ...(band === undefined ? {} : { band }),
    });
  }
  #find(operation: KvOperation, check: string, component: string | null, message: string): void {
    const signature: Signature = { check, op: operation.op, component };
    this.#add({ signature, n: this.#n, message });
  }
  #add(finding: Finding): void {
    if (this.findings.length >= FINDINGS_MOST) return;
    const isKnown = this.findings.some(({ signature }) =>
      isSameFailure(signature, finding.signature),
    );
    if (!isKnown) this.findings.push(finding);
  }
}

function answerOf(storage: KVStorage, operation: KvOperation): Answer {
  const answer = storage.apply(operation);
  const digest = storage.takeDigest();
  // the storage made the answer for this call alone
  if (digest !== undefined) (answer as { digest?: Answer["digest"] }).digest = digest;
  return answer;
}

function brokeAs(error: unknown): string {
  return error instanceof InternalError ? "invariant" : "crash";
}
function thrownText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0] ?? "";
}
