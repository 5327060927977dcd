// Rewrites that change no other line: what only asks, what is refused, and hints of what has completed.
import type { KvOperation } from "../../base/operations.js";
import type { Prng } from "../../base/prng.js";
import { specOf } from "../shrink/arguments.js";
import { unchanged } from "./rewrite-types.js";
import type { AnsweredRun, Rewrite, RewrittenStep } from "./rewrite-types.js";

/** Questions are asked twice, left out, or asked where nobody did. @internal */
export const varyQuestions: Rewrite = (run, prng) => {
  if (isFolded(run)) return null;
  return varied(run, prng, (operation) => specOf(operation).isQuestion, questionOf(run));
};

/** Refused operations are tried twice or not at all. @internal */
export const varyRefusals: Rewrite = (run, prng) =>
  isFolded(run) ? null : varied(run, prng, (_, n) => n > 0 && run.answers[n]?.err !== undefined);

/** The digest of the stages folds what was asked: the one answer that other questions change. */
function isFolded({ ops }: AnsweredRun): boolean {
  return ops.some(({ op }) => op === "stages.digest");
}

function varied(
  { ops }: AnsweredRun,
  prng: Prng,
  isChosen: (operation: KvOperation, n: number) => boolean,
  putIn?: KvOperation,
): ReturnType<Rewrite> {
  const steps: RewrittenStep[] = [];
  let changes = 0;
  for (const [n, operation] of ops.entries()) {
    const times = isChosen(operation, n) ? prng.below(3) : 1;
    if (times !== 1) changes += 1;
    if (times > 0) steps.push(unchanged(operation, n));
    if (times > 1) steps.push({ operation, origin: n, part: "again" });
    if (putIn === undefined || !prng.chance(1, 8)) continue;
    steps.push({ operation: putIn, origin: null, part: "whole" });
    changes += 1;
  }
  return changes === 0 ? null : { steps, rule: "exact" };
}

/** A question that any run may be asked. */
function questionOf({ answers }: AnsweredRun): KvOperation {
  const boot = answers[0]?.ok;
  const bands = boot !== undefined && "bands" in boot ? Object.keys(boot.bands) : [];
  const demand = Object.fromEntries(bands.map((band) => [band, 1]));
  return { op: "ask.plan", args: { demand } };
}

/** Events are seen as fired at other moments, on one rank or another, or never. @internal */
export const varyTimes: Rewrite = ({ ops, answers }, prng) => {
  const steps: RewrittenStep[] = [];
  const recorded = new Set<string>(); // and not yet processed
  let changes = 0;
  for (const [n, operation] of ops.entries()) {
    const { op, args } = operation;
    if (op === "event.fire" && answers[n]?.err === undefined && prng.chance(1, 2)) {
      changes += 1;
      continue;
    }
    steps.push(unchanged(operation, n));
    if (answers[n]?.err !== undefined) continue;
    if (op === "forward.record") recorded.add(args.step);
    if (op === "forward.process") recorded.delete(args.step);
    if (recorded.size === 0 || !prng.chance(1, 6)) continue;
    const event = prng.pick([...recorded]);
    const fire: KvOperation = { op: "event.fire", args: { event, rank: prng.below(2) } };
    steps.push({ operation: fire, origin: null, part: "whole" });
    changes += 1;
  }
  return changes === 0 ? null : { steps, rule: "exact" };
};
