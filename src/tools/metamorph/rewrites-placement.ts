// Rewrites after which pages may lie elsewhere, and nothing else may differ: a pair put in at rest, a batch in parts,
// two operations on different requests in the other order.
import type { Answer, KvOperation } from "../../base/operations.js";
import { namesOf } from "../../trace/open-names.js";
import { unchanged } from "./rewrite-types.js";
import type { AnsweredRun, Rewrite, RewrittenStep } from "./rewrite-types.js";

const PAIRS_MAX = 3; // a run
const PAIR_TOKENS = 20;

/** A request that nobody knows takes pages at rest and gives them back. @internal */
export const putPairIn: Rewrite = (whole, prng) => {
  const run = untilFixed(whole);
  const rests = restsOf(run);
  const chosen = new Set<number>();
  for (let i = 0; i < PAIRS_MAX && rests.length > 0; i++) chosen.add(prng.pick(rests));
  const steps: RewrittenStep[] = [];
  for (const [n, operation] of run.ops.entries()) {
    steps.push(unchanged(operation, n));
    if (!chosen.has(n)) continue;
    const req = `r.pair${String(n)}`;
    const to = 1 + prng.below(PAIR_TOKENS);
    for (const put of pairOf(req, to)) steps.push({ operation: put, origin: null, part: "whole" });
  }
  return chosen.size === 0 ? null : { steps, rule: "placement" };
};

function pairOf(req: string, to: number): readonly KvOperation[] {
  return [
    { op: "row.alloc", args: { reqs: [req] } },
    { op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } },
    { op: "tokens.free", args: { req, from: 0, to, bands: "all" } },
    { op: "row.free", args: { req } },
  ];
}

/** Operations after which no forward is in flight and no group is open. */
function restsOf({ ops, answers }: AnsweredRun): number[] {
  const rests: number[] = [];
  const inFlight = new Set<string>();
  let isGroupOpen = false;
  for (const [n, { op, args }] of ops.entries()) {
    if (answers[n]?.err !== undefined) continue;
    if (op === "forward.launch") inFlight.add(args.step);
    if (op === "forward.process") inFlight.delete(args.step);
    if (op === "group.begin") isGroupOpen = true;
    if (op === "group.end") isGroupOpen = false;
    if (inFlight.size === 0 && !isGroupOpen) rests.push(n);
  }
  return rests;
}

/**
 * The run up to where a copy or a transfer first holds pages in place: from then on it may depend on where they lie
 * what fits.
 */
function untilFixed({ ops, answers }: AnsweredRun): AnsweredRun {
  const first = ops.findIndex(({ op, args }, n) => {
    const isBackup = op === "request.retract" && args.backup !== undefined;
    const isFixing = op.startsWith("host.") || op.startsWith("net.") || isBackup;
    return (isFixing && answers[n]?.err === undefined) || op.startsWith("stages.");
  });
  return first < 0 ? { ops, answers } : { ops: ops.slice(0, first), answers };
}

/** A batch that needed no room made is given in two parts. @internal */
export const splitBatches: Rewrite = (whole, prng) => {
  const run = untilFixed(whole);
  const steps: RewrittenStep[] = [];
  let changes = 0;
  for (const [n, operation] of run.ops.entries()) {
    const parts = isPlainTake(run.answers[n]) ? partsOf(operation, (most) => prng.below(most)) : [];
    if (parts.length === 0 || !prng.chance(1, 2)) {
      steps.push(unchanged(operation, n));
      continue;
    }
    changes += 1;
    for (const part of parts) steps.push({ operation: part, origin: n, part: "part" });
  }
  return changes === 0 ? null : { steps, rule: "virtual ids" };
};

function partsOf(operation: KvOperation, below: (most: number) => number): readonly KvOperation[] {
  const { op, args } = operation;
  if (op !== "tokens.extend" && op !== "tokens.decode") return [];
  const { batch } = args;
  if (batch.length < 2) return [];
  const at = 1 + below(batch.length - 1);
  return [batch.slice(0, at), batch.slice(at)].map(
    // a part of a batch of this kind
    (part) => ({ op, args: { batch: part } }) as KvOperation,
  );
}

function isPlainTake(answer: Answer | undefined): boolean {
  const ok = answer?.ok;
  return ok !== undefined && "step" in ok && ok.step === "no_move";
}

const TAKES: ReadonlySet<string> = new Set(["tokens.extend", "tokens.decode", "state.alloc"]);
const FREES: ReadonlySet<string> = new Set(["tokens.free", "window.retire", "state.free"]);

/** Neighbours that only take, or only free, for different requests change places. @internal */
export const swapNeighbours: Rewrite = (whole, prng) => {
  const run = untilFixed(whole);
  const steps: RewrittenStep[] = run.ops.map(unchanged);
  let changes = 0;
  for (let n = 1; n + 1 < steps.length; n++) {
    const [first, second] = [steps[n], steps[n + 1]];
    if (first === undefined || second === undefined) break;
    if (!areIndependent(run, n, n + 1) || !prng.chance(1, 2)) continue;
    steps.splice(n, 2, second, first);
    changes += 1;
    n += 1; // each moves by one place at most
  }
  return changes === 0 ? null : { steps, rule: "placement" };
};

function areIndependent({ ops, answers }: AnsweredRun, first: number, second: number): boolean {
  const [left, right] = [ops[first], ops[second]];
  if (left === undefined || right === undefined) return false;
  const areTakes =
    TAKES.has(left.op) &&
    TAKES.has(right.op) &&
    isPlainTake(answers[first]) &&
    isPlainTake(answers[second]);
  const areFrees =
    FREES.has(left.op) &&
    FREES.has(right.op) &&
    answers[first]?.err === undefined &&
    answers[second]?.err === undefined;
  if (!areTakes && !areFrees) return false;
  const names = new Set(namesOf(left).map(({ name }) => name));
  return namesOf(right).every(({ name }) => !names.has(name));
}
