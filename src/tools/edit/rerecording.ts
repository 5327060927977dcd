// A run that was edited, asked anew: what its operations come to is the answer of an implementation. An operation that
// the edit left without ground (the implementation calls it invalid, the trace did not) changes nothing and is left out.
import type { Adapter, AdapterFailure } from "../../adapter/adapter.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, DirectConfig, Operation, RunConfig } from "../../base/operations.js";
import { deriveConfig, isModelConfig } from "../../kv/build.js";
import { answerProblemOf, argsProblem } from "../../trace/check.js";
import { bandsOf, missingComponents } from "../../trace/digest-rules.js";
import type { OpLine, Producer, RunLine, StateLine, TraceLine } from "../../trace/lines.js";
import { OpenNames } from "../../trace/open-names.js";
import { runWords } from "../../trace/run-words.js";
import type { RunWords } from "../../trace/run-words.js";
import type { TraceWriter } from "../../trace/writer.js";
import { givesDepth } from "../candidate.js";
import type { Candidate } from "../candidate.js";
import { RowLengths } from "./row-lengths.js";

/** An implementation that broke. @public */
export interface BrokenEdit {
  readonly run: string;
  readonly n: number; // of the edited run
  readonly op: string;
  readonly failure: AdapterFailure;
}

/** Writes one run. @internal */
export class Rerecording {
  readonly #writer: TraceWriter;
  readonly #candidate: Candidate;
  readonly #line: RunLine; // as it is to be written, but for what the implementation says
  #adapter: Adapter | null = null; // null: recorded answers go on
  #isOpen = false;
  #words: RunWords | null = null;
  readonly #names = new OpenNames();
  readonly #lengths = new RowLengths();
  #held: TraceLine[] | null = []; // before the first operation: a run without one is not written
  #hasDigests = false;
  #isRefused = false; // at boot
  #n: number;
  #operations = 0;
  groundless = 0;
  lostStates = 0;
  refusals = 0;
  broken: BrokenEdit | null = null;
  /** Whether the operation asked last was written. */
  isWritten = false;

  constructor(writer: TraceWriter, candidate: Candidate, line: RunLine) {
    this.#writer = writer;
    this.#candidate = candidate;
    this.#line = line;
    this.#n = line.starts_at ?? 0;
  }

  get operations(): number {
    return this.#operations;
  }

  /** Opens the run, from a state where it begins with one, and writes its line. */
  async open(producer: Producer | null, state: StateLine | null): Promise<void> {
    const { run, domain, config } = this.#line;
    const adapter = await this.#candidate.ready();
    const { info } = adapter;
    const { derived: _, ...line } = this.#line;
    this.#isOpen = true;
    if (!info.domains.includes(domain)) {
      if (domain !== "heap") throw unanswered(`domain ${domain} of run ${run}`);
      this.#words = runWords(domain, config, undefined);
      this.#put(this.#line);
      return; // a log of lives: nothing in its answers follows from what is cut
    }
    if (state !== null && !info.fromState)
      throw unanswered(`run ${run}, which begins with a state,`);
    const wanted = this.#line.digest_depth ?? null;
    const depth = wanted !== null && givesDepth(info.digest, wanted) ? wanted : null;
    this.#hasDigests = depth !== null;
    const opening = { run, domain, config, digestDepth: depth };
    this.#adapter = await this.#candidate.open(
      state === null ? opening : { ...opening, state: state.state },
    );
    const derived = domain === "kv" ? derivedOf(config) : {};
    this.#words = runWords(domain, config, derived.derived);
    const isProducer =
      producer !== null &&
      producer.name === info.name &&
      producer.version === info.version &&
      producer.revision === info.revision;
    const { name, version, revision } = info;
    this.#put({
      ...line,
      ...(wanted === null ? {} : { digest_depth: depth }),
      ...derived,
      ...(isProducer ? {} : { x_answered_by: { name, version, revision } }),
    }); // with a key of an extension
    if (state !== null) this.#put(state);
  }

  mark(text: string): void {
    this.#put({ kind: "mark", n: this.#n, text });
  }

  /** Asks an operation and writes it with its answer. `line` is that of the trace as it was. */
  async operation(line: OpLine, wanted: Operation): Promise<void> {
    this.isWritten = false;
    let operation = this.#adapter === null ? wanted : this.#lengths.placed(wanted);
    let answer = await this.#answer(line, operation);
    if (answer === null && this.broken === null && operation.op === "request.finish") {
      // what cannot go into the tree any more must not keep the request open
      const { req, len } = operation.args;
      operation = { op: "request.finish", args: { req, len, insert: false } };
      answer = await this.#answer(line, operation);
    }
    if (answer !== null) {
      if (answer.err !== undefined) this.refusals += 1;
      this.#names.note(operation, answer.ok !== undefined);
      this.#isRefused = operation.op === "boot" && answer.err !== undefined;
      this.#write(line, operation, answer);
    } else if (this.broken === null) this.groundless += 1;
    const now = answer === null ? null : { operation, answer };
    this.#lengths.note({ operation: wanted, answer: line }, now);
  }

  /** Null where the operation is lost, or the implementation broke. */
  async #answer(line: OpLine, operation: Operation): Promise<Answer | null> {
    const wasInvalid = line.err?.code === "invalid";
    const isLost =
      this.#isRefused ||
      argsProblem(operation.op, operation.args, this.#words) !== null ||
      (!wasInvalid && this.#names.check(operation) !== null);
    if (isLost) return null;
    const answer = this.#adapter === null ? recorded(line) : await this.#ask(operation);
    return answer?.err?.code === "invalid" && !wasInvalid ? null : answer;
  }

  /** Writes the state after the operation asked last, where that was written. */
  async state(): Promise<void> {
    if (!this.isWritten || this.#adapter === null) return;
    const state = await this.#adapter.state();
    if (state === null) this.lostStates += 1;
    else this.#put({ kind: "state", n: this.#n - 1, state });
  }

  async end(): Promise<void> {
    const closed = this.#adapter === null ? NOT_ASKED : await this.#candidate.close();
    this.#adapter = null;
    if (closed.failure !== null) this.#break("end", closed.failure);
    else if (this.#isOpen && this.#operations > 0) {
      const digest = this.#hasDigests ? closed.digest : null;
      this.#writer.end(this.#line.run, this.#operations, digest);
    }
  }

  async #ask(operation: Operation): Promise<Answer | null> {
    const adapter = this.#adapter;
    if (adapter === null) return null;
    const { op } = operation;
    if (!adapter.info.ops.includes(op)) throw unanswered(op);
    const { answers, failure } = await adapter.apply([operation]);
    const [answer] = answers;
    const fault = failure ?? this.#fault(operation, answer);
    if (answer !== undefined && fault === null) return answer;
    this.#break(op, fault ?? { kind: "protocol", message: "gave no answer" });
    return null;
  }

  #fault({ op }: Operation, answer: Answer | undefined): AdapterFailure | null {
    if (answer === undefined) return null;
    if (answer.err?.code === "unsupported") throw unanswered(op);
    const problem = answerProblemOf(op, answer, this.#words);
    if (problem !== null)
      return { kind: "protocol", message: `the answer at ${problem.path}: ${problem.message}` };
    if (op !== "boot" || answer.ok === undefined || !this.#hasDigests) return null;
    const missing = missingComponents(bandsOf(answer.ok as object), answer.digest);
    if (missing.length === 0) return null;
    return { kind: "protocol", message: `operation 0 lists no digest of ${missing.join(", ")}` };
  }

  #write(line: OpLine, operation: Operation, answer: Answer): void {
    const { ok, err, fx, digest, message } = answer;
    const kept = Object.entries(line).filter(
      ([key]) => key === "site" || key === "at_us" || key.startsWith("x_"),
    );
    for (const held of this.#held ?? []) this.#writer.line(held);
    this.#held = null;
    this.#put({
      kind: "op",
      n: this.#n,
      ...operation,
      ...(ok === undefined ? {} : { ok }),
      ...(err === undefined ? {} : { err }),
      ...(fx === undefined ? {} : { fx }),
      ...(digest === undefined || !this.#hasDigests ? {} : { digest }),
      ...(message === undefined ? {} : { message }),
      ...Object.fromEntries(kept),
    } as TraceLine); // an answer to this operation, as was checked
    this.#n += 1;
    this.#operations += 1;
    this.isWritten = true;
  }

  #put(line: TraceLine): void {
    if (this.#held === null) this.#writer.line(line);
    else this.#held.push(line);
  }

  #break(op: string, failure: AdapterFailure): void {
    this.broken ??= { run: this.#line.run, n: this.#n, op, failure };
    this.#adapter = null;
  }
}

const NOT_ASKED = { digest: null, failure: null };

/** The recorded answer of a log, which tells lives and no places. */
function recorded({ op, ok, err, message }: OpLine): Answer {
  if (ok !== undefined && "address_offset" in ok)
    throw unanswered(`${op}, whose answers tell places: name --impl heap:POLICY;`);
  return {
    ...(ok === undefined ? {} : { ok }),
    ...(err === undefined ? {} : { err }),
    ...(message === undefined ? {} : { message }),
  };
}

function unanswered(what: string): CandidateError {
  const message = `what is left is asked anew, and the implementation does not answer ${what}`;
  return new CandidateError("candidate_handshake", message);
}

function derivedOf(config: RunConfig): { readonly derived?: DirectConfig } {
  if (!isModelConfig(config)) return {};
  const derived = deriveConfig(config);
  return "refusal" in derived ? {} : { derived: derived.derived };
}
