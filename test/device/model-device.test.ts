// The simulated device as an object: its life, its contents, its limits, and the nets below the ordering checks.
import { describe, expect, test, vi } from "vitest";
import { InputError, InternalError } from "../../src/base/errors.js";
import type { BootOk, DirectConfig } from "../../src/base/operations.js";
import type { VerifyPolicy } from "../../src/device/device.js";
import { ModelArena } from "../../src/device/model-arena.js";
import { ModelDevice } from "../../src/device/model.js";
import { stampOf, writerOf } from "../../src/device/model-pages.js";
import {
  firstFinding,
  line,
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

  test("do not depend on what an id held before", () => {
    // Both end with r2 holding virtual 2 and slot 1, written by f2; in one of them r1 had them first.
    const held = (req: string): Line[] => [
      line("row.alloc", { reqs: [req] }, { rows: { [req]: 1 } }),
      line(
        "state.alloc",
        { req, count: 1, purpose: "main" },
        { slots: [[1, 1]], mamba: [[1, 1]], step: "no_move" },
      ),
      line(
        "tokens.extend",
        { batch: [{ req, from: 0, to: 2 }] },
        {
          pages: { [req]: { virtual: [[2, 1]], window_4: [[13, 1]], full: [[12, 1]] } },
          step: "no_move",
        },
        [
          ["zero", "window_4", [[13, 1]]],
          ["zero", "full", [[12, 1]]],
        ],
      ),
    ];
    const written = (req: string, step: string, from: number): Line[] => [
      line(
        "forward.launch",
        { step, batch: [{ req, from, to: 2 }], mode: "extend" },
        { resets: [[1, 1]] },
        [
          ["reset", [[1, 1]]],
          ["forward", step],
        ],
      ),
      line("forward.record", { step, writes: "known" }, {}, [["event", step]]),
      line("forward.process", { step }, { released: {} }),
    ];
    const freed = {
      virtual: [[2, 1]],
      slots: [[1, 1]],
      mamba: [[1, 1]],
      window_4: [[13, 1]],
      full: [[12, 1]],
    };
    const finished = line("request.finish", { req: "r1", len: 2, insert: false }, { freed });
    const short = [...held("r2"), ...written("r2", "f2", 1)];
    const long = [...held("r1"), ...written("r1", "f1", 0), finished, ...short];
    const [first, second] = [short, long].map((lines) => {
      const device = after(lines.length, { ...threeBands, lines });
      expect(device.verifyAll()).toBeNull();
      return contentsOf(device);
    });
    expect(first).toEqual(second);
    for (const sum of first!) expect(sum).not.toEqual({ a: 0, b: 0 });
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

describe("arena.resize", () => {
  const grown: BootOk = {
    ...threeBands.boot,
    bands: { ...threeBands.boot.bands, full: { ...threeBands.boot.bands["full"]!, pages: 36 } },
  };
  const resize = line("arena.resize", { arena_bytes: 288 }, grown);

  test("starts anew on the new grid when nothing is live; rows stay", () => {
    const all = [...threeBands.lines, resize];
    const device = after(all.length, { ...threeBands, lines: all });
    const take = (page: number): Line =>
      line(
        "tokens.extend",
        { batch: [{ req: "r4", from: 0, to: 1 }] },
        {
          pages: { r4: { virtual: [[2, 1]], window_4: [[13, 1]], full: [[page, 1]] } },
          step: "no_move",
        },
        [
          ["zero", "window_4", [[13, 1]]],
          ["zero", "full", [[page, 1]]],
        ],
      );
    const row = line("row.alloc", { reqs: ["r4"] }, { rows: { r4: 1 } });
    expect(applied(device, row)).toBeNull();
    expect(applied(device, take(35))).toBeNull(); // beyond the grid before
    expect(applied(after(14), take(35))).toMatchObject({ check: "bad_effect", page: 35 });
  });

  test("is refused while a page is live", () => {
    expect(applied(after(8), resize)?.message).toMatch(/^resize while .* is live$/);
  });
});

describe("pipeline stages", () => {
  test("record forwards without overlap too", () => {
    const stages = line("stages.install", { stages: [], self: 0 }, {});
    const story = {
      ...threeBands,
      config: { ...threeBands.config, overlap: false },
      lines: [stages, ...threeBands.lines],
    };
    expect(firstFinding(story)).toBeNull();
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
    const far = structuredClone(threeBands.lines[3]!) as LooseLine;
    far.answer.ok.pages.r1.full = [[last - 3, 4]];
    far.answer.fx[1] = [
      "zero",
      "full",
      [
        [last - 3, 4],
        [16, 2],
      ],
    ];
    const before = process.memoryUsage().arrayBuffers;
    for (const each of [threeBands.lines[0]!, far]) expect(applied(device, each)).toBeNull();
    expect(device.verifyAll()).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  test("a band of 2^31 pages is refused in one clear line", () => {
    expect(() => opened(sized(2 ** 34))).toThrow(InputError);
    expect(() => opened(sized(2 ** 34))).toThrow(/^band full has 2147483648 pages/);
  });
});

describe("every live page is verified", () => {
  function checks(verify: VerifyPolicy): { count: number; afterwards: number } {
    const device = new ModelDevice({ verify });
    device.open(threeBands.config, threeBands.boot);
    const check = vi.spyOn(ModelArena.prototype, "verifyLive");
    const question = line("ask.fits", { demand: {} }, { fits: true });
    for (let n = 1; n <= 128; n++) expect(applied(device, question)).toBeNull();
    const count = check.mock.calls.length;
    device.verifyAll();
    const afterwards = check.mock.calls.length - count;
    check.mockRestore();
    return { count, afterwards };
  }

  test("every 64 operations, or after each, and at the end", () => {
    expect(checks("touched")).toEqual({ count: 2, afterwards: 1 });
    expect(checks("every")).toEqual({ count: 128, afterwards: 1 });
  });
});

describe("tracked states", () => {
  // r1 has a main slot and a ring of two; f1 tracks into the first of them, f2 into the second.
  const take = (count: number, purpose: string, slots: object, mamba: object): Line =>
    line("state.alloc", { req: "r1", count, purpose }, { slots, mamba, step: "no_move" });
  const forward = (step: string): Line[] => {
    const batch = [{ req: "r1", from: 0, to: 0, track: 0 }];
    const fx = [...(step === "f1" ? [["reset", [[1, 1]]]] : []), ["forward", step]];
    const resets = step === "f1" ? [[1, 1]] : [];
    return [
      line("forward.launch", { step, batch, mode: "extend" }, { resets }, fx),
      line("forward.record", { step, writes: "known" }, {}, [["event", step]]),
    ];
  };
  const move = (source: number): Line => {
    const moves = [[source, 9]];
    return line("chain.flush", {}, { mamba: { moves, absorbed: 0 } }, [["move", "mamba", moves]]);
  };
  const start: Line[] = [
    {
      operation: { op: "row.alloc", args: { reqs: ["r1"] } },
      answer: { ok: { rows: { r1: 1 } } },
    },
    take(1, "main", [[1, 1]], [[1, 1]]),
    take(2, "track", [[2, 2]], [[2, 2]]),
    ...forward("f1"),
  ];
  const found = (lines: readonly Line[]) => firstFinding({ ...threeBands, lines })?.violation;

  test("the ring's current slot is written, the other is free to move", () => {
    expect(found([...start, move(3)])).toBeUndefined();
    expect(found([...start, move(2)])).toMatchObject({ check: "unordered_overlap", page: 2 });
    expect(found([...start, move(1)])).toMatchObject({ check: "unordered_overlap", page: 1 });
  });

  test("the next forward writes the next slot", () => {
    const both = [...start, ...forward("f2")];
    expect(found([...both, move(3)])).toMatchObject({ check: "unordered_overlap", page: 3 });
  });
});
