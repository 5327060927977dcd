// The allocator of this checkout in this process, on a device that its maker opens.
import { CandidateError, EnvironmentError, InputError, InternalError } from "../base/errors.js";
import type { Lanes } from "../base/digest.js";
import type {
  Answer,
  BootOk,
  DigestDepth,
  DirectConfig,
  KvOperation,
  Operation,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";
import { ByteError } from "../device/bytes.js";
import type { Device, VerifyPolicy } from "../device/device.js";
import type { DeviceKind } from "../device/device-kinds.js";
import { KV_OPERATIONS, KVStorage } from "../kv/storage.js";
import type { Adapter, AdapterFailure, AdapterInfo, ApplyResult, RunOpening } from "./adapter.js";
import { readOwnVersion } from "./checkout-version.js";
import { oneLine } from "./protocol.js";
import { idsNamed, STATE_IDS_MAX } from "./state-size.js";

/** Opens a device, null for `none`. Throws `EnvironmentError` for one that this machine or build lacks. @public */
export type OpenDevice = (
  kind: DeviceKind,
  options: { readonly verify: VerifyPolicy },
) => Device | null;

/** @public */
export interface StorageAdapterOptions {
  readonly device: DeviceKind;
  readonly verify?: VerifyPolicy; // default touched
  readonly revision?: string | null; // commit of this checkout, where the caller knows it
  readonly dirty?: boolean | null;
  readonly openDevice: OpenDevice; // its maker loads what it takes
}

/** `self` on any device. @internal */
export class StorageAdapter implements Adapter {
  readonly info: AdapterInfo;
  readonly windowSize = 256;
  readonly #deviceKind: DeviceKind;
  readonly #verify: VerifyPolicy;
  readonly #openDevice: OpenDevice;
  #storage: KVStorage | null = null;
  #config: DirectConfig | null = null;
  #device: Device | null = null;
  #contents: ((band: string) => Lanes) | undefined; // only for digests of depth deep
  #hasDigests = false;
  #isDeep = false;
  #isBooted = false; // there is a state to tell
  #reached = new Map<string, number>();

  /** Throws `EnvironmentError` for a device that this machine or build lacks. */
  constructor(options: StorageAdapterOptions) {
    this.#deviceKind = options.device;
    this.#verify = options.verify ?? "touched";
    this.#openDevice = options.openDevice;
    this.#openDevice(this.#deviceKind, { verify: this.#verify }); // only to learn whether it is there
    this.info = {
      name: "unified-trace",
      version: readOwnVersion(),
      revision: options.revision ?? null,
      dirty: options.dirty ?? null,
      domains: ["kv"],
      ops: KV_OPERATIONS,
      // Deep digests hold the contents of pages, which only a device has.
      digest: this.#deviceKind === "none" ? "layout" : "deep",
      fx: true,
      fromState: true,
    };
  }

  /** From a state the run goes on without a device: a state does not say what the bytes of a page hold. */
  async open(opening: RunOpening): Promise<void> {
    const { domain, config, digestDepth, state } = opening;
    if (domain !== "kv") throw unsupported(`domain ${domain}`);
    this.#closeDevice();
    this.#isDeep = digestDepth === "deep";
    if (this.#isDeep && (this.#deviceKind === "none" || state !== undefined)) {
      throw unsupported(
        "digests of depth deep without a device, which holds the contents of pages,",
      );
    }
    this.#hasDigests = digestDepth !== null;
    this.#storage = makeStorage(config, digestDepth);
    this.#config = this.#storage.direct;
    this.#isBooted = false;
    if (state !== undefined) this.#load(this.#storage, config, state);
  }

  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const answers: Answer[] = [];
    try {
      for (const operation of operations) {
        const failure = this.#applyOne(operation as KvOperation, answers);
        if (failure !== null) return { answers, failure };
      }
    } catch (error) {
      if (error instanceof CandidateError || error instanceof EnvironmentError) throw error;
      return { answers, failure: this.#failureOf(error) };
    }
    return { answers, failure: null };
  }

  async state(): Promise<State | null> {
    return this.#isBooted ? (this.#storage?.state() ?? null) : null;
  }

  async close(): Promise<{
    readonly digest: string | null;
    readonly failure: AdapterFailure | null;
  }> {
    const storage = this.#storage;
    try {
      const violation = this.#device?.verifyAll() ?? null;
      if (violation !== null)
        return { digest: null, failure: invariant(violation.check, violation.message) };
      return {
        digest: storage === null || !this.#hasDigests ? null : storage.endDigest(this.#contents),
        failure: null,
      };
    } catch (error) {
      return { digest: null, failure: this.#failureOf(error) };
    } finally {
      for (const [name, count] of storage?.reached() ?? [])
        this.#reached.set(name, (this.#reached.get(name) ?? 0) + count);
      this.#closeDevice();
      this.#storage = null;
    }
  }

  async dispose(): Promise<void> {
    this.#closeDevice();
    this.#storage = null;
  }

  takeReached(): ReadonlyMap<string, number> {
    const reached = this.#reached;
    this.#reached = new Map();
    return reached;
  }

  // A device that fails under way is told as such: the allocator did nothing wrong.
  #failureOf(error: unknown): AdapterFailure {
    if (!(error instanceof ByteError)) return failureOf(error);
    const message = `device ${this.#deviceKind}: ${oneLine(error.message)}`;
    return { kind: "crash", message };
  }

  // Adds the answer, or returns what broke; then the answer is not among `answers`.
  #applyOne(operation: KvOperation, answers: Answer[]): AdapterFailure | null {
    const storage = this.#storage;
    if (storage === null) throw new InternalError("apply without an open run");
    const answer = storage.apply(operation);
    if (answer.err?.code === "unsupported") throw unsupportedOperation(operation, answer);
    if (operation.op === "boot" && answer.ok !== undefined) this.#boot(answer.ok as BootOk); // what boot answers
    // refusals too: the device counts operations, and a refusal may have no effects
    const violation = this.#device?.apply(operation, answer) ?? null;
    if (violation !== null) return invariant(violation.check, violation.message);
    const digest = this.#hasDigests ? storage.takeDigest(this.#contents) : undefined;
    // the storage made the answer for this call alone
    if (digest !== undefined) (answer as { digest?: Answer["digest"] }).digest = digest;
    answers.push(answer);
    return null;
  }

  #load(storage: KVStorage, config: RunConfig, state: State): void {
    // A storage that was refused at boot cannot load; one to throw away tells.
    const boot = makeStorage(config, null).apply({ op: "boot", args: {} });
    if (boot.err !== undefined) {
      throw unsupported(`going on from a state where boot answers ${boot.err.code}`);
    }
    const problem = stateProblem(state);
    if (problem !== null) throw unloadable(problem);
    try {
      storage.load(state);
    } catch (error) {
      // what is thrown beside a broken invariant says something of this code, nothing of the state
      const isInvariant = error instanceof InternalError;
      throw unloadable(isInvariant ? oneLine(error.message) : "it is not one that a run was in");
    }
    this.#isBooted = true;
  }

  #boot(boot: BootOk): void {
    this.#isBooted = true;
    const config = this.#config;
    const device = this.#openDevice(this.#deviceKind, { verify: this.#verify });
    if (device === null || config === null) return;
    device.open(config, boot);
    this.#device = device;
    this.#contents = this.#isDeep ? (band) => device.contents(band) : undefined;
  }

  #closeDevice(): void {
    this.#device?.close();
    this.#device = null;
    this.#contents = undefined;
  }
}

// A model form may lack what sizing needs: then no run can be opened on it.
function makeStorage(config: RunConfig, digestDepth: DigestDepth | null): KVStorage {
  try {
    return new KVStorage(config, { digestDepth });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new CandidateError("candidate_handshake", `the configuration: ${error.message}`);
  }
}

function stateProblem(state: State): string | null {
  // who opens a run may have it from anywhere
  const more = (state as Partial<State>).forwards?.["x_more"] ?? null;
  if (typeof more !== "object" || more === null)
    return "it lacks forwards.x_more: another implementation wrote it";
  const ids = idsNamed(state);
  return ids <= STATE_IDS_MAX ? null : `it names ${ids} ids, at most ${STATE_IDS_MAX} are loaded`;
}

function unloadable(why: string): CandidateError {
  return new CandidateError("candidate_handshake", `the state cannot be loaded: ${why}`);
}

function unsupported(what: string): CandidateError {
  const who = `unified-trace ${readOwnVersion()}`;
  return new CandidateError("candidate_handshake", `${who} does not support ${what}`);
}

function unsupportedOperation(operation: KvOperation, answer: Answer): CandidateError {
  const detail = oneLine(answer.err?.message ?? "");
  return unsupported(
    `operation ${operation.op} as it is asked${detail === "" ? "" : `: ${detail}`}`,
  );
}

function invariant(check: string, message: string): AdapterFailure {
  return { kind: "invariant", message: oneLine(`${check}: ${message}`) };
}

// An assertion of the allocator is a broken invariant, anything else that is thrown a crash; neither shows its stack.
function failureOf(error: unknown): AdapterFailure {
  if (error instanceof InternalError) return { kind: "invariant", message: oneLine(error.message) };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: "crash", message: `threw ${oneLine(text)}` };
}
