// What copies and transfers find and leave behind when they run late: the nets below the ordering checks. These tests go
// behind the checks.
import { describe, expect, test } from "vitest";
import { execute } from "../../src/device/model-effects.js";
import { after, before } from "../../src/device/model-operations.js";
import { ACT } from "../../src/device/model-pages.js";
import { ModelRun } from "../../src/device/model-run.js";
import { hostStory } from "./story-host.js";
import { netStory } from "./story-net.js";
import type { Story } from "./story.js";

/** A run after the first `count` lines of a story. */
function runTo(story: Story, count: number): ModelRun {
  const run = new ModelRun(story.config, story.boot);
  for (const { operation, answer } of story.lines.slice(0, count)) {
    run.arena.operation += 1;
    before(run, operation, answer);
    for (const effect of answer.fx ?? []) execute(run, effect, operation);
    after(run, operation, answer);
  }
  return run;
}
function spoil({ arena }: ModelRun, band: string, page: number): void {
  arena.write(arena.band(band), page, arena.garbage(), ACT.move, 99);
}
/** Gives a page to somebody else without any check. */
function usurp({ arena }: ModelRun, name: string, from: number, page: number): void {
  const band = arena.band(name);
  band.unbind(from);
  band.bind(30, page, 0, 99);
  arena.write(band, page, 0, ACT.zero, 99);
}

describe("a copy to the host", () => {
  test.each([
    ["of cached pages", 8, "c1", "full", 26],
    ["of cached states", 8, "c1", "mamba", 1],
    ["of a row that is gone", 24, "c3", "full", 21],
  ])("%s reads what was there when it was submitted", (_what, count, copy, band, page) => {
    runTo(hostStory, count).copies.finish(copy);
    const run = runTo(hostStory, count);
    spoil(run, band, page);
    expect(() => run.copies.finish(copy)).toThrow(
      new RegExp(`^${copy} copies other bytes from ${band} page ${page} .* operation 99 wrote it`),
    );
  });

  test("counts the writes of forwards that were launched before", () => {
    const run = runTo(hostStory, 7); // f1 has not run
    const content = run.arena.band("full").contentOf(2);
    run.copies.finish("c1");
    expect(run.arena.finishedForward).toBe(1);
    expect(run.arena.band("full").contentOf(2)).toEqual(content);
    expect(content.a).not.toBe(0);
  });
});

describe("a copy from the host", () => {
  test("brings back what was copied there", () => {
    const [first, loaded] = [runTo(hostStory, 9), runTo(hostStory, 15)].map(({ arena }) => arena);
    for (const [band, from, to] of [
      ["full", 2, 6],
      ["full", 5, 9],
      ["window_4", 4, 8],
      ["mamba", 1, 2],
    ] as const)
      expect(loaded!.band(band).contentOf(to)).toEqual(first!.band(band).contentOf(from));
    loaded!.verifyLive();
  });

  test("brings a retracted request back as it was", () => {
    const [first, restored] = [runTo(hostStory, 23), runTo(hostStory, 32)].map(
      ({ arena }) => arena,
    );
    for (const [band, page] of [
      ["full", 6],
      ["window_4", 9],
      ["mamba", 3],
    ] as const)
      expect(first!.band(band).contentOf(page).a).not.toBe(0);
    expect(restored!.band("full").contentOf(12)).toEqual(first!.band("full").contentOf(6));
    expect(restored!.band("window_4").contentOf(15)).toEqual(first!.band("window_4").contentOf(9));
  });

  test("hits whoever holds the place by then", () => {
    const run = runTo(hostStory, 14);
    usurp(run, "full", 6, 22);
    expect(() => run.copies.finish("c2")).toThrow(
      /^full page 22 \(virtual 30\) lost what operation 99/,
    );
  });

  test("hits the bytes of another band", () => {
    const run = runTo(hostStory, 14);
    run.arena.band("full").unbind(6);
    const window = run.arena.band("window_4");
    window.touch(44); // bytes 176 to 179, as full page 22
    window.bind(30, 44, 0, 99);
    expect(() => run.copies.finish("c2")).toThrow(
      /^load of full page 22 writes bytes of window_4 page 44 \(virtual 30\), which is live/,
    );
  });
});

describe("a transfer", () => {
  test("sends what its request had when the places were told", () => {
    const end = (run: ModelRun): void => {
      for (const writer of ["w1", "w2"]) run.transfers.end("t1", writer, "ok");
    };
    end(runTo(netStory, 7));
    const run = runTo(netStory, 7);
    spoil(run, "window_4", 17);
    expect(() => end(run)).toThrow(
      /^t1 sends other bytes from window_4 page 17 than r1 had: operation 99 wrote it/,
    );
  });

  test("that failed is not asked what it sent", () => {
    const run = runTo(netStory, 7);
    spoil(run, "window_4", 17);
    expect(run.transfers.end("t1", "w1", "failed")).toBe(false);
  });

  test("writes what it received at its end, and not before", () => {
    const run = runTo(netStory, 11);
    const full = run.arena.band("full");
    expect(full.contentOf(4).a).toBe(0);
    run.transfers.end("t2", undefined, "ok");
    expect(full.contentOf(4).a).not.toBe(0);
    run.arena.verifyLive();
  });

  test("that is received hits whoever holds the place by then", () => {
    const run = runTo(netStory, 11);
    usurp(run, "full", 4, 24);
    expect(() => run.transfers.end("t2", undefined, "ok")).toThrow(
      /^full page 24 \(virtual 30\) lost what operation 99/,
    );
  });
});
