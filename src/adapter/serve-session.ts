// The protocol's state machine on the side of the implementation: what may come when, and what is answered.
import { CandidateError } from "../base/errors.js";
import { EXIT, type ExitCode } from "../base/exit-codes.js";
import { nearestWord } from "../base/nearest.js";
import type { Answer, Operation } from "../base/operations.js";
import type { Adapter, AdapterFailure, RunOpening } from "./adapter.js";
import {
  encodeAnswer,
  encodeInfo,
  encodeLine,
  oneLine,
  parseRequest,
  PROTOCOL_VERSION,
  type Request,
} from "./protocol.js";

/** How serving ended: `exitCode` 0 when the tool closed its end, 3 for a bad line, 5 for a refused operation, 1 when the
 * implementation broke a promise; `message` is one line, null with 0. @public */
export interface ServeResult {
  readonly exitCode: ExitCode;
  readonly message: string | null;
}

/** What may be wrong inside a message; one line, null for nothing. @internal */
export interface Checks {
  openingProblem(opening: RunOpening): string | null;
  operationProblem(operation: Operation): string | null;
}

/** One conversation: lines in, the text of the replies out. @internal */
export class ServeSession {
  readonly #make: () => Adapter | Promise<Adapter>;
  readonly #checks: Checks | null;
  #adapter: Adapter | null = null;
  #ops: ReadonlySet<string> = new Set();
  #opening: RunOpening | null = null;
  #next = 0;
  #result: ServeResult | null = null;

  constructor(makeImplementation: () => Adapter | Promise<Adapter>, checks: Checks | null = null) {
    this.#make = makeImplementation;
    this.#checks = checks;
  }

  /** Why serving has to stop, or null. */
  get result(): ServeResult | null {
    return this.#result;
  }

  /** Carries out the messages of `lines` in order; the text to write, empty for none. */
  async takeLines(lines: readonly string[]): Promise<string> {
    let text = "";
    let batch: Operation[] = [];
    for (const line of lines) {
      const request = parseRequest(line);
      const problem =
        request.kind === "mistake" ? request.message : this.#problem(request, batch.length);
      if (problem === null && request.kind === "operation") {
        batch.push(request.operation);
        continue;
      }
      text += await this.#apply(batch);
      batch = [];
      if (this.#result === null) {
        if (problem !== null) text += this.refuse(EXIT.badFile, problem);
        else if (request.kind !== "mistake") text += await this.#answer(request);
      }
      if (this.#result !== null) return text;
    }
    return text + (await this.#apply(batch));
  }

  /** The error line, after which nothing is answered any more. */
  refuse(exitCode: ExitCode, message: string, code: string = "protocol"): string {
    this.#result = { exitCode, message };
    return encodeLine({ error: { code, message } });
  }

  async dispose(): Promise<void> {
    await this.#adapter?.dispose();
  }

  // What is wrong with a message at this point of the conversation.
  #problem(request: Request, waiting: number): string | null {
    if (request.kind === "hello") return this.#adapter === null ? null : "a second hello";
    if (this.#adapter === null) return `"${request.kind}" before the hello`;
    if (request.kind === "open") {
      return this.#opening === null ? null : `"open" before run "${this.#opening.run}" was closed`;
    }
    if (this.#opening === null) return `"${request.kind}" where no run is open`;
    if (request.kind === "close" && request.run !== this.#opening.run) {
      return `"close" of run "${request.run}" where "${this.#opening.run}" is open`;
    }
    if (request.kind !== "operation") return null;
    const { n, operation } = request;
    if (n !== this.#next + waiting)
      return `operation ${n} where operation ${this.#next + waiting} is next`;
    if (!this.#ops.has(operation.op)) {
      const nearest = nearestWord(operation.op, this.#ops);
      const hint = nearest === null ? "" : ` (did you mean "${nearest}"?)`;
      return `operation ${n} is of a kind that is not answered here: "${operation.op}"${hint}`;
    }
    const problem = this.#checks?.operationProblem(operation) ?? null;
    return problem === null ? null : `operation ${n} (${operation.op}): ${problem}`;
  }

  async #apply(batch: readonly Operation[]): Promise<string> {
    const adapter = this.#adapter;
    if (batch.length === 0 || adapter === null) return "";
    let text = "";
    try {
      const { answers, failure } = await adapter.apply(batch);
      for (const answer of answers) {
        const line = encodedOrProblem(this.#next, answer);
        if (typeof line !== "string") return text + this.#fail(line.problem, "protocol");
        text += line;
        this.#next += 1;
      }
      return failure === null ? text : text + this.#fail(failure.message, failure.kind);
    } catch (error) {
      return text + this.#refuseThrown(error);
    }
  }

  // The line that says of the next operation, or of the close after it, that the implementation itself failed.
  #fail(message: string, kind: AdapterFailure["kind"]): string {
    this.#result = { exitCode: EXIT.finding, message: `operation ${this.#next}: ${message}` };
    return encodeLine({ n: this.#next, fail: { kind: kind === "hang" ? "crash" : kind, message } });
  }

  async #answer(request: Request): Promise<string> {
    try {
      switch (request.kind) {
        case "hello":
          return await this.#hello(request.protocol);
        case "open":
          return await this.#open(request.opening);
        case "state":
          return encodeLine({ state: (await this.#adapter?.state()) ?? null });
        case "close":
          return await this.#close(request.run);
        case "operation":
          return "";
      }
    } catch (error) {
      // A refused configuration does not end the conversation: another run may be opened.
      if (request.kind === "open" && error instanceof CandidateError)
        return errorLine(error.code, error.message);
      return this.#refuseThrown(error);
    }
  }

  async #hello(protocol: number): Promise<string> {
    if (protocol !== PROTOCOL_VERSION) {
      const message = `protocol ${protocol} is asked for; this side speaks protocol ${PROTOCOL_VERSION}`;
      return this.refuse(EXIT.badFile, message);
    }
    this.#adapter = await this.#make();
    this.#ops = new Set(this.#adapter.info.ops);
    return encodeInfo(this.#adapter.info);
  }

  async #open(opening: RunOpening): Promise<string> {
    const { domain } = opening;
    const info = this.#adapter?.info;
    if (info !== undefined && !info.domains.includes(domain)) {
      const message = `${info.name} ${info.version} does not support domain ${domain}`;
      return errorLine("candidate_handshake", message);
    }
    const problem = this.#checks?.openingProblem(opening) ?? null;
    if (problem !== null) return errorLine("config", problem);
    await this.#adapter?.open(opening);
    this.#opening = opening;
    this.#next = 0;
    return encodeLine({ opened: { run: opening.run } });
  }

  async #close(run: string): Promise<string> {
    const closed = await this.#adapter?.close();
    this.#opening = null;
    const failure = closed?.failure ?? null;
    if (failure !== null) return this.#fail(failure.message, failure.kind);
    return encodeLine({ closed: { run, digest: closed?.digest ?? null } });
  }

  #refuseThrown(error: unknown): string {
    const message = oneLine(error instanceof Error ? error.message : String(error));
    if (error instanceof CandidateError) return this.refuse(EXIT.candidate, message, error.code);
    return this.refuse(EXIT.internal, message, "internal");
  }
}

// An answer of foreign code may hold what JSON cannot: a cycle, a BigInt.
function encodedOrProblem(n: number, answer: Answer): string | { readonly problem: string } {
  try {
    return encodeAnswer(n, answer);
  } catch (error) {
    return { problem: `the answer is not JSON: ${oneLine(String(error))}` };
  }
}

function errorLine(code: string, message: string): string {
  return encodeLine({ error: { code, message: oneLine(message) } });
}
