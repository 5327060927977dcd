// Carries out the effects of one operation, in order, on the simulated device.
import type { Effect, MovePair } from "../base/effects.js";
import type { Extents, KvOperation } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { ACT, type BandPages, offsetOf, PAGE } from "./model-pages.js";
import { assumeUnplaced } from "./model-placing.js";
import { eachId, type ModelRun, requireUsable } from "./model-run.js";
import { SOME_SLOT } from "./model-unplaced.js";

/** Executes one effect of `operation`. @internal */
export function execute(run: ModelRun, effect: Effect, operation: KvOperation): void {
  run.tap?.effect(effect);
  switch (effect[0]) {
    case "hostread": // the schedule stream is in order: nothing to do
      return;
    case "wait":
      if (run.copies.knows(effect[1])) run.copies.finish(effect[1]);
      else run.forwards.wait(effect[1]);
      return;
    case "move":
      move(run, run.arena.band(effect[1]), effect[2]);
      return;
    case "copy":
      copyStates(run, run.arena.band(effect[1]), effect[2]);
      return;
    case "zero":
      zero(run, run.arena.band(effect[1]), effect[2]);
      return;
    case "reset":
      eachId(effect[1], (row) => run.rows.reset(row));
      return;
    case "forward":
      launch(run, effect[1], operation);
      return;
    case "event":
      if (operation.op !== "forward.record" || operation.args.step !== effect[1])
        fail("bad_effect", `event of ${effect[1]} outside the recording of ${effect[1]}`);
      run.forwards.record(effect[1], operation.args.writes);
      return;
    case "barrier": // rows are resolved at launch, which every barrier follows
      run.forwards.requireKnown(effect[1], "barrier");
      return;
    case "hostwait":
      run.transfers.hostWait(effect[1]);
      return;
    case "net":
      run.transfers.start(effect[1], effect[2], effect[3]);
      return;
    case "hostcopy":
      run.copies.start(effect[1], effect[2], effect[3]);
  }
}

function launch(run: ModelRun, step: string, operation: KvOperation): void {
  if (operation.op !== "forward.launch" || operation.args.step !== step)
    fail("bad_effect", `forward ${step} outside the launch of ${step}`);
  run.forwards.launch(step, operation.args.batch);
}

function move(run: ModelRun, band: BandPages, pairs: readonly MovePair[]): void {
  const { arena } = run;
  run.forwards.requireKnownWrites(`move in ${band.name}`);
  arena.moveEffects += 1;
  for (const [source] of pairs) checkSource(run, band, source);
  for (const [, target] of pairs) checkTarget(run, band, target);
  for (const [source, target] of pairs) {
    const id = band.holderOf(source);
    arena.requireWritten("move", band, source);
    if (id !== SOME_SLOT) arena.verify(band, id);
    const content = band.page(source)[offsetOf(source) + PAGE.content]!; // inside the block, as below
    arena.claim(band, target, ACT.move);
    arena.write(band, target, content, ACT.move, arena.operation);
    band.page(source)[offsetOf(source) + PAGE.holder] = 0;
    if (id === SOME_SLOT) band.page(target)[offsetOf(target) + PAGE.holder] = id;
    else band.place(id, target);
  }
}

function checkSource(run: ModelRun, band: BandPages, source: number): void {
  requireUsable(band, source, "move");
  assumeUnplaced(run, band, source);
  const block = band.page(source);
  const at = offsetOf(source) + PAGE.moved;
  if (band.holderOf(source) === 0)
    fail(
      "bad_effect",
      `move from ${band.name} page ${source}, which is not bound`,
      band.name,
      source,
    );
  if (block[at] === run.arena.moveEffects)
    fail(
      "bad_effect",
      `${band.name} page ${source} is moved twice by one effect`,
      band.name,
      source,
    );
  block[at] = run.arena.moveEffects;
}

function checkTarget(run: ModelRun, band: BandPages, target: number): void {
  requireUsable(band, target, "move");
  const block = band.page(target);
  const at = offsetOf(target) + PAGE.moved;
  if (block[at] === run.arena.moveEffects) {
    const page = `${band.name} page ${target}`;
    fail("bad_effect", `${page} is a destination and named before in one move`, band.name, target);
  }
  if (band.holderOf(target) !== 0) {
    const live = run.arena.describe(band, target);
    fail("bad_effect", `move onto ${live}, which is live`, band.name, target);
  }
  block[at] = run.arena.moveEffects;
}

function copyStates(run: ModelRun, band: BandPages, pairs: readonly MovePair[]): void {
  const { arena } = run;
  run.forwards.requireKnownWrites(`state copy in ${band.name}`);
  if (!band.isState) fail("bad_effect", `copy in ${band.name}, which holds no states`, band.name);
  for (const [source, target] of pairs) {
    requireUsable(band, source, "copy");
    requireUsable(band, target, "copy");
    const from = band.holderOf(source);
    const to = band.holderOf(target);
    for (const [page, id] of [
      [source, from],
      [target, to],
    ] as const) {
      if (id === 0)
        fail(
          "bad_effect",
          `copy names ${band.name} page ${page}, which is not bound`,
          band.name,
          page,
        );
    }
    arena.requireWritten("state copy", band, source);
    arena.verify(band, from);
    arena.claim(band, target, ACT.copy);
    const content = band.page(source)[offsetOf(source) + PAGE.content]!; // inside the block
    arena.write(band, target, content, ACT.copy, arena.operation);
    band.copyLogical(from, to, arena.operation);
  }
}

function zero(run: ModelRun, band: BandPages, pages: Extents): void {
  const { arena } = run;
  if (band.isState) fail("bad_effect", `zero in ${band.name}, a state band`, band.name);
  eachId(pages, (page) => {
    requireUsable(band, page, "zero");
    const block = band.page(page);
    const at = offsetOf(page) + PAGE.handed;
    if (block[at] !== arena.operation) {
      const what = arena.describe(band, page);
      const why = block[at] === -arena.operation ? "a second time" : "not handed out here";
      fail("bad_effect", `zero of ${what}, ${why}`, band.name, page);
    }
    if (band.holderOf(page) !== 0)
      fail("bad_effect", `zero of ${arena.describe(band, page)}, which is live`, band.name, page);
    arena.claim(band, page, ACT.zero);
    arena.write(band, page, 0, ACT.zero, arena.operation);
    block[at] = -arena.operation;
  });
}
