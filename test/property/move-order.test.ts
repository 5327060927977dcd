// Two floats placed anew: every relocation order happens, none copies into bytes that the other float still holds, and
// the payload survives on the model device.
import { expect, test } from "vitest";
import type { MovePair } from "../../src/base/effects.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { ModelDevice } from "../../src/device/model.js";
import { FloatBand } from "../../src/kv/alloc/float-band.js";
import { moveOrder, type Relocation } from "../../src/kv/alloc/relocation.js";
import { KVStorage } from "../../src/kv/storage.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 200;
const OPERATIONS = 400;
const ORDERS = ["up/up", "down/down", "up/down", "down/up"]; // the lower float's direction first

interface FloatMoves {
  readonly band: string;
  readonly pairs: MovePair[];
}

/** The moves of one operation by band, in the order in which the bands were moved; ends left out. */
function floatMoves(answer: Answer, floats: readonly string[]): FloatMoves[] {
  const moved: FloatMoves[] = [];
  for (const effect of answer.fx ?? []) {
    if (effect[0] !== "move" || !floats.includes(effect[1])) continue;
    const last = moved.at(-1);
    if (last?.band === effect[1]) last.pairs.push(...effect[2]);
    else moved.push({ band: effect[1], pairs: [...effect[2]] });
  }
  return moved;
}

/** A float moves up when its lowest page does; pages above holes may still come down. */
function isUp({ pairs }: FloatMoves): boolean {
  const [source, target] = pairs.reduce((low, pair) => (pair[0] < low[0] ? pair : low));
  return target > source;
}

/** Says which relocation order an operation used, or null where fewer than two floats moved. */
function orderOf(answer: Answer, [low, high]: readonly [string, string]): string | null {
  const moved = floatMoves(answer, [low, high]);
  if (moved.length < 2) return null;
  expect(moved, "each float moves once").toHaveLength(2);
  const [lower, upper] = [low, high].map((name) => moved.find(({ band }) => band === name)!);
  const directions = [lower!, upper!].map((moves) => (isUp(moves) ? "up" : "down"));
  // Up-movers first, the highest of them before the lower; then down-movers from the lowest.
  const expected = directions[1] === "up" ? [high, low] : [low, high];
  expect(
    moved.map(({ band }) => band),
    directions.join("/"),
  ).toEqual(expected);
  return directions.join("/");
}

function runSeed(pageSize: number, seed: number): Counts {
  const counts: Counts = Object.fromEntries(ORDERS.map((order) => [order, 0]));
  const layout = "full+2window+state";
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize });
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: "layout" });
  const device = new ModelDevice({ verify: "every" });
  let answer: Answer | null = null;
  let floats: readonly [string, string] | null = null;
  let done = 0;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    answer = storage.apply(operation);
    if (floats === null) {
      const boot = answer.ok as BootOk;
      device.open(config, boot);
      const names = Object.keys(boot.bands).filter((name) => boot.bands[name]!.grow === "float");
      floats = [names[0]!, names[1]!];
    }
    const violation = device.apply(operation, answer);
    expect(violation?.message ?? null, `${workload.run} operation ${String(done)}`).toBeNull();
    const order = orderOf(answer, floats);
    if (order !== null) counts[order]! += 1;
    done += 1;
  }
  expect(device.verifyAll()?.message ?? null, workload.run).toBeNull();
  return counts;
}

test("every relocation order of two floats happens, payload intact", () => {
  const total: Counts = {};
  for (const pageSize of [1, 3, 16, 64]) {
    for (const seed of seedsOf(SEEDS)) {
      const name = `move-order p${String(pageSize)} seed ${String(seed)}`;
      for (const [order, count] of Object.entries(sweepPart(name, () => runSeed(pageSize, seed))))
        total[order] = (total[order] ?? 0) + count;
    }
  }
  sweepTotal(`relocation orders, lower float first: ${JSON.stringify(total)}`);
  for (const order of ORDERS) expect(total[order], order).toBeGreaterThan(0);
});

/** Floats in chain order with a present span and a block each, both in order of bytes. */
function drawRelocations(prng: Prng): Relocation[] {
  const count = prng.between(2, 4);
  const grids = Array.from({ length: count }, () => prng.pick([1, 2, 3, 5, 8]));
  const live = grids.map(() => prng.between(1, 6));
  const holes = grids.map(() => prng.below(4));
  const spans = drawSpans(
    prng,
    grids,
    live.map((pages, index) => pages + holes[index]!),
  );
  const blocks = drawSpans(prng, grids, live);
  return grids.map((pageBytes, index) => {
    const plan = {
      name: `window_${String(index)}`,
      kind: "mha" as const,
      window: 1,
      isWindow: true,
      isOwner: false,
      unitsPerPage: 1,
      grow: "float" as const,
      unit_bytes: pageBytes,
      page_bytes: pageBytes,
      pages: 200,
      first_page: 1,
    };
    const band = new FloatBand(plan, index, 200, { layout: false });
    const [first, pages] = spans[index]!;
    band.moveSpan(first, first + pages);
    return { band, target: blocks[index]! };
  });
}

function drawSpans(
  prng: Prng,
  grids: readonly number[],
  needs: readonly number[],
): [number, number][] {
  let cursor = 8;
  return grids.map((pageBytes, index) => {
    const first = Math.ceil(cursor / pageBytes) + prng.below(prng.chance(1, 3) ? 8 : 2);
    cursor = (first + needs[index]!) * pageBytes;
    return [first, needs[index]!];
  });
}

/** Floats whose block meets bytes that another one, not moved yet, still spans. */
function conflicts(order: readonly Relocation[]): number {
  let found = 0;
  for (const [rank, { band, target }] of order.entries()) {
    const from = target[0] * band.plan.page_bytes;
    const to = (target[0] + target[1]) * band.plan.page_bytes;
    for (const { band: other } of order.slice(rank + 1)) {
      const low = other.low * other.plan.page_bytes;
      const end = other.end * other.plan.page_bytes;
      if (from < end && low < to) found += 1;
    }
  }
  return found;
}

test("no float is copied into bytes that another still holds", () => {
  let chainOrderFails = 0;
  let reverseFails = 0;
  for (let seed = 0; seed < 5000; seed++) {
    const relocations = drawRelocations(new Prng(seed, 11));
    const order = moveOrder(relocations);
    expect(new Set(order).size).toBe(relocations.length);
    expect(conflicts(order), `seed ${String(seed)}`).toBe(0);
    if (conflicts(relocations) > 0) chainOrderFails += 1;
    if (conflicts([...relocations].reverse()) > 0) reverseFails += 1;
  }
  // The order matters: neither fixed order would do.
  expect(chainOrderFails).toBeGreaterThan(100);
  expect(reverseFails).toBeGreaterThan(100);
});
