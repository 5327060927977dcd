// Two runs of domain heap that differ in edits planted at known places. Operations speak of objects; names are given at
// the end, on each side in its own order, so that behind an insertion every number is another one.
import { Prng } from "../../../src/base/prng.js";
import type { FormedLine } from "../../../src/tools/align/forms.js";

/** An operation that speaks of objects. */
export interface Step {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>; // `object`, `from`, `to`, `pool`: numbers of objects or pools
}

/** The steps with names in the order of their opening. */
export function named(steps: readonly Step[], letter = "o"): FormedLine[] {
  const objects = new Map<unknown, string>();
  const pools = new Map<unknown, string>();
  const nameOf = (names: Map<unknown, string>, what: unknown, first: string): string => {
    const known = names.get(what) ?? `${first}${names.size + 1}`;
    names.set(what, known);
    return known;
  };
  return steps.map(({ op, args }, n) => {
    const { object, from, to, pool, ...rest } = args;
    return {
      n,
      op,
      args: {
        ...(object === undefined ? {} : { id: nameOf(objects, object, letter) }),
        ...(from === undefined ? {} : { from: nameOf(objects, from, letter) }),
        ...(to === undefined ? {} : { to: nameOf(objects, to, letter) }),
        ...(pool === undefined ? {} : { pool: nameOf(pools, pool, "p") }),
        ...rest,
      },
    };
  });
}

/** A legal run; `sizes`: how many different sizes there are, few make everything look alike. */
export function randomSteps(prng: Prng, count: number, sizes: number): Step[] {
  const steps: Step[] = [];
  const live: number[] = [];
  let [objects, pools] = [0, 0];
  while (steps.length < count) {
    const draw = prng.below(20);
    if (pools === 0 || draw === 0) {
      pools += 1;
      steps.push({
        op: "pool.make",
        args: { pool: `pool${pools}`, type: "quick", args: [prng.below(4)] },
      });
    } else if (draw < 9 || live.length === 0) {
      objects += 1;
      live.push(objects);
      const pool = `pool${prng.between(1, pools)}`;
      steps.push({
        op: "heap.alloc",
        args: { object: objects, pool, size_bytes: 8 * prng.between(1, sizes) },
      });
    } else if (draw < 16) {
      const [object] = live.splice(prng.below(live.length), 1);
      steps.push({ op: "heap.free", args: { object } });
    } else if (draw < 18) {
      steps.push({
        op: "heap.copy",
        args: { from: prng.pick(live), to: prng.pick(live), bytes: 4 },
      });
    } else {
      steps.push({
        op: "heap.realloc",
        args: { object: prng.pick(live), size_bytes: 8 * prng.between(1, sizes) },
      });
    }
  }
  return steps;
}

export type EditKind = "inserted" | "removed" | "changed" | "moved";

export interface PlantedEdit {
  readonly kind: EditKind;
  readonly base: readonly [from: number, to: number];
  readonly candidate: readonly [from: number, to: number];
}

export interface Planted {
  readonly base: readonly Step[];
  readonly candidate: readonly Step[];
  readonly edits: readonly PlantedEdit[]; // in the order of the base
}

const BLOCK_MAX = 10; // operations of a planted block

/** What stands on its own: objects that live inside it only, sizes that nothing else has. */
function ownBlock(prng: Prng, mark: number): Step[] {
  return wholeBlock(mark, prng.between(1, BLOCK_MAX / 2));
}

function wholeBlock(mark: number, count = BLOCK_MAX / 2): Step[] {
  const objects = Array.from({ length: count }, (_, index) => `own${mark}.${index}`);
  return [
    ...objects.map((object, index) => ({
      op: "heap.alloc",
      args: { object, pool: "pool1", size_bytes: 100_000 + mark * 100 + index },
    })),
    ...objects.map((object) => ({ op: "heap.free", args: { object } })),
  ];
}

/**
 * Plants edits of all kinds, with at least `apart` equal operations between two of them, and more than a block's between
 * the two places of a moved one: else it is what lies between them that moved.
 */
export function plantEdits(seed: number, steps: readonly Step[], apart: number): Planted {
  const prng = new Prng(seed, 31);
  const base: Step[] = [];
  const candidate: Step[] = [];
  const edits: PlantedEdit[] = [];
  let waiting: { readonly block: readonly Step[]; readonly at: number } | null = null; // moved, its second place to come
  let sinceLast = 0;
  for (const [index, step] of steps.entries()) {
    const isFar = sinceLast >= (waiting === null ? apart : Math.max(apart, 2 * BLOCK_MAX));
    const isDue = index > 0 && isFar && prng.chance(1, 8);
    if (isDue) {
      sinceLast = 0;
      const block = ownBlock(prng, index);
      const [i, j] = [base.length, candidate.length];
      const draw = prng.below(4);
      if (waiting !== null) {
        candidate.push(...waiting.block);
        const { length } = waiting.block;
        edits.push({
          kind: "moved",
          base: [waiting.at, waiting.at + length],
          candidate: [j, j + length],
        });
        waiting = null;
      } else if (draw === 0) {
        candidate.push(...block);
        edits.push({ kind: "inserted", base: [i, i], candidate: [j, j + block.length] });
      } else if (draw === 1) {
        base.push(...block);
        edits.push({ kind: "removed", base: [i, i + block.length], candidate: [j, j] });
      } else if (draw === 2 && step.op === "heap.alloc") {
        base.push(step);
        candidate.push({ ...step, args: { ...step.args, size_bytes: 900_000 + index } });
        edits.push({ kind: "changed", base: [i, i + 1], candidate: [j, j + 1] });
        continue;
      } else if (draw === 3) {
        base.push(...block);
        waiting = { block, at: i };
      }
    }
    sinceLast += 1;
    base.push(step);
    candidate.push(step);
  }
  if (waiting !== null) {
    const between = [1, 2, 3].flatMap((more) => wholeBlock(steps.length + more));
    base.push(...between);
    candidate.push(...between);
    const at = candidate.length;
    const { length } = waiting.block;
    candidate.push(...waiting.block);
    edits.push({
      kind: "moved",
      base: [waiting.at, waiting.at + length],
      candidate: [at, at + length],
    });
  }
  return { base, candidate, edits: edits.sort((one, other) => one.base[0] - other.base[0]) };
}
