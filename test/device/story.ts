// Hand-written runs for the simulated device: operations with their answers, as a trace would hold them.
import { readFileSync } from "node:fs";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import type { DeviceViolation, VerifyPolicy } from "../../src/device/device.js";
import { ModelDevice } from "../../src/device/model.js";

/** One operation with its answer; `n` counts from 1, operation 0 is `boot`. */
export interface Line {
  readonly operation: KvOperation;
  readonly answer: Answer;
}
export interface Story {
  readonly config: DirectConfig;
  readonly boot: BootOk;
  readonly lines: readonly Line[];
}
/** Where a run broke; `n` is one more than the number of lines when only the final check found it. */
export interface Finding {
  readonly n: number;
  readonly violation: DeviceViolation;
}

/** Runs a story to its first violation. */
export function firstFinding(story: Story, verify: VerifyPolicy = "touched"): Finding | null {
  const device = new ModelDevice({ verify });
  device.open(story.config, story.boot);
  for (const [index, { operation, answer }] of story.lines.entries()) {
    const violation = device.apply(operation, answer);
    if (violation !== null) return { n: index + 1, violation };
  }
  const violation = device.verifyAll();
  return violation === null ? null : { n: story.lines.length + 1, violation };
}

/** The single run of a trace file. */
export function readStory(file: URL): Story {
  const objects = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const run = objects.find((object) => object.kind === "run");
  const lines: Line[] = objects
    .filter((object) => object.kind === "op")
    .map(({ op, args, ok, err, fx }) => ({
      operation: { op, args },
      answer: { ...(ok && { ok }), ...(err && { err }), ...(fx && { fx }) } as Answer,
    }));
  return { config: run.config, boot: lines[0]!.answer.ok as BootOk, lines: lines.slice(1) };
}

/** A line as plain data, to be changed at will. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a mistake may have any shape
export type LooseLine = any;

/** A copy with one line changed. */
export function withLine(story: Story, n: number, change: (line: LooseLine) => void): Story {
  const lines = story.lines.map((line) => structuredClone(line));
  change(lines[n - 1]);
  return { ...story, lines };
}

/** One line of a run. */
export const line = (name: string, args: object, ok: object, fx?: readonly unknown[]): Line => ({
  operation: { op: name, args } as KvOperation,
  answer: { ok, ...(fx && { fx }) } as unknown as Answer,
});

/**
 * Three bands on 144 bytes, page size 2: `mamba` pages of 12 bytes, `window_4` of 4, `full` of 8. Passes through a
 * pending page that is settled and handed out again, and moves whose sources a forward still reads.
 */
export const threeBands: Story = {
  config: {
    page_size: 2,
    arena_bytes: 144,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 12 },
      { name: "window_4", kind: "mha", window: 4, unit_bytes: 2 },
      { name: "full", kind: "mha", unit_bytes: 4 },
    ],
    rows: 4,
    row_tokens: 32,
    overlap: true,
  },
  boot: {
    bands: {
      mamba: { grow: "up", unit_bytes: 12, page_bytes: 12, pages: 12, first_page: 1 },
      window_4: { grow: "float", unit_bytes: 2, page_bytes: 4, pages: 36, first_page: 3 },
      full: { grow: "down", unit_bytes: 4, page_bytes: 8, pages: 18, first_page: 2 },
    },
    sink_bytes: 12,
  },
  lines: [
    /*  1 */ line("row.alloc", { reqs: ["r1", "r2"] }, { rows: { r1: 1, r2: 2 } }),
    /*  2 */ line(
      "state.alloc",
      { req: "r1", count: 1, purpose: "main" },
      { slots: [[1, 1]], mamba: [[1, 1]], step: "no_move" },
    ),
    /*  3 */ line(
      "state.alloc",
      { req: "r2", count: 1, purpose: "main" },
      { slots: [[2, 1]], mamba: [[2, 1]], step: "no_move" },
    ),
    /*  4 */ line(
      "tokens.extend",
      {
        batch: [
          { req: "r1", from: 0, to: 8 },
          { req: "r2", from: 0, to: 4 },
        ],
      },
      {
        pages: {
          r1: { virtual: [[2, 4]], window_4: [[13, 4]], full: [[12, 4]] },
          r2: { virtual: [[6, 2]], window_4: [[17, 2]], full: [[16, 2]] },
        },
        step: "no_move",
      },
      [
        ["zero", "window_4", [[13, 6]]],
        ["zero", "full", [[12, 6]]],
      ],
    ),
    /*  5 */ line(
      "forward.launch",
      {
        step: "f1",
        batch: [
          { req: "r1", from: 0, to: 8 },
          { req: "r2", from: 0, to: 4 },
        ],
        mode: "extend",
      },
      { resets: [[1, 2]] },
      [
        ["reset", [[1, 2]]],
        ["forward", "f1"],
      ],
    ),
    /*  6 */ line("forward.record", { step: "f1", writes: "known" }, {}, [["event", "f1"]]),
    /*  7 */ line(
      "window.retire",
      { req: "r1", len: 8 },
      { window_4: { cursor: 4, floor: null, freed: [[13, 2]] } },
    ),
    /*  8 */ line(
      "tokens.decode",
      { batch: [{ req: "r2", len: 5 }] },
      {
        pages: { r2: { virtual: [[8, 1]], window_4: [[13, 1]], full: [[11, 1]] } },
        step: "no_move",
      },
      [
        ["wait", "f1"],
        ["zero", "window_4", [[13, 1]]],
        ["zero", "full", [[11, 1]]],
      ],
    ),
    /*  9 */ line(
      "request.finish",
      { req: "r1", len: 8, insert: false },
      {
        freed: {
          virtual: [[2, 4]],
          slots: [[1, 1]],
          mamba: [[1, 1]],
          window_4: [[15, 2]],
          full: [[12, 4]],
        },
      },
    ),
    /* 10 */ line(
      "forward.launch",
      { step: "f2", batch: [{ req: "r2", from: 4, to: 5 }], mode: "decode" },
      { resets: [] },
      [["forward", "f2"]],
    ),
    /* 11 */ line("forward.record", { step: "f2", writes: "known" }, {}, [["event", "f2"]]),
    /* 12 */ line(
      "forward.process",
      { step: "f1" },
      { released: { mamba: [[1, 1]], window_4: [[15, 2]], full: [[12, 4]] } },
    ),
    // f2 reads pages 16 and 17 of `full` and writes 11; a move of 16 leaves a vacated source behind.
    /* 13 */ line("chain.flush", {}, { full: { moves: [[16, 14]], absorbed: 0 } }, [
      ["move", "full", [[16, 14]]],
    ]),
    /* 14 */ line("row.alloc", { reqs: ["r3"] }, { rows: { r3: 3 } }),
    /* 15 */ line(
      "tokens.extend",
      { batch: [{ req: "r3", from: 0, to: 2 }] },
      {
        pages: { r3: { virtual: [[9, 1]], window_4: [[15, 1]], full: [[16, 1]] } },
        step: "no_move",
      },
      [
        ["wait", "f2"],
        ["zero", "window_4", [[15, 1]]],
        ["zero", "full", [[16, 1]]],
      ],
    ),
    /* 16 */ line("forward.process", { step: "f2" }, { released: {} }),
    /* 17 */ line(
      "state.alloc",
      { req: "r3", count: 1, purpose: "main" },
      { slots: [[3, 1]], mamba: [[1, 1]], step: "no_move" },
    ),
    /* 18 */ line(
      "state.copy",
      { from: { req: "r2", purpose: "main" }, to: { req: "r3", purpose: "main" } },
      {},
      [["copy", "mamba", [[2, 1]]]],
    ),
    /* 19 */ line("group.begin", {}, {}),
    /* 20 */ line("request.finish", { req: "r3", len: 2, insert: false }, { freed: {} }),
    /* 21 */ line("tokens.free", { req: "r2", from: 0, to: 2, bands: ["window_4"] }, { freed: {} }),
    /* 22 */ line(
      "group.end",
      {},
      {
        freed: {
          virtual: [[9, 1]],
          slots: [[3, 1]],
          mamba: [[1, 1]],
          window_4: [
            [15, 1],
            [17, 1],
          ],
          full: [[16, 1]],
        },
      },
    ),
    /* 23 */ line(
      "request.finish",
      { req: "r2", len: 5, insert: false },
      {
        freed: {
          virtual: [
            [6, 2],
            [8, 1],
          ],
          slots: [[2, 1]],
          mamba: [[2, 1]],
          window_4: [
            [18, 1],
            [13, 1],
          ],
          full: [
            [14, 1],
            [17, 1],
            [11, 1],
          ],
        },
      },
    ),
  ],
};

/** The same bands on an arena of twice the size, without lines: `full` has pages 2 to 35, `window_4` 3 to 71. */
export const wide: Pick<Story, "config" | "boot"> = {
  config: { ...threeBands.config, arena_bytes: 288 },
  boot: {
    bands: {
      mamba: { ...threeBands.boot.bands["mamba"]!, pages: 24 },
      window_4: { ...threeBands.boot.bands["window_4"]!, pages: 72 },
      full: { ...threeBands.boot.bands["full"]!, pages: 36 },
    },
    sink_bytes: 12,
  },
};
