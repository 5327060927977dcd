// Questions of capacity and their answers, as pipeline stages fold them: `stages.digest` (docs/trace-format.md, section 8).
// A refusal is an answer too, so what was asked outlives the copy of the world that a refusal drops.
import { hashName, hexOf, LaneSum } from "../base/digest.js";
import type { Demand, KvArgs, KvOk } from "../base/operations.js";
import { invalid, Refusal } from "./refusal.js";
import { type Asked, liveCount, type World } from "./world.js";

const PLACES = 64; // indices a question has for its own

/** Notes a question about pages and its answer. @internal */
export function noteAsked(world: World, kind: Asked["kind"], demand: Demand, isYes: boolean): void {
  const amounts = world.bands.map(({ name }) => demand[name] ?? 0);
  if (world.stages !== null) world.asked.push({ kind, amounts, isYes });
}

/** Carries out what a question asks for: yes where it is not refused. @internal */
export function askedTo<T>(world: World, kind: Asked["kind"], demand: Demand, work: () => T): T {
  try {
    const result = work();
    noteAsked(world, kind, demand, true);
    return result;
  } catch (error) {
    if (error instanceof Refusal) noteAsked(world, kind, demand, false);
    throw error;
  }
}

/** @internal */
export function stagesDigest(
  world: World,
  { peer }: KvArgs["stages.digest"],
): KvOk["stages.digest"] {
  if (world.stages === null) invalid("feature_conflict");
  const sum = new LaneSum();
  world.asked.forEach(({ kind, amounts, isYes }, at) => {
    sum.add(1, PLACES * at, hashName(kind));
    amounts.forEach((amount, place) => {
      sum.add(2, PLACES * at + place, amount);
    });
    sum.add(3, PLACES * at, isYes ? 1 : 0);
  });
  world.bands.forEach((band, place) => {
    sum.add(4, place, liveCount(band));
  });
  const digest = hexOf(sum.a, sum.b);
  const isChecked = (world.config.invariants ?? 1) > 0;
  if (isChecked && peer !== undefined && peer !== digest) invalid("stage_capacity_agreement");
  world.asked = [];
  return { digest };
}
