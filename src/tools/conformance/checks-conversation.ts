// Checks of the conversation: opening and closing, numbers and order, refusals of what cannot be done, bad lines.
import type { RunOpening } from "../../adapter/adapter.js";
import { parseReply, quoteLine } from "../../adapter/protocol.js";
import { canonicalJson } from "../../base/canonical-json.js";
import type { Answer, Domain, Operation, OperationName, RunConfig } from "../../base/operations.js";
import { answerProblemOf } from "../../trace/check.js";
import { findOperation } from "../../trace/operation-table.js";
import type { Workload } from "../../workload/workload.js";
import { shown } from "./asked.js";
import { type Check, type CheckOutcome, PASSED } from "./check.js";
import type { Conversation } from "./conversation.js";
import { Fault } from "./fault.js";
import { operationSource, taken } from "./operations.js";
import { BASE_OPERATIONS, type Stage } from "./subject.js";

/** Two runs one after the other on one start. */
async function opensAgain(stage: Stage): Promise<CheckOutcome> {
  return stage.subject.with(async (conversation) => {
    for (const run of ["first", "second"]) {
      await stage.open(conversation, stage.opening(run));
      const [operation] = taken(operationSource(stage.domain, stage.ops, stage.config), 1);
      if (operation !== undefined) await stage.ask(conversation, [operation]);
      await conversation.close(run);
    }
    return PASSED;
  });
}

/** Asks one operation after the other, and keeps what was answered for the checks that follow. */
async function answersInTurn(stage: Stage): Promise<CheckOutcome> {
  const { workload } = stage;
  if (workload === null) {
    const source = operationSource(stage.domain, stage.ops, stage.config);
    const operations = taken(source, BASE_OPERATIONS);
    if (operations.length === 0) return { skipped: "it answers no operation that could be sent" };
    stage.operations = operations;
    stage.answers = (await stage.perform(operations, null, 1)).answers;
  } else {
    await performWorkload(stage, workload);
  }
  const kinds = new Set(stage.operations.map(({ op }) => op));
  return { note: `${stage.operations.length} operations of ${kinds.size} kinds` };
}

async function performWorkload(stage: Stage, workload: Workload): Promise<void> {
  const operations: Operation[] = [];
  const answers: Answer[] = [];
  await stage.subject.with(async (conversation) => {
    await stage.open(conversation, stage.opening("conformance"));
    let answer: Answer | null = null;
    for (;;) {
      const step = workload.next(answer);
      // a workload ends before a kind that is not answered
      if (step === null || !("operation" in step) || !stage.ops.has(step.operation.op)) break;
      const [given = null] = await stage.ask(conversation, [step.operation], 1);
      answer = given;
      operations.push(step.operation);
      if (given !== null) answers.push(given);
    }
    await conversation.close("conformance");
  });
  stage.operations = operations;
  stage.answers = answers;
}

/** The same operations, 256 in flight. */
async function answersInWindows(stage: Stage): Promise<CheckOutcome> {
  const { answers } = await stage.perform(stage.operations);
  const found = firstDifference(stage.answers, answers);
  if (found === null) return PASSED;
  throw new Fault(
    `answers operation ${found.n} otherwise when 256 are in flight`,
    [lineAt(stage.operations, found.n)],
    [JSON.stringify(found.was), JSON.stringify(found.is)],
  );
}

async function answersAreOfTheFormat(stage: Stage): Promise<CheckOutcome> {
  for (const [n, answer] of stage.answers.entries()) {
    const operation = stage.operations[n];
    if (operation === undefined) continue;
    const problem = answerProblemOf(operation.op, answer, stage.words);
    if (problem === null) continue;
    const what = `gives operation ${n} (${operation.op}) an answer that the format does not know`;
    throw new Fault(
      `${what}: at ${problem.path === "" ? "/" : problem.path}: ${problem.message}`,
      [lineAt(stage.operations, n)],
      [JSON.stringify(answer)],
    );
  }
  return PASSED;
}

/** The same run again, on a fresh start. */
async function repeatsItself(stage: Stage): Promise<CheckOutcome> {
  const { answers } = await stage.performAfresh(stage.operations);
  const found = firstDifference(stage.answers, answers);
  if (found === null) return PASSED;
  throw new Fault(
    `answers differently in two identical runs: operation ${found.n} (${stage.operations[found.n]?.op ?? ""})`,
    [lineAt(stage.operations, found.n)],
    [JSON.stringify(found.was), JSON.stringify(found.is)],
  );
}

async function namesUnknownOperations(stage: Stage): Promise<CheckOutcome> {
  return stage.subject.with(async (conversation) => {
    await stage.open(conversation, stage.opening("unknown"));
    const boot: Operation[] = stage.domain === "kv" ? [{ op: "boot", args: {} }] : [];
    await stage.ask(conversation, boot);
    const n = boot.length;
    const line = `{"n":${n},"op":"no.such_operation","args":{}}\n`;
    const event = await conversation.exchange(line);
    const reply = event.kind === "line" ? parseReply(event.line) : null;
    if (reply?.kind === "error") return PASSED;
    if (reply?.kind === "answer" && reply.answer.err?.code === "unsupported") return PASSED;
    const expected = `expected an "error" line or err.code "unsupported"`;
    const did =
      event.kind === "end"
        ? "dies without a word at"
        : event.kind === "silence"
          ? "hangs at"
          : "grants";
    throw new Fault(
      `${did} an operation that it does not know (${expected})`,
      [line],
      [shown(event)],
    );
  });
}

const BAD: Readonly<Record<Domain, RunConfig>> = {
  kv: { page_size: 0, arena_bytes: 0, sub_pools: [], rows: 0, row_tokens: 0 },
  heap: { arena_bytes: -1 } as unknown as RunConfig, // any object may be sent
};

/** A refused opening ends nothing. */
async function survivesRefusedOpenings(stage: Stage): Promise<CheckOutcome> {
  return stage.subject.with(async (conversation, info) => {
    const other = stage.domain === "kv" ? "heap" : "kv";
    const refusedRuns: string[] = [];
    if (!info.domains.includes(other)) {
      const opening: RunOpening = { ...stage.opening("other"), domain: other };
      if ((await conversation.open(opening)) === null) {
        const problem = `opens a run of domain ${other}, which its hello does not list`;
        throw new Fault(problem, [JSON.stringify({ open: { run: "other", domain: other } })]);
      }
      refusedRuns.push(`domain ${other}`);
    }
    if ((await conversation.open({ ...stage.opening("bad"), config: BAD[stage.domain] })) === null)
      await conversation.close("bad");
    else refusedRuns.push(`configuration ${JSON.stringify(BAD[stage.domain])}`);
    if (refusedRuns.length === 0)
      return { skipped: `it takes even ${JSON.stringify(BAD[stage.domain])}` };
    await stage.open(conversation, stage.opening("good"));
    const again = await stage.ask(conversation, stage.operations.slice(0, 8));
    await conversation.close("good");
    const found = firstDifference(stage.answers.slice(0, again.length), again);
    if (found === null) return { note: `refused: ${refusedRuns.join(", ")}` };
    throw new Fault(
      `answers operation ${found.n} otherwise after a refused opening`,
      [lineAt(stage.operations, found.n)],
      [JSON.stringify(found.was), JSON.stringify(found.is)],
    );
  });
}

/** What `checks` of a domain ask, in this order. @internal */
export const CONVERSATION_CHECKS: readonly Check[] = [
  { name: "a run opens and closes, and another after it", run: opensAgain },
  { name: "answers one operation at a time, with its n", run: answersInTurn },
  { name: "answers 256 in flight, in order", run: answersInWindows },
  { name: "answers hold what the trace format knows", run: answersAreOfTheFormat },
  { name: "two identical runs are answered alike", run: repeatsItself },
  { name: "an operation that it does not know is named as such", run: namesUnknownOperations },
  { name: "a refused opening leaves it usable", run: survivesRefusedOpenings },
];

/** A line that is no message gets an error, or ends the program; never an answer, never silence. @internal */
export async function refusesBadLine(conversation: Conversation): Promise<CheckOutcome> {
  const line = "this is no message\n";
  const event = await conversation.exchange(line);
  if (event.kind === "end") return { note: `it ends without an "error" line: ${event.reason}` };
  const reply = event.kind === "line" ? parseReply(event.line) : null;
  if (reply?.kind === "error") return PASSED;
  const did = event.kind === "silence" ? "says nothing to" : "answers";
  const expected = `expected an "error" line`;
  throw new Fault(`${did} a line that is no message (${expected})`, [line], [shown(event)]);
}

/** It ends by itself when its input does. @internal */
export async function endsWithItsInput(conversation: Conversation): Promise<CheckOutcome> {
  const reason = await conversation.dialog.finish();
  if (!/was killed by SIG(?:TERM|KILL)/.test(reason))
    return { note: reason === "" ? null : reason };
  const sent = ["the end of its input"];
  throw new Fault("goes on for half a second after its input ended", sent, [reason]);
}

/** What its hello says that the tool cannot make sense of; null: nothing. @internal */
export function helloProblem(domains: readonly string[], ops: readonly string[]): string | null {
  if (domains.length === 0) return `"domains" is empty`;
  const unknown = domains.find((domain) => domain !== "kv" && domain !== "heap");
  if (unknown !== undefined) return `"domains" names ${quoteLine(unknown)}, expected kv or heap`;
  if (ops.length === 0) return `"ops" is empty`;
  const twice = ops.find((op, index) => ops.indexOf(op) !== index);
  if (twice !== undefined) return `"ops" names ${quoteLine(twice)} twice`;
  if (domains.includes("kv") && !ops.includes("boot"))
    return `"domains" has kv, but "ops" lacks boot, which begins every run`;
  return null;
}

/** Operations of its hello that this version does not know. @internal */
export function unknownOperations(ops: readonly string[]): string[] {
  return ops.filter((op) => findOperation(op as OperationName) === undefined);
}

/** The first operation that is answered otherwise, digests and remarks left out. @internal */
export function firstDifference(
  was: readonly Answer[],
  is: readonly Answer[],
): { readonly n: number; readonly was: Answer; readonly is: Answer } | null {
  for (const [n, answer] of was.entries()) {
    const other = is[n];
    if (other !== undefined && bare(answer) !== bare(other)) return { n, was: answer, is: other };
  }
  return null;
}

/** The line of an operation of a list. @internal */
export function lineAt(operations: readonly Operation[], n: number): string {
  return JSON.stringify({ n, ...operations[n] });
}

function bare({ digest: _digest, message: _message, ...rest }: Answer): string {
  return canonicalJson(rest);
}
