// Asks what a take would do, works the truth out by exhaustive search, and takes on copies of the run.
import { expect } from "vitest";
import { PAGE } from "../../src/kv/alloc/band.js";
import type { KvCore } from "../../src/kv/core.js";
import { idleViolations } from "../../src/kv/operations/idle.js";
import { stateOf } from "../../src/kv/state-io.js";
import { leastStep, servesInPlace } from "./placement-oracle.js";
import { copyOf, type TransferRun } from "./transfer-runs.js";

/** Asks one demand in every way there is, and tries it. Changes nothing of the run. */
export function probe(run: TransferRun, demand: readonly number[]): void {
  const { core, config } = run;
  const where = (): string => `demand ${JSON.stringify(demand)} of\n${run.where}`;
  const before = JSON.stringify(stateOf(core));
  const priced = core.chain.price(demand);
  const final = core.chain.finalPlan(demand);
  const none = demand.map(() => 0);
  expect(core.chain.fitsReclaimed(demand, none), `no frees: ${where()}`).toBe("step" in priced);
  expect(JSON.stringify(stateOf(core)), `a question changes nothing: ${where()}`).toBe(before);
  run.count("probes");
  const short = shortOf(core, demand);
  if (short !== null) {
    expect(priced, where()).toMatchObject(short);
    return;
  }
  const stays = leastStep(core, demand, "network_stays");
  const inPlace = servesInPlace(core, demand) ? "no_move" : null;
  const truth = inPlace ?? stays ?? leastStep(core, demand, "network_moves");
  if (truth === null) {
    expect(priced, where()).toMatchObject({ code: "refused_capacity" });
    run.count("probes none");
    return;
  }
  if (sendsLeftBehind(core)) run.count("probes beside vacated sends");
  const copy = copyOf(config, core);
  for (const transfer of copy.chain.ledger.transfers) transfer.isStalled = false;
  const tried = take(run, copy, demand, where);
  const stalled = tried.waited.filter(
    (name) => core.chain.ledger.transfers.find((transfer) => transfer.name === name)?.isStalled,
  );
  if (stalled.length > 0) {
    expect(priced, where()).toEqual({ code: "deadline", transfers: stalled });
    run.count("probes deadline");
    return;
  }
  if (!("step" in priced) || !("plan" in final))
    expect.fail(`a layout exists: ${JSON.stringify([priced, final])} ${where()}`);
  expect(final.plan.step, where()).toBe(tried.step);
  // Bytes that a send still reads may keep a float from its place: then the layouts are fewer.
  if (core.chain.fences.heldByTransfers().length > 0) {
    run.count("probes beside fenced sends");
  } else {
    expect(priced.inPlace, where()).toBe(inPlace !== null);
    expect(tried.step, where()).toBe(truth);
    if (inPlace !== null || stays !== null) {
      expect(tried.waited, `no need to wait: ${where()}`).toEqual([]);
      expect(tried.disturbed, `may stay: ${where()}`).toEqual([]);
    } else run.count("probes second attempt");
  }
  run.count(priced.inPlace ? "probes in place" : `probes ${tried.step}`);
  if (tried.waited.length > 0) run.count("probes hostwait");
  relieves(run, copyOf(config, core), demand, final, where);
}

interface Tried {
  readonly step: string;
  readonly waited: readonly string[];
  readonly disturbed: readonly string[]; // pages of transfers and held receives that lie elsewhere now
}

function take(
  run: TransferRun,
  core: KvCore,
  demand: readonly number[],
  where: () => string,
): Tried {
  const { chain } = core;
  const order = chain.ledger.transfers.map(({ name }) => name);
  const touchable = chain.bands.map((band) => {
    const places = new Set(chain.heldPlaces()[band.index] ?? []);
    for (const transfer of chain.ledger.transfers)
      for (const page of transfer.places[band.index]!)
        if (band.status[page] === PAGE.live) places.add(page);
    return [...places].map((page) => [page, band.p2v[page]!] as const);
  });
  const fixed = chain.bands.map((band) =>
    [...band.fixed].map((page) => [page, band.p2v[page]!] as const),
  );
  const plan = chain.price(demand);
  if (!("step" in plan)) expect.fail(`a layout exists: ${JSON.stringify(plan)} ${where()}`);
  const live = chain.bands.map((band) => band.live);
  const taken = chain.take(demand, plan);
  const moved = (pages: readonly (readonly (readonly [number, number])[])[]): string[] =>
    chain.bands.flatMap((band) =>
      pages[band.index]!.filter(
        ([page, id]) => band.p2v[page] !== id || band.status[page] !== PAGE.live,
      ).map(([page]) => `${band.plan.name} ${String(page)}`),
    );
  expect(moved(fixed), `fixed: ${where()}`).toEqual([]);
  const fx = chain.scope.take();
  const bytes = run.bytes.copyFor(core);
  const handedOut = chain.bands.flatMap((band) =>
    taken.pages[band.index]!.map((page) => bytes.rangeOf(band.plan.name, page)),
  );
  const seen = bytes.follow(fx, handedOut);
  expect(seen.problems, `${JSON.stringify(fx)} ${where()}`).toEqual([]);
  expect([...seen.touched].sort(), where()).toEqual([...seen.waited].sort());
  expect(seen.waited, `oldest first: ${where()}`).toEqual(
    order.filter((name) => seen.waited.includes(name)),
  );
  for (const band of chain.bands) {
    const pages = taken.pages[band.index]!;
    expect(pages.length, where()).toBe(demand[band.index]);
    expect(new Set(pages).size, where()).toBe(pages.length);
    expect(band.live, where()).toBe(live[band.index]! + pages.length);
    for (const page of pages) expect(band.p2v[page], where()).toBe(0);
  }
  chain.endOperation();
  const violations = idleViolations(core).filter(
    ({ check, band, detail }) =>
      check !== "leak" &&
      check !== "id_conservation" && // the taken pages have no ids
      !(check === "binding" && detail !== undefined && band !== undefined),
  );
  expect(violations, where()).toEqual([]);
  return { step: taken.step, waited: seen.waited, disturbed: moved(touchable) };
}

/** The plan that was told is the one that a relief follows. */
function relieves(
  run: TransferRun,
  core: KvCore,
  demand: readonly number[],
  told: Extract<ReturnType<KvCore["chain"]["finalPlan"]>, { plan: unknown }>,
  where: () => string,
): void {
  const { chain } = core;
  const plan = chain.price(demand);
  if (!("step" in plan)) expect.fail(`priced before: ${where()}`);
  const done = chain.relieve(demand, plan);
  expect(done.plan.step, where()).toBe(told.plan.step);
  expect(done.plan.spans, where()).toEqual(told.plan.spans);
  expect(done.moves, where()).toEqual(told.moves);
  const seen = run.bytes.copyFor(core).follow(chain.scope.take());
  expect(seen.problems, where()).toEqual([]);
  expect(seen.moves, where()).toBe(done.moves.reduce((sum, moves) => sum + moves, 0));
  for (const name of seen.touched) expect(seen.waited, where()).toContain(name);
}

/** Whether a send still reads a page that a flush moved away. */
function sendsLeftBehind(core: KvCore): boolean {
  return core.chain.bands.some((band) =>
    band.vacated.some(({ readers }) => readers.some(({ kind }) => kind === "transfer")),
  );
}

/** The refusal that comes before any question of room. */
function shortOf(core: KvCore, demand: readonly number[]): object | null {
  const { owner, stateBand, virtual, slots } = core.chain;
  const wanted = demand[owner.index]!;
  if (wanted > virtual.free.length)
    return { code: "refused_ids", need: wanted, free: virtual.free.length };
  if (stateBand === null || slots === null) return null;
  const states = demand[stateBand.index]!;
  return states > slots.free.length
    ? { code: "refused_state", need: states, free: slots.free.length }
    : null;
}
