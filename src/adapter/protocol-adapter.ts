// An implementation behind the protocol, whatever carries the lines. When one fails with several operations in
// flight, the run is repeated on a fresh start, the operations in question one at a time, so that the verdict names the
// operation at fault also where answers were lost or came late.
import { CandidateError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { Adapter, AdapterFailure, AdapterInfo, ApplyResult, RunOpening } from "./adapter.js";
import { type LinkFailure, type LinkOptions, ProtocolLink } from "./protocol-link.js";
import type { Transport } from "./transport.js";

/** Choices of every adapter that speaks the protocol. @public */
export interface ProtocolAdapterOptions {
  /** Longest wait for an answer while one is owed, in seconds; each answer starts it anew. Default 5. */
  readonly timeoutSeconds?: number;
  /** Longest wait for the hello, and for a run to open, in seconds. Default 30. */
  readonly startTimeoutSeconds?: number;
  /** Most operations in flight, from 1. Default 256; more gains nothing. */
  readonly windowSize?: number;
  /** What the tool's hello gives as its version. */
  readonly toolVersion?: string;
  /** The commit that it was built from, where that is known; then its hello need not tell. */
  readonly commit?: string;
}

const WINDOW_SIZE = 256;
const BLOCK_BYTES = 1024 * 1024;
const LOG_BYTES_MAX = 32 * 1024 * 1024;

// Bytes of several writes, one behind the other.
interface Block {
  readonly bytes: Buffer;
  used: number; // bytes
  readonly ends: number[]; // where each write ends
  readonly counts: number[]; // operations of each
}

// The operations of the run as they were sent, to send them again. Past the limit it is given up. They lie in large
// blocks of bytes: as many strings, which the garbage collector moves, they cost as much as all the rest of this side.
class RunLog {
  #blocks: Block[] = [];
  #sizeBytes = 0;

  clear(): void {
    this.#blocks = [];
    this.#sizeBytes = 0;
  }
  add(text: string, count: number): void {
    if (!this.isWhole) return;
    const most = text.length * 3; // bytes of any UTF-16 unit in UTF-8
    let block = this.#blocks.at(-1);
    if (block === undefined || block.used + most > block.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, most));
      block = { bytes, used: 0, ends: [], counts: [] };
      this.#blocks.push(block);
    }
    const written = block.bytes.write(text, block.used, "utf8");
    block.used += written;
    block.ends.push(block.used);
    block.counts.push(count);
    this.#sizeBytes += written;
    if (this.#sizeBytes > LOG_BYTES_MAX) this.#blocks = [];
  }
  get isWhole(): boolean {
    return this.#sizeBytes <= LOG_BYTES_MAX;
  }
  /** The texts in order, each as it was written. */
  *writes(): Generator<{ readonly text: string; readonly count: number }> {
    for (const { bytes, ends, counts } of this.#blocks) {
      let start = 0;
      for (const [index, end] of ends.entries()) {
        yield { text: bytes.toString("utf8", start, end), count: counts[index] ?? 0 };
        start = end;
      }
    }
  }
}

/** @internal */
export class ProtocolAdapter implements Adapter {
  readonly windowSize: number;
  readonly info: AdapterInfo;
  readonly #makeTransport: () => Transport;
  readonly #options: LinkOptions;
  readonly #log = new RunLog();
  #link: ProtocolLink;
  #opening: RunOpening | null = null;
  #next = 0; // number of the next operation

  private constructor(
    link: ProtocolLink,
    info: AdapterInfo,
    makeTransport: () => Transport,
    options: LinkOptions,
    windowSize: number,
  ) {
    this.#link = link;
    this.info = info;
    this.#makeTransport = makeTransport;
    this.#options = options;
    this.windowSize = windowSize;
  }

  /** Starts the implementation and shakes hands. Throws `CandidateError` when that fails. */
  static async start(
    makeTransport: () => Transport,
    label: string,
    options: ProtocolAdapterOptions,
  ): Promise<ProtocolAdapter> {
    const linkOptions: LinkOptions = {
      label,
      toolVersion: options.toolVersion ?? "",
      timeoutMs: (options.timeoutSeconds ?? 5) * 1000,
      startTimeoutMs: (options.startTimeoutSeconds ?? 30) * 1000,
    };
    const link = new ProtocolLink(makeTransport(), linkOptions);
    const told = await link.start();
    const { commit } = options;
    const info = commit === undefined ? told : { ...told, revision: commit, dirty: false };
    const windowSize = Math.max(1, Math.floor(options.windowSize ?? WINDOW_SIZE));
    return new ProtocolAdapter(link, info, makeTransport, linkOptions, windowSize);
  }

  /** A broken promise between two runs is told by the first `apply` of the next one. */
  async open(opening: RunOpening): Promise<void> {
    this.#opening = opening;
    this.#next = 0;
    this.#log.clear();
    if (this.#link.failed === null) await this.#link.open(opening);
  }

  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const sentNow: { text: string; count: number }[] = [];
    let sentCount = 0;
    const answers = await this.#link.exchange(
      operations,
      this.#next,
      this.windowSize,
      (text, count) => {
        sentNow.push({ text, count });
        sentCount += count;
      },
    );
    const failed = this.#link.failed;
    if (failed !== null) return this.#judge(failed, operations, answers, sentCount);
    for (const { text, count } of sentNow) this.#log.add(text, count);
    this.#next += operations.length;
    return { answers, failure: null };
  }

  state(): Promise<State | null> {
    return this.#link.state(Math.max(0, this.#next - 1));
  }

  async close(): Promise<{
    readonly digest: string | null;
    readonly failure: AdapterFailure | null;
  }> {
    const digest = await this.#link.close(this.#opening?.run ?? "");
    this.#opening = null;
    this.#log.clear();
    return { digest, failure: this.#link.failed?.failure ?? null };
  }

  dispose(): Promise<void> {
    return this.#link.stop(this.#link.failed === null ? "finish" : "kill");
  }

  async #judge(
    failed: LinkFailure,
    operations: readonly Operation[],
    answers: readonly Answer[],
    sentCount: number,
  ): Promise<ApplyResult> {
    const first: ApplyResult = { answers, failure: failed.failure };
    const inQuestion = sentCount - answers.length;
    if (failed.isExact || inQuestion <= 1) return first;
    await this.#link.stop("kill");
    if (!this.#log.isWhole)
      return withNote(first, `it is one of ${inQuestion} that were sent together`);
    const repeated = await this.#repeat(operations.slice(0, sentCount), answers.length);
    if (repeated === null)
      return withNote(first, "it did not happen again when the run was repeated");
    return repeated;
  }

  // The run again on a fresh start: all answered operations as before, the others one at a time. Null: no failure there.
  async #repeat(
    operations: readonly Operation[],
    answeredCount: number,
  ): Promise<ApplyResult | null> {
    const opening = this.#opening;
    if (opening === null) return null;
    const link = new ProtocolLink(this.#makeTransport(), this.#options);
    try {
      await link.start();
      this.#link = link; // dispose now ends this one; the other is gone
      await link.open(opening);
      let n = 0;
      for (const { text, count } of this.#log.writes()) {
        if (!(await link.repeat(text, n, count))) return null;
        n += count;
      }
      const answers = await link.exchange(operations.slice(0, answeredCount), n, this.windowSize);
      if (link.failed !== null) return null;
      for (const operation of operations.slice(answeredCount)) {
        answers.push(...(await link.exchange([operation], n + answers.length, 1)));
        const failure = failedNow(link);
        if (failure !== null) return { answers, failure: failure.failure };
      }
      return null;
    } catch (error) {
      if (error instanceof CandidateError) return null;
      throw error;
    } finally {
      await link.stop("kill");
    }
  }
}

// Through a function, because the type checker believes that a getter once seen as null stays so.
function failedNow(link: ProtocolLink): LinkFailure | null {
  return link.failed;
}

function withNote(result: ApplyResult, note: string): ApplyResult {
  const { failure } = result;
  if (failure === null) return result;
  return { ...result, failure: { ...failure, message: `${failure.message} (${note})` } };
}
