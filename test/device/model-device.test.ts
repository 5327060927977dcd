// The simulated device as an object: its life, its contents, its limits, and the nets below the ordering checks.
import { describe, expect, test } from "vitest";
import { InputError, InternalError } from "../../src/base/errors.js";
import type { BootOk, DirectConfig } from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { DeviceFault } from "../../src/device/model-fault.js";
import { ACT, ID, offsetOf, PAGE, stampOf, writerOf } from "../../src/device/model-pages.js";
import { ModelRun } from "../../src/device/model-run.js";
import {
  firstFinding,
  type Line,
  type LooseLine,
  type Story,
  threeBands,
  withLine,
} from "./story.js";

const BANDS = Object.keys(threeBands.boot.bands);

function opened(story: Story = threeBands): ModelDevice {
  const device = new ModelDevice({ verify: "touched" });
  device.open(story.config, story.boot);
  return device;
}
/** A device after the first `count` lines of a story. */
function after(count: number, story: Story = threeBands): ModelDevice {
  const device = opened(story);
  for (const { operation, answer } of story.lines.slice(0, count))
    expect(device.apply(operation, answer)).toBeNull();
  return device;
}
const applied = (device: ModelDevice, { operation, answer }: Line) =>
  device.apply(operation, answer);
const contentsOf = (device: ModelDevice) => BANDS.map((band) => device.contents(band));

describe("life", () => {
  test("nothing but open is allowed before open and after close", () => {
    const device = new ModelDevice({ verify: "touched" });
    expect(() => applied(device, threeBands.lines[0]!)).toThrow(InternalError);
    expect(() => device.verifyAll()).toThrow(InternalError);
    device.open(threeBands.config, threeBands.boot);
    expect(() => device.contents("nobody")).toThrow(InternalError);
    device.close();
    expect(() => device.contents("full")).toThrow(InternalError);
  });

  test("boot is no operation of its own", () => {
    const device = opened();
    expect(device.apply({ op: "boot", args: {} }, { ok: threeBands.boot })).toBeNull();
    const broken = withLine(threeBands, 4, (line) => line.answer.fx.splice(1, 1));
    const messages = [device, opened()].map((each) => {
      for (const { operation, answer } of broken.lines.slice(0, 4)) each.apply(operation, answer);
      return each.verifyAll()?.message;
    });
    expect(messages[0]).toMatch(/without zeroing/);
    expect(messages[0]).toBe(messages[1]);
  });

  test("a broken run stays broken until the next open", () => {
    const device = after(7);
    const wrong = withLine(threeBands, 8, (line) => line.answer.fx.shift()).lines[7]!;
    const violation = applied(device, wrong);
    expect(violation).not.toBeNull();
    expect(applied(device, threeBands.lines[8]!)).toEqual(violation);
    expect(device.verifyAll()).toEqual(violation);
    device.open(threeBands.config, threeBands.boot);
    for (const line of threeBands.lines) expect(applied(device, line)).toBeNull();
    expect(device.verifyAll()).toBeNull();
  });

  test("verifyAll lets outstanding forwards finish", () => {
    const device = after(6); // f1 runs
    expect(device.verifyAll()).toBeNull();
    const unordered = withLine(threeBands, 8, (line) => line.answer.fx.shift());
    expect(applied(device, unordered.lines[6]!)).toBeNull();
    expect(applied(device, unordered.lines[7]!)).toBeNull(); // no wait is needed any more
  });
});

describe("contents", () => {
  test("count a forward's writes as done when it is issued", () => {
    const zeros = BANDS.map(() => ({ a: 0, b: 0 }));
    expect(contentsOf(after(4))).toEqual(zeros); // zeroed pages, an unwritten state
    const launched = contentsOf(after(5));
    for (const sum of launched) expect(sum).not.toEqual({ a: 0, b: 0 });
    expect(contentsOf(after(6))).toEqual(launched);
    const drained = after(6);
    drained.verifyAll();
    expect(contentsOf(drained)).toEqual(launched);
  });

  test("do not see moves, and end at nothing when all is freed", () => {
    expect(contentsOf(after(13))).toEqual(contentsOf(after(12)));
    expect(contentsOf(after(threeBands.lines.length))).toEqual(BANDS.map(() => ({ a: 0, b: 0 })));
  });

  test("depend on who wrote: request, forward and position", () => {
    const writers = [writerOf(1, 1), writerOf(1, 2), writerOf(2, 1)];
    const stamps = writers.flatMap((writer) =>
      [0, 1, 2].map((position) => stampOf(writer, position)),
    );
    expect(new Set(stamps).size).toBe(9);
    for (const stamp of stamps) expect(stamp > 0 && stamp < 2 ** 32).toBe(true);
  });

  test("a copied state has the content of its source", () => {
    const copied = after(18).contents("mamba"); // slots 2 and 3 hold the same, so the two ids alone differ
    expect(copied).not.toEqual(after(17).contents("mamba"));
    // Finishing the copy's owner leaves exactly what was there before the copy.
    expect(after(22).contents("mamba")).toEqual(after(17).contents("mamba"));
  });
});

describe("without overlap", () => {
  const config: DirectConfig = { ...threeBands.config, overlap: false };

  test("a forward runs at once, so nothing needs a wait", () => {
    const lines = threeBands.lines.map(({ operation, answer }) => {
      const fx = answer.fx?.filter(([kind]) => kind !== "event" && kind !== "wait");
      return { operation, answer: { ...answer, fx: fx ?? [] } };
    });
    expect(firstFinding({ ...threeBands, config, lines }, "every")).toBeNull();
  });

  test("an event is one too many", () => {
    const finding = firstFinding({ ...threeBands, config });
    expect(finding?.n).toBe(6);
    expect(finding?.violation.check).toBe("bad_effect");
  });
});

describe("limits", () => {
  const sized = (arenaBytes: number): Story => {
    const pages = Math.floor(arenaBytes / 8);
    const full = { ...threeBands.boot.bands["full"]!, pages };
    const boot: BootOk = { ...threeBands.boot, bands: { ...threeBands.boot.bands, full } };
    return { config: { ...threeBands.config, arena_bytes: arenaBytes }, boot, lines: [] };
  };

  test("memory follows the pages touched, not the arena", () => {
    const story = sized(16e9); // two thousand million pages
    const device = opened(story);
    const last = story.boot.bands["full"]!.pages - 1;
    const line = structuredClone(threeBands.lines[3]!) as LooseLine;
    line.answer.ok.pages.r1.full = [[last - 3, 4]];
    line.answer.fx[1] = [
      "zero",
      "full",
      [
        [last - 3, 4],
        [16, 2],
      ],
    ];
    const before = process.memoryUsage().arrayBuffers;
    for (const each of [threeBands.lines[0]!, line]) expect(applied(device, each)).toBeNull();
    expect(device.verifyAll()).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  test("a band of 2^31 pages is refused in one clear line", () => {
    expect(() => opened(sized(2 ** 34))).toThrow(InputError);
    expect(() => opened(sized(2 ** 34))).toThrow(/^band full has 2147483648 pages/);
  });
});

// The ordering checks find mistakes before any content is lost; these tests go behind them.
describe("what is verified", () => {
  const freshRun = () => new ModelRun(threeBands.config, threeBands.boot);

  test("a page that holds something else is found by the full check", () => {
    const { arena } = freshRun();
    const full = arena.band("full");
    full.bind(2, 12, 0, 1);
    arena.write(full, 12, 0, ACT.zero, 1);
    arena.verifyLive();
    arena.write(full, 12, arena.garbage(), ACT.move, 7);
    const message =
      "full page 12 (virtual 2) lost what operation 1 wrote: its bytes are those of a move in operation 7";
    expect(() => arena.verifyLive()).toThrow(
      new DeviceFault({ check: "lost_write", message, band: "full", page: 12 }),
    );
  });

  test("a forward writes where its pages were at launch", () => {
    const run = freshRun();
    const { arena, forwards, rows } = run;
    const full = arena.band("full");
    rows.add("r1", 1);
    const row = rows.require("r1");
    row.push(2);
    row.allocated = 2;
    full.bind(2, 12, 0, 1);
    arena.write(full, 12, 0, ACT.zero, 1);
    forwards.launch("f1", [{ req: "r1", from: 0, to: 2 }]);
    forwards.record("f1", "known");
    // The page moves to 14 behind the back of every check.
    full.page(14)[offsetOf(14) + PAGE.content] = 0;
    full.page(12)[offsetOf(12) + PAGE.holder] = 0;
    full.page(14)[offsetOf(14) + PAGE.holder] = 2;
    full.id(2)[offsetOf(2) + ID.place] = 14;
    arena.verifyLive();
    expect(() => forwards.wait("f1")).toThrow(
      /^full page 14 \(virtual 2, r1 tokens 0 to 1\) lost what/,
    );
  });
});
