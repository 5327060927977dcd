// Checks of what an implementation claims: that a refusal and a question change nothing, that a state is one, that a
// run goes on from it.
import { canonicalJson } from "../../base/canonical-json.js";
import type { Answer, Operation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import { findOperation } from "../../trace/operation-table.js";
import { STATE } from "../../trace/state-spec.js";
import { type Check, type CheckOutcome, PASSED } from "./check.js";
import { firstDifference, lineAt } from "./checks-conversation.js";
import { Fault } from "./fault.js";
import { hopeless, questions } from "./operations.js";
import type { Stage } from "./subject.js";

const EVERY = 5; // operations between two that are put in

/** The base run with operations put in; `isOwn` tells which are the base's. */
interface Mixed {
  readonly operations: readonly Operation[];
  readonly isOwn: readonly boolean[];
}

function mixed(stage: Stage, put: (n: number) => readonly Operation[]): Mixed {
  const operations: Operation[] = [];
  const isOwn: boolean[] = [];
  for (const [n, operation] of stage.operations.entries()) {
    operations.push(operation);
    isOwn.push(true);
    for (const other of put(n)) {
      operations.push(other);
      isOwn.push(false);
    }
  }
  return { operations, isOwn };
}

/** Asks a mixed run and compares the base's own operations with the base run. */
async function compareMixed(stage: Stage, mix: Mixed, what: string): Promise<readonly Answer[]> {
  const { answers } = await stage.perform(mix.operations);
  const own = answers.filter((_, at) => mix.isOwn[at]);
  const found = firstDifference(stage.answers, own);
  if (found === null) return answers;
  const at = mix.isOwn.flatMap((is, index) => (is ? [index] : []))[found.n] ?? 0;
  const before = mix.isOwn.lastIndexOf(false, at);
  throw new Fault(
    `${what} changed something: operation ${at} is answered otherwise than without it`,
    [lineAt(mix.operations, before), lineAt(mix.operations, at)],
    [`without: ${JSON.stringify(found.was)}`, `with: ${JSON.stringify(found.is)}`],
  );
}

/** Which hopeless operations it really refuses, each asked in a run of its own. */
async function refusedKinds(stage: Stage): Promise<ReadonlySet<string>> {
  const { domain, ops, config } = stage;
  const first: Operation[] = domain === "kv" ? [{ op: "boot", args: {} }] : [];
  return stage.subject.withKept(async (conversation) => {
    const kinds = new Set<string>();
    for (const operation of hopeless(domain, ops, config, 0)) {
      await stage.open(conversation, stage.opening(operation.op));
      const answers = await stage.ask(conversation, [...first, operation]);
      await conversation.close(operation.op);
      if (answers.at(-1)?.err !== undefined) kinds.add(operation.op);
    }
    return kinds;
  });
}

async function refusalsChangeNothing(stage: Stage): Promise<CheckOutcome> {
  const kinds = await refusedKinds(stage);
  const put = (n: number): readonly Operation[] => {
    // a refused operation is refused again at once, for nothing has changed
    const own = stage.operations[n];
    const again = own !== undefined && stage.answers[n]?.err !== undefined ? [own] : [];
    if (n % EVERY !== 0) return again;
    const { domain, ops, config } = stage;
    return [...again, ...hopeless(domain, ops, config, n).filter(({ op }) => kinds.has(op))];
  };
  const mix = mixed(stage, put);
  const count = mix.isOwn.filter((is) => !is).length;
  if (count === 0) return { skipped: "it refuses nothing of what could be sent" };
  const answers = await compareMixed(stage, mix, "a refused operation");
  for (const [at, answer] of answers.entries()) {
    if (mix.isOwn[at] === true || answer.err !== undefined) continue;
    const problem = `grants what it refused before, though nothing changed`;
    throw new Fault(problem, [lineAt(mix.operations, at)], [JSON.stringify(answer)]);
  }
  await statesStay(stage, kinds);
  return { note: `${count} refused operations put in` };
}

// Where a full state is told it must be the same before and after a refusal.
async function statesStay(stage: Stage, kinds: ReadonlySet<string>): Promise<void> {
  await stage.subject.withKept(async (conversation) => {
    await stage.open(conversation, stage.opening("conformance"));
    await stage.ask(conversation, stage.operations.slice(0, stage.operations.length >> 1));
    const { domain, ops, config } = stage;
    for (const operation of hopeless(domain, ops, config, 1)) {
      if (!kinds.has(operation.op)) continue;
      const before = await conversation.state();
      const answers = await stage.ask(conversation, [operation]);
      const after = await conversation.state();
      if (textOf(before) === textOf(after) || answers[0]?.err === undefined) continue;
      const sent = [JSON.stringify(operation)];
      const came = [JSON.stringify(answers[0])];
      throw new Fault(`a refused ${operation.op} changed the state`, sent, came);
    }
    await conversation.close("conformance");
  });
}

async function questionsChangeNothing(stage: Stage): Promise<CheckOutcome> {
  if (stage.domain === "heap") return { skipped: "domain heap has no questions" };
  if (questions(stage.ops, 1).length === 0) return { skipped: "it answers no questions" };
  const put = (n: number): readonly Operation[] =>
    n % EVERY === 0 ? questions(stage.ops, 1 + (n % 9)) : [];
  const mix = mixed(stage, put);
  const answers = await compareMixed(stage, mix, "a question");
  for (const [at, answer] of answers.entries()) {
    if (mix.isOwn[at] === true || answer.fx === undefined) continue;
    const problem = "a question has effects";
    throw new Fault(problem, [lineAt(mix.operations, at)], [JSON.stringify(answer)]);
  }
  return { note: `${mix.isOwn.filter((is) => !is).length} questions put in` };
}

/** Whether a granted operation surely changed what the implementation holds. @internal */
export function mustChange({ op, args }: Operation, answer: Answer): boolean {
  if (answer.ok === undefined) return false;
  switch (op) {
    case "heap.alloc":
      return args.size_bytes > 0;
    case "row.alloc":
      return args.reqs.length > 0;
    case "heap.free":
    case "row.free":
    case "request.finish":
      return true;
    case "state.alloc":
      return args.count > 0;
    case "tokens.extend":
    case "tokens.decode":
      return JSON.stringify(answer.ok).includes("[[");
    default:
      return false;
  }
}

/** A state as text, without the keys that are never compared. */
function textOf(state: State | null): string {
  const bare = JSON.stringify(state, (key, member: unknown) =>
    key.startsWith("x_") ? undefined : member,
  );
  return canonicalJson(JSON.parse(bare));
}

/** How many operations are asked one by one with the state around each. */
const STATE_OPERATIONS = 40;

async function statesAreHonest(stage: Stage): Promise<CheckOutcome> {
  return stage.subject.with(async (conversation) => {
    await stage.open(conversation, stage.opening("conformance"));
    let before = "";
    for (const [n, operation] of stage.operations.slice(0, STATE_OPERATIONS).entries()) {
      const [answer] = await stage.ask(conversation, [operation]);
      const state = await conversation.state();
      if (state === null) return { skipped: "it tells no state" };
      const line = [lineAt(stage.operations, n)];
      const problem =
        stage.domain === "kv" ? inspect(STATE, state, inspectContext(stage.words)) : null;
      if (problem !== null) {
        const where = `its state is none of the format: at ${problem.path}: ${problem.message}`;
        throw new Fault(where, line, [JSON.stringify(state)]);
      }
      const text = textOf(state);
      if (textOf(await conversation.state()) !== text)
        throw new Fault(`tells two states after operation ${n}`, line, [text]);
      const isStill = findOperation(operation.op)?.isQuestion === true;
      if (n > 0 && isStill && text !== before)
        throw new Fault(`its state changed at a question, operation ${n}`, line, [before, text]);
      if (n > 0 && answer !== undefined && mustChange(operation, answer) && text === before) {
        const unchanged = `its state did not change at operation ${n} (${operation.op}), which was granted`;
        throw new Fault(unchanged, line, [JSON.stringify(answer), text]);
      }
      before = text;
    }
    await conversation.close("conformance");
    return PASSED;
  });
}

async function goesOnFromState(stage: Stage): Promise<CheckOutcome> {
  if (!stage.info.fromState) return { skipped: "its hello does not say from_state" };
  const half = stage.operations.length >> 1;
  const state = await stage.subject.with(async (conversation) => {
    await stage.open(conversation, stage.opening("conformance"));
    await stage.ask(conversation, stage.operations.slice(0, half));
    return conversation.state();
  });
  if (state === null) throw new Fault("says from_state and tells no state", [], [`{"state":null}`]);
  const answers = await stage.subject.with(async (conversation) => {
    await stage.open(conversation, { ...stage.opening("conformance"), state });
    return stage.ask(conversation, stage.operations.slice(half));
  });
  const found = firstDifference(stage.answers.slice(half), answers);
  if (found === null) return { note: `from operation ${half - 1}` };
  throw new Fault(
    `answers operation ${found.n} after a state otherwise than in the whole run`,
    [lineAt(stage.operations, half + found.n)],
    [JSON.stringify(found.was), JSON.stringify(found.is)],
  );
}

/** @internal */
export const TRUTH_CHECKS: readonly Check[] = [
  { name: "a refused operation changes nothing", run: refusalsChangeNothing },
  { name: "a question changes nothing", run: questionsChangeNothing },
  { name: "its states are honest", run: statesAreHonest },
  { name: "a run goes on from a state", run: goesOnFromState },
];
