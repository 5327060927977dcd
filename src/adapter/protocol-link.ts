// One live connection that speaks the protocol: hello, open, operations in a window, state, close. It turns every
// broken promise into a failure, once, and stops the other side then. It does not repeat anything: ProtocolAdapter does.
import { CandidateError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { AdapterFailure, AdapterInfo, RunOpening } from "./adapter.js";
import { tellingLine, withoutDeepFrames } from "./log-lines.js";
import {
  encodeLine,
  encodeOpen,
  encodeOperation,
  type Mistake,
  parseReply,
  PROTOCOL_VERSION,
  oneLine,
  quoteLine,
  type Reply,
} from "./protocol.js";
import type { Transport } from "./transport.js";

const WRITE_CHARS_MAX = 4 * 1024 * 1024; // of one write; a single longer line goes alone

/** Limits and names of a connection. @internal */
export interface LinkOptions {
  readonly label: string; // how messages name the implementation
  readonly toolVersion: string;
  readonly timeoutMs: number; // without an answer, while one is owed
  readonly startTimeoutMs: number; // for hello, and for opened
}

/** A failure, and what is known of the operation it belongs to. @internal */
export interface LinkFailure {
  readonly failure: AdapterFailure;
  /** The implementation itself said which operation failed, or answered one twice. */
  readonly isExact: boolean;
  /** The operation at fault, where it is an earlier one than the first unanswered. */
  readonly n?: number;
}

// What the link waits for. `take` sees each reply and says whether more is owed, or what is wrong with it.
interface Expectation {
  readonly take: (
    reply: Reply,
  ) => "more" | "done" | { readonly wrong: string; readonly n?: number };
  readonly afterRead?: () => void; // all lines of one read were taken
  readonly resolve: () => void;
  readonly reject: (error: CandidateError) => void;
  readonly timer: NodeJS.Timeout;
  isDone: boolean; // all that was owed came; the rest of the read must hold nothing more
}

/** @internal */
export class ProtocolLink {
  readonly #transport: Transport;
  readonly #options: LinkOptions;
  #expectation: Expectation | null = null;
  #failed: LinkFailure | null = null;
  #isStopping = false;
  #startProblem: string | null = null; // the other side never ran

  constructor(transport: Transport, options: LinkOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** The first broken promise, or null. After it every wait ends at once. */
  get failed(): LinkFailure | null {
    return this.#failed;
  }

  /** Starts the other side and shakes hands. Throws `CandidateError`. */
  async start(): Promise<AdapterInfo> {
    this.#transport.start({
      onLines: (lines) => {
        this.#takeLines(lines);
      },
      onLineTooLong: () => {
        this.#fail("protocol", "wrote a line longer than 64 MiB");
      },
      onEnd: (reason, hasStarted) => {
        if (!hasStarted) this.#startProblem = reason;
        this.#fail("crash", reason);
      },
    });
    const { label, toolVersion, startTimeoutMs } = this.#options;
    const hello = { protocol: PROTOCOL_VERSION, tool: "unified-trace", version: toolVersion };
    const reply = await this.#ask({ hello }, startTimeoutMs, "hello", () => null).catch(
      async (error: unknown) => {
        await this.stop("kill"); // it said why it refuses
        throw error;
      },
    );
    if (reply === null) throw await this.#handshakeError("its hello");
    if (reply.protocol !== PROTOCOL_VERSION) {
      await this.stop("kill");
      throw new CandidateError(
        "candidate_handshake",
        `${label} speaks protocol ${reply.protocol}; this tool speaks protocol ${PROTOCOL_VERSION}`,
      );
    }
    return reply.info;
  }

  /** Opens a run. Throws `CandidateError` when it is refused or not acknowledged. */
  async open(opening: RunOpening): Promise<void> {
    const reply = await this.#ask(
      encodeOpen(opening),
      this.#options.startTimeoutMs,
      "opened",
      ({ run }) =>
        run === opening.run ? null : `opened ${quoteLine(run)}, not ${quoteLine(opening.run)}`,
    );
    if (reply === null) throw await this.#handshakeError(`opening run ${quoteLine(opening.run)}`);
  }

  /**
   * Sends operations numbered from `first`, at most `window` unanswered, and returns the answers, fewer only when the
   * link failed. `onSend` sees the text of each write. Throws `CandidateError` for an operation that is not supported.
   */
  async exchange(
    operations: readonly Operation[],
    first: number,
    window: number,
    onSend?: (text: string, count: number) => void,
  ): Promise<Answer[]> {
    let sent = 0;
    const answers = await this.#collect(first, operations.length, (answered) => {
      if (sent - answered > window / 2) return sent;
      const from = sent;
      let text = "";
      const end = Math.min(operations.length, answered + window);
      while (sent < end && text.length < WRITE_CHARS_MAX) {
        text += encodeOperation(first + sent, operations[sent]!); // sent < operations.length
        sent += 1;
      }
      if (sent > from) {
        onSend?.(text, sent - from);
        this.#transport.write(text);
      }
      return sent;
    });
    return answers;
  }

  /** Sends a text of `count` operations again, as an earlier `exchange` wrote it; true when all were answered. */
  async repeat(text: string, first: number, count: number): Promise<boolean> {
    this.#transport.write(text);
    const answers = await this.#collect(first, count, () => count);
    return answers.length === count && this.#failed === null;
  }

  /** The full state after operation `n`; null where there is none or the link failed. */
  async state(n: number): Promise<State | null> {
    const reply = await this.#ask({ state: { n } }, this.#options.timeoutMs, "state", () => null);
    return reply?.state ?? null;
  }

  /** Closes the run; the folded digest, null where there is none or the link failed. */
  async close(run: string): Promise<string | null> {
    const reply = await this.#ask(
      { close: { run } },
      this.#options.timeoutMs,
      "closed",
      (closed) =>
        closed.run === run ? null : `closed ${quoteLine(closed.run)}, not ${quoteLine(run)}`,
    );
    return reply?.digest ?? null;
  }

  /** Ends the other side; resolves when it is gone. */
  stop(manner: "finish" | "kill"): Promise<void> {
    this.#isStopping = true;
    return this.#transport.stop(manner);
  }

  async #collect(
    first: number,
    count: number,
    send: (answered: number) => number,
  ): Promise<Answer[]> {
    const answers: Answer[] = [];
    if (count === 0 || this.#failed !== null) return answers;
    let sent = send(0);
    const take: Expectation["take"] = (reply) => {
      const expected = first + answers.length;
      if (reply.kind === "fail" && reply.n === expected) return this.#ownFailure(reply.failure);
      if (reply.kind !== "answer")
        return { wrong: `answered operation ${expected} with "${reply.kind}"` };
      if (reply.n !== expected) return wrongNumber(reply.n, expected);
      if (answers.length === sent)
        return { wrong: `answered operation ${expected} before it was asked` };
      if (reply.answer.err?.code === "unsupported") throw this.#unsupported(reply, expected);
      answers.push(reply.answer);
      return answers.length === count ? "done" : "more";
    };
    await this.#wait(this.#options.timeoutMs, take, () => {
      sent = send(answers.length);
    });
    // An answer given twice is the fault of that operation, although its first answer was fine.
    const n = this.failed?.n;
    if (n !== undefined && n >= first) answers.length = Math.min(answers.length, n - first);
    return answers;
  }

  // One message, one reply of the given kind; null when the link failed. `check` says what is wrong with the reply.
  async #ask<K extends Reply["kind"]>(
    message: Readonly<Record<string, unknown>> | string,
    timeoutMs: number,
    kind: K,
    check: (reply: Extract<Reply, { kind: K }>) => string | null,
  ): Promise<Extract<Reply, { kind: K }> | null> {
    const taken: Extract<Reply, { kind: K }>[] = [];
    this.#transport.write(typeof message === "string" ? message : encodeLine(message));
    await this.#wait(timeoutMs, (reply) => {
      if (reply.kind === "fail") return this.#ownFailure(reply.failure);
      if (reply.kind !== kind) return { wrong: `wrote "${reply.kind}" where "${kind}" was due` };
      const expected = reply as Extract<Reply, { kind: K }>; // its kind was just compared
      const wrong = check(expected);
      if (wrong !== null) return { wrong };
      taken.push(expected);
      return "done";
    });
    return this.#failed === null ? (taken[0] ?? null) : null;
  }

  #ownFailure(failure: AdapterFailure): "done" {
    this.#failed ??= { failure: this.#withTail(failure), isExact: true };
    return "done";
  }

  #unsupported(reply: Extract<Reply, { kind: "answer" }>, n: number): CandidateError {
    const detail = reply.answer.err?.message;
    const what = detail === undefined ? "" : `: ${oneLine(detail)}`;
    return new CandidateError(
      "candidate_handshake",
      `${this.#options.label} does not support operation ${n} as it is asked${what}`,
    );
  }

  #wait(timeoutMs: number, take: Expectation["take"], afterRead?: () => void): Promise<void> {
    if (this.#failed !== null) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#fail("hang", `no answer for ${timeoutMs / 1000} s`);
      }, timeoutMs);
      this.#expectation = {
        take,
        resolve,
        reject,
        timer,
        isDone: false,
        ...(afterRead === undefined ? {} : { afterRead }),
      };
    });
  }

  #takeLines(lines: readonly string[]): void {
    for (const line of lines) {
      if (this.#failed !== null || this.#isStopping) return;
      this.#takeReply(parseReply(line), line);
    }
    const expectation = this.#expectation;
    if (expectation === null) return;
    if (expectation.isDone) this.#release()?.resolve();
    else {
      expectation.timer.refresh();
      expectation.afterRead?.();
    }
  }

  #takeReply(reply: Reply | Mistake, line: string): void {
    const expectation = this.#expectation;
    if (reply.kind === "mistake") {
      this.#fail("protocol", reply.message);
    } else if (expectation === null || expectation.isDone) {
      this.#failUnasked(reply, line);
    } else if (reply.kind === "error") {
      this.#refuse(reply);
    } else {
      try {
        const step = expectation.take(reply);
        if (typeof step === "object") this.#fail("protocol", step.wrong, step.n);
        else expectation.isDone = step === "done";
      } catch (error) {
        if (!(error instanceof CandidateError)) throw error;
        this.#reject(error);
      }
    }
  }

  #failUnasked(reply: Reply, line: string): void {
    if (reply.kind === "answer")
      this.#fail("protocol", `answered operation ${reply.n} twice`, reply.n);
    else this.#fail("protocol", `wrote ${quoteLine(line)} when nothing was asked`);
  }

  #refuse({ code, message }: Extract<Reply, { kind: "error" }>): void {
    const ownCode = code === "candidate_start" ? code : "candidate_handshake";
    this.#reject(new CandidateError(ownCode, `${this.#options.label}: ${message}`));
  }

  #reject(error: CandidateError): void {
    this.#release()?.reject(error);
  }

  #release(): Expectation | null {
    const expectation = this.#expectation;
    this.#expectation = null;
    if (expectation !== null) clearTimeout(expectation.timer);
    return expectation;
  }

  #fail(kind: AdapterFailure["kind"], message: string, n?: number): void {
    if (this.#failed === null && !this.#isStopping) {
      const failure = this.#withTail({ kind, message });
      this.#failed = { failure, isExact: n !== undefined, ...(n === undefined ? {} : { n }) };
      void this.stop("kill");
    }
    this.#release()?.resolve();
  }

  #withTail(failure: AdapterFailure): AdapterFailure {
    const stderrTail = withoutDeepFrames(this.#transport.logTail());
    return stderrTail === "" ? failure : { ...failure, stderrTail };
  }

  // Why there is no hello or no opened, with the line of the log that names the cause.
  async #handshakeError(what: string): Promise<CandidateError> {
    await this.stop("kill");
    const { label } = this.#options;
    const tail = this.#transport.logTail().trim();
    const line = oneLine(tellingLine(tail)).slice(0, 300);
    const said = line === "" ? "" : `; its log says: ${line}`;
    const cause = tail === "" ? undefined : new Error(tail);
    if (this.#startProblem !== null) {
      return new CandidateError(
        "candidate_start",
        `${label} cannot be started: ${this.#startProblem}${said}`,
        {},
        cause,
      );
    }
    const message = this.#failed?.failure.message ?? "no answer";
    return new CandidateError(
      "candidate_handshake",
      `${label} failed at ${what}: ${message}${said}`,
      {},
      cause,
    );
  }
}

function wrongNumber(n: number, expected: number): { readonly wrong: string; readonly n?: number } {
  if (n === expected - 1) return { wrong: `answered operation ${n} twice`, n };
  return { wrong: `answered operation ${n} where the answer to operation ${expected} was due` };
}
