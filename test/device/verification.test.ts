// What is verified and when: the nets below the ordering checks, which find most mistakes before any content is lost.
// These tests go behind the checks.
import { describe, expect, test } from "vitest";
import { execute } from "../../src/device/model-effects.js";
import { DeviceFault } from "../../src/device/model-fault.js";
import { closeRequest } from "../../src/device/model-frees.js";
import { ACT, ID, offsetOf, PAGE } from "../../src/device/model-pages.js";
import { ModelRun } from "../../src/device/model-run.js";
import { threeBands } from "./story.js";

const FREED = { virtual: [[2, 1]], slots: [[1, 2]], mamba: [[1, 2]], full: [[12, 1]] } as const;

describe("what is verified", () => {
  /** A run in which r1 holds virtual 2 at `full` page 12 and slots 1 and 2, all of them written. */
  function writtenRun(): ModelRun {
    const run = new ModelRun(threeBands.config, threeBands.boot);
    const { arena, rows } = run;
    const [full, mamba] = [arena.band("full"), arena.band("mamba")];
    rows.add("r1", 1);
    const row = rows.require("r1");
    row.push(2);
    row.allocated = 2;
    row.slots.main.push(1, 2);
    full.bind(2, 12, 0, 1);
    arena.write(full, 12, 0, ACT.zero, 1);
    for (const slot of [1, 2]) {
      mamba.bind(slot, slot, 0, 1);
      arena.write(mamba, slot, 0, ACT.copy, 1);
    }
    arena.verifyLive();
    return run;
  }
  const spoil = ({ arena }: ModelRun, band: string, page: number): void =>
    arena.write(arena.band(band), page, arena.garbage(), ACT.move, 7);
  /** Gives a page another place without any check. */
  function rebind({ arena }: ModelRun, name: string, id: number, from: number, to: number): void {
    const band = arena.band(name);
    band.page(to)[offsetOf(to) + PAGE.content] = band.page(from)[offsetOf(from) + PAGE.content]!;
    band.page(from)[offsetOf(from) + PAGE.holder] = 0;
    band.page(to)[offsetOf(to) + PAGE.holder] = id;
    band.id(id)[offsetOf(id) + ID.place] = to;
  }
  const batch = [{ req: "r1", from: 0, to: 2 }];
  const flush = { op: "chain.flush", args: {} } as const;

  test("a page that holds something else is found by the full check", () => {
    const run = writtenRun();
    spoil(run, "full", 12);
    const message =
      "full page 12 (virtual 2, r1 tokens 0 to 1) lost what operation 1 wrote: its bytes are those of a move in operation 7";
    const fault = new DeviceFault({ check: "lost_write", message, band: "full", page: 12 });
    expect(() => run.arena.verifyLive()).toThrow(fault);
  });

  test.each<[string, string, number, (run: ModelRun) => void]>([
    ["a forward reads", "full", 12, (run) => run.forwards.launch("f1", batch)],
    ["a forward reads as state", "mamba", 1, (run) => run.forwards.launch("f1", batch)],
    ["a move copies", "full", 12, (run) => execute(run, ["move", "full", [[12, 14]]], flush)],
    ["a state copy reads", "mamba", 1, (run) => execute(run, ["copy", "mamba", [[1, 2]]], flush)],
    ["a request gives back", "full", 12, (run) => closeRequest(run, "r1", { freed: FREED })],
    [
      "a request gives back as state",
      "mamba",
      2,
      (run) => closeRequest(run, "r1", { freed: FREED }),
    ],
  ])("a page that %s is verified at once", (_what, band, page, touch) => {
    touch(writtenRun());
    const run = writtenRun();
    spoil(run, band, page);
    expect(() => touch(run)).toThrow(new RegExp(`^${band} page ${page} .* lost what operation 1`));
  });

  test("a forward writes where its pages were at launch, so one that moved meanwhile lacks the write", () => {
    const run = writtenRun();
    run.forwards.launch("f1", batch);
    run.forwards.record("f1", "known");
    rebind(run, "full", 2, 12, 14);
    run.arena.verifyLive();
    expect(() => run.forwards.wait("f1")).toThrow(
      /^full page 14 \(virtual 2, r1 tokens 0 to 1\) lost/,
    );
  });

  test("a forward's late write leaves an id alone that was bound anew meanwhile", () => {
    const run = writtenRun();
    run.forwards.launch("f1", batch);
    run.forwards.record("f1", "known");
    closeRequest(run, "r1", { freed: FREED });
    const full = run.arena.band("full");
    full.bind(2, 14, 0, 2);
    run.arena.write(full, 14, 0, ACT.zero, 2);
    run.forwards.wait("f1");
    run.arena.verifyLive();
  });

  test("a forward's late write hits whoever holds the place by then", () => {
    const run = writtenRun();
    run.forwards.launch("f1", batch);
    run.forwards.record("f1", "known");
    closeRequest(run, "r1", { freed: FREED });
    run.arena.band("full").bind(3, 12, 0, 2);
    run.arena.verifyLive();
    expect(() => run.forwards.wait("f1")).toThrow(
      /^full page 12 \(virtual 3\) lost what operation 2/,
    );
  });

  test("a forward's late write hits the bytes of another band", () => {
    const run = writtenRun();
    run.forwards.launch("f1", batch);
    run.forwards.record("f1", "known");
    closeRequest(run, "r1", { freed: FREED });
    const window = run.arena.band("window_4");
    window.touch(25);
    window.bind(3, 25, 0, 2); // bytes 100 to 103 of full page 12
    expect(() => run.forwards.wait("f1")).toThrow(
      /^forward of full page 12 writes bytes of window_4 page 25 \(virtual 3\), which is live/,
    );
  });
});
