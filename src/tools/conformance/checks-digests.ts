// Digest honesty: a digest that stays when the state must change, changes when nothing does, or differs between two
// identical runs is a lie, and every comparison that trusts it is worth nothing.
import { FIXED_COMPONENTS, type Answer, type DigestDepth } from "../../base/operations.js";
import { foldDigests } from "../../base/digest.js";
import { bandsOf, missingComponents } from "../../trace/digest-rules.js";
import { findOperation } from "../../trace/operation-table.js";
import type { Check, CheckOutcome } from "./check.js";
import { lineAt } from "./checks-conversation.js";
import { mustChange } from "./checks-truth.js";
import { Fault } from "./fault.js";
import type { Performed, Stage } from "./subject.js";

const LIES = "lies about its digests";

/** The depth that is asked for: `layout` where it is given, which has all that decides. */
function depthOf(deepest: DigestDepth): DigestDepth {
  return deepest === "deep" ? "layout" : deepest;
}

async function digestsAreHonest(stage: Stage): Promise<CheckOutcome> {
  const { digest: deepest } = stage.info;
  unaskedDigest(stage);
  if (deepest === null) return { skipped: "its hello says that it has none" };
  const depth = depthOf(deepest);
  const first = await stage.perform(stage.operations, depth);
  const hasNone = first.answers.every(({ digest }) => digest === undefined);
  // a hello speaks for all domains at once, and only kv has components of its own
  if (hasNone && stage.domain === "heap" && stage.info.domains.includes("kv"))
    return { skipped: "it gives none in domain heap" };
  if (hasNone)
    throw new Fault(`promises digests of depth ${deepest} and gives none`, [
      JSON.stringify({ open: { digest_depth: depth } }),
    ]);
  if (stage.domain === "kv") listsAllAtBoot(stage, first.answers);
  const values = followChanges(stage, first.answers);
  const second = await stage.performAfresh(stage.operations, depth);
  sameInBoth(stage, first, second);
  if (stage.domain === "kv") foldAgrees(values, first);
  return { note: `depth ${depth}, ${stage.operations.length} operations` };
}

// The base run was opened without digests.
function unaskedDigest(stage: Stage): void {
  const at = stage.answers.findIndex(({ digest }) => digest !== undefined);
  if (at < 0) return;
  const problem = "gives digests in a run that was opened without them";
  throw new Fault(problem, [lineAt(stage.operations, at)], [JSON.stringify(stage.answers[at])]);
}

function listsAllAtBoot(stage: Stage, answers: readonly Answer[]): void {
  const [boot] = answers;
  if (boot?.ok === undefined) return;
  const missing = missingComponents(bandsOf(boot.ok as object), boot.digest);
  if (missing.length === 0) return;
  const problem = `operation 0 lists no digest of ${missing.join(", ")}`;
  throw new Fault(problem, [lineAt(stage.operations, 0)], [JSON.stringify(boot)]);
}

/** Follows the value of each component; the values at the end. */
function followChanges(stage: Stage, answers: readonly Answer[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [n, answer] of answers.entries()) {
    const operation = stage.operations[n];
    if (operation === undefined) continue;
    const changed = Object.entries(answer.digest ?? {}).filter(
      ([component, value]) => values.get(component) !== value,
    );
    const sent = [lineAt(stage.operations, n)];
    const came = [JSON.stringify(answer)];
    const [component = ""] = changed[0] ?? [];
    const at = `at operation ${n} (${operation.op})`;
    if (changed.length > 0 && findOperation(operation.op)?.isQuestion === true)
      throw new Fault(`${LIES}: that of ${component} changes at a question, ${at}`, sent, came);
    if (changed.length > 0 && answer.err !== undefined)
      throw new Fault(`${LIES}: that of ${component} changes at a refusal, ${at}`, sent, came);
    if (changed.length === 0 && mustChange(operation, answer))
      throw new Fault(`${LIES}: none changes ${at}, which must change the state`, sent, came);
    for (const [name, value] of changed) values.set(name, value);
  }
  return values;
}

function sameInBoth(stage: Stage, first: Performed, second: Performed): void {
  for (const [n, { digest = {} }] of first.answers.entries()) {
    const other = second.answers[n]?.digest ?? {};
    const names = [...Object.keys(digest), ...Object.keys(other)];
    const component = names.find((name) => digest[name] !== other[name]);
    if (component === undefined) continue;
    throw new Fault(
      `${LIES}: that of ${component} differs between two identical runs at operation ${n}`,
      [lineAt(stage.operations, n)],
      [JSON.stringify(digest), JSON.stringify(other)],
    );
  }
  if (first.digest === second.digest) return;
  const problem = `${LIES}: that of "closed" differs between two identical runs`;
  throw new Fault(problem, [], [String(first.digest), String(second.digest)]);
}

function foldAgrees(values: ReadonlyMap<string, string>, { answers, digest }: Performed): void {
  const [boot] = answers;
  if (boot?.ok === undefined) return;
  const order = [...bandsOf(boot.ok as object), ...FIXED_COMPONENTS];
  const expected = foldDigests(order.map((name) => values.get(name) ?? "0".repeat(16)));
  if (digest === expected) return;
  const problem = `${LIES}: that of "closed" is not the fold of its components`;
  const came = [`"closed" has ${String(digest)}`, `the fold is ${expected}`];
  throw new Fault(problem, [`{"close":{"run":"conformance"}}`], came);
}

/** @internal */
export const DIGEST_CHECKS: readonly Check[] = [
  { name: "its digests are honest", run: digestsAreHonest },
];
