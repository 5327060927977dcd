// The protocol from the tool's side, message by message, with a name for everything that can go wrong.
import type { AdapterInfo, RunOpening } from "../../adapter/adapter.js";
import { tellingLine } from "../../adapter/log-lines.js";
import {
  encodeLine,
  encodeOpen,
  encodeOperation,
  type Mistake,
  oneLine,
  parseReply,
  PROTOCOL_VERSION,
  quoteLine,
  type Reply,
} from "../../adapter/protocol.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, Operation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { type Asked, lineOf, operationOf, shown } from "./asked.js";
import type { Dialog, Event } from "./dialog.js";
import { Fault } from "./fault.js";
import { orderFault } from "./order-fault.js";

/** Longest waits, in milliseconds. @internal */
export interface Waits {
  readonly answerMs: number;
  readonly startMs: number; // for hello, and for opened
}

/** Most operations in flight. @internal */
export const WINDOW = 256;

/** One conversation with one started implementation. @internal */
export class Conversation {
  readonly dialog: Dialog;
  readonly #waits: Waits;
  #next = 0; // number of the next operation
  #run = ""; // opened last
  #last: string | null = null; // line of the last operation, for what comes after it

  constructor(dialog: Dialog, waits: Waits) {
    this.dialog = dialog;
    this.#waits = waits;
  }

  /** Shakes hands. Throws `CandidateError` where there is nobody to talk to. */
  async greet(toolVersion: string): Promise<AdapterInfo> {
    const line = encodeLine({
      hello: { protocol: PROTOCOL_VERSION, tool: "unified-trace", version: toolVersion },
    });
    this.dialog.send(line);
    const event = await this.dialog.next(this.#waits.startMs);
    if (event.kind === "end" && !event.hasStarted)
      throw new CandidateError("candidate_start", `it cannot be started: ${event.reason}`);
    const reply = this.#reply(event, "its hello", [line]);
    if (reply.kind === "error" && reply.code === "candidate_start")
      throw new CandidateError("candidate_start", reply.message);
    if (reply.kind !== "hello") throw this.#undue(reply, "the hello", [line], event);
    if (reply.protocol !== PROTOCOL_VERSION) {
      const problem = `speaks protocol ${reply.protocol}; this tool speaks ${PROTOCOL_VERSION}`;
      throw new Fault(problem, [line], [shown(event)]);
    }
    return reply.info;
  }

  /** Opens a run; null, or why it is refused. */
  async open(opening: RunOpening): Promise<string | null> {
    const line = encodeOpen(opening);
    this.#run = opening.run;
    this.dialog.send(line);
    const event = await this.dialog.next(this.#waits.startMs);
    const reply = this.#reply(event, `opening run ${quoteLine(opening.run)}`, [line]);
    if (reply.kind === "error") return reply.message;
    if (reply.kind !== "opened") throw this.#undue(reply, `"opened"`, [line], event);
    if (reply.run !== opening.run) {
      const problem = `opened run ${quoteLine(reply.run)} where ${quoteLine(opening.run)} was asked for`;
      throw new Fault(problem, [line], [shown(event)]);
    }
    this.#next = 0;
    this.#last = null;
    return null;
  }

  /** Applies operations, at most `window` unanswered; the answers, all of them. */
  async ask(operations: readonly Operation[], window: number = WINDOW): Promise<Answer[]> {
    const first = this.#next;
    const answers: Answer[] = [];
    let sent = 0;
    while (answers.length < operations.length) {
      if (sent - answers.length <= window / 2) {
        const end = Math.min(operations.length, answers.length + window);
        let text = "";
        // sent is below the length
        for (; sent < end; sent++) text += encodeOperation(first + sent, operations[sent]!);
        if (text !== "") this.dialog.send(text);
      }
      const event = this.dialog.poll() ?? (await this.dialog.next(this.#waits.answerMs));
      const asked = { first, operations, answered: answers.length, sent };
      answers.push(await this.#answer(event, asked));
    }
    this.#next += operations.length;
    const last = operations.at(-1);
    if (last !== undefined) this.#last = encodeOperation(this.#next - 1, last);
    return answers;
  }

  /** The full state after the last operation, null where there is none. */
  async state(): Promise<State | null> {
    const line = encodeLine({ state: { n: Math.max(0, this.#next - 1) } });
    this.dialog.send(line);
    const event = await this.dialog.next(this.#waits.answerMs);
    const reply = this.#reply(event, `"state"`, [line]);
    if (reply.kind !== "state") throw this.#undue(reply, `"state"`, [line], event);
    return reply.state;
  }

  /** Closes the run; the folded digest. */
  async close(run: string): Promise<string | null> {
    const line = encodeLine({ close: { run } });
    this.dialog.send(line);
    const event = await this.dialog.next(this.#waits.answerMs);
    const reply = this.#reply(event, `"close"`, [line]);
    if (reply.kind !== "closed") throw this.#undue(reply, `"closed"`, [line], event);
    if (reply.run !== run) {
      const problem = `closed run ${quoteLine(reply.run)} where ${quoteLine(run)} was open`;
      throw new Fault(problem, [line], [shown(event)]);
    }
    return reply.digest;
  }

  /** Sends a line that may be no message, and gives what comes. */
  exchange(line: string): Promise<Event> {
    this.dialog.send(line);
    return this.dialog.next(this.#waits.answerMs);
  }

  async #answer(event: Event, asked: Asked): Promise<Answer> {
    const n = asked.first + asked.answered;
    const line = lineOf(asked, n);
    if (event.kind === "silence") throw await this.#silence(asked);
    const reply = this.#reply(event, `operation ${n}`, [line]);
    if (reply.kind === "answer" && reply.n === n) return reply.answer;
    if (reply.kind === "answer") {
      const waitMs = Math.min(300, this.#waits.answerMs);
      throw await orderFault(this.dialog, reply.n, shown(event), asked, waitMs);
    }
    if (reply.kind === "error") {
      const problem = `refuses operation ${n} (${operationOf(asked, n)}) with an error: ${reply.message}`;
      throw new Fault(problem, [line], [shown(event)]);
    }
    throw this.#undue(reply, `the answer to operation ${n}`, [line], event);
  }

  // Silence with one operation in flight is a hang or a skipped answer: the next operation tells, or the same one under
  // the next number where it was the last of its list; where that is passed over as well, the end of the run does.
  async #silence(asked: Asked): Promise<Fault> {
    const n = asked.first + asked.answered;
    const seconds = this.#waits.answerMs / 1000;
    const what = `operation ${n} (${operationOf(asked, n)})`;
    const following = asked.operations[asked.answered + 1] ?? asked.operations[asked.answered];
    const isAlone = asked.sent - asked.answered === 1;
    const sent = [lineOf(asked, n)];
    for (const line of isAlone && following !== undefined
      ? [encodeOperation(n + 1, following), encodeLine({ close: { run: this.#run } })]
      : []) {
      this.dialog.send(line);
      sent.push(line);
      const event = await this.dialog.next(Math.min(1000, this.#waits.answerMs));
      const reply = event.kind === "line" ? parseReply(event.line) : null;
      const isBehind = reply?.kind === "answer" ? reply.n === n + 1 : reply?.kind === "closed";
      if (isBehind) return new Fault(`skips the answer to ${what}`, sent, [shown(event)]);
      if (event.kind === "end") break;
    }
    return new Fault(
      `hangs: no answer to ${what} for ${seconds} s${this.#said()}`,
      [lineOf(asked, n)],
      ["nothing"],
    );
  }

  // The reply in an event, or a fault that names what came instead.
  #reply(event: Event, what: string, sent: readonly string[]): Reply {
    switch (event.kind) {
      case "silence":
        throw new Fault(`hangs: no answer to ${what}${this.#said()}`, sent, ["nothing"]);
      case "end":
        throw new Fault(`dies at ${what}: ${event.reason}${this.#said()}`, sent, [event.reason]);
      case "overlong":
        throw new Fault(`writes a line over 64 MiB at ${what}`, sent, ["a line over 64 MiB"]);
      case "line": {
        const reply: Reply | Mistake = parseReply(event.line);
        if (reply.kind === "mistake")
          throw new Fault(mistakeProblem(reply.message, what), sent, [event.line]);
        if (reply.kind !== "fail") return reply;
        const { kind, message } = reply.failure;
        throw new Fault(`says at ${what} that it is broken (${kind}): ${message}`, sent, [
          event.line,
        ]);
      }
    }
  }

  // A proper reply that nothing asked for now.
  #undue(reply: Reply, due: string, sent: readonly string[], event: Event): Fault {
    const last = this.#next - 1;
    if (reply.kind === "answer" && this.#last !== null && reply.n === last)
      return new Fault(`answers operation ${last} twice`, [this.#last, ...sent], [shown(event)]);
    if (reply.kind === "error")
      return new Fault(`refuses ${due} with an error: ${reply.message}`, sent, [shown(event)]);
    return new Fault(`writes "${reply.kind}" where ${due} is due`, sent, [shown(event)]);
  }

  #said(): string {
    const line = oneLine(tellingLine(this.dialog.logTail())).slice(0, 200);
    return line === "" ? "" : `; its log says: ${line}`;
  }
}

// Rubbish is told from a message that is almost one.
function mistakeProblem(message: string, what: string): string {
  const isRubbish = /^(?:not JSON|not an object|an empty line|nested deeper|no message)/.test(
    message,
  );
  return isRubbish
    ? `writes garbage where the answer to ${what} is due: ${message}`
    : `gives a malformed answer to ${what}: ${message}`;
}
