// A hand-written run of network transfers: a send that outlives its request, a receive that moves before and after it is
// published, a held send that fails, a receive that ends with its request.
import { extend, finish, forward, open, processed, slot } from "./story-lines.js";
import { line, type Line, type Story, wide } from "./story.js";

const SENT = { mamba: [[1, 1]], window_4: [[17, 2]], full: [[26, 2]] };
const R1 = { virtual: [[2, 2]], slots: [[1, 1]], ...SENT };
const RECEIVED = {
  mamba: [[2, 1]],
  window_4: [[19, 1]],
  full: [
    [24, 1],
    [29, 1],
  ],
};
const R2 = { window_4: [[19, 1]], full: [[28, 2]] };

/** A relief that moves one page. */
const relief = (pair: readonly [number, number], before: readonly unknown[], ok: object): Line =>
  line(
    "chain.relieve",
    { demand: { full: 1 } },
    { step: "relayout", spans: {}, moves: {}, ...ok },
    [["hostread", "recovery"], ...before, ["move", "full", [pair]]],
  );
/** A writer's end. */
const end = (transfer: string, writer: string | null, released: object, late = false): Line =>
  line(
    "net.end",
    { transfer, ...(writer === null ? {} : { writer }), outcome: "ok" },
    { released, late },
  );

/** r1 is sent, r2 received. */
export const netStory: Story = {
  ...wide,
  lines: [
    /*  1 */ open("r1", 1),
    /*  2 */ slot("r1", "main", 1, 1),
    /*  3 */ extend("r1", [0, 4], { virtual: [[2, 2]], window_4: [[17, 2]], full: [[26, 2]] }),
    /*  4 */ ...forward("f1", [{ req: "r1", from: 0, to: 4 }], [[1, 1]]),
    /*  6 */ line(
      "net.send",
      { transfer: "t1", req: "r1", from: 0, to: 4, state: "main", writers: ["w1", "w2"] },
      { pages: SENT, epoch: 0 },
      [
        ["wait", "f1"],
        ["net", "t1", "send", SENT],
      ],
    ),
    /*  7 */ processed("f1"),
    /*  8 */ open("r2", 2),
    /*  9 */ line(
      "net.receive",
      { transfer: "t2", req: "r2", from: 0, to: 4, tail: 2, state: 1 },
      {
        pages: {
          virtual: [[4, 2]],
          slots: [[2, 1]],
          mamba: [[2, 1]],
          window_4: [
            [0, 1],
            [19, 1],
          ],
          full: [[28, 2]],
        },
        epoch: 0,
        step: "no_move",
      },
      [
        ["zero", "window_4", [[19, 1]]],
        ["zero", "full", [[28, 2]]],
      ],
    ),
    /* 10 */ relief([28, 24], [], {}),
    /* 11 */ line("net.publish", { transfer: "t2" }, { pages: RECEIVED, epoch: 1, reread: true }, [
      ["hostread", "publish"],
      ["net", "t2", "receive", RECEIVED],
    ]),
    /* 12 */ line(
      "request.finish",
      { req: "r1", len: 4, insert: false },
      { freed: {}, deferred: R1 },
    ),
    /* 13 */ end("t1", "w1", {}),
    /* 14 */ end("t1", "w1", {}, true),
    /* 15 */ relief([24, 28], [["hostwait", "t2"]], { ended: { transfers: ["t2"], freed: {} } }),
    /* 16 */ ...forward("f2", [{ req: "r2", from: 3, to: 4 }], [[2, 1]]),
    /* 18 */ end("t1", "w2", R1),
    /* 19 */ end("t2", null, {}, true),
    /* 20 */ processed("f2"),
    /* 21 */ line(
      "net.send",
      { transfer: "t3", req: "r2", from: 0, to: 4, held: true },
      { pages: R2, epoch: 2 },
    ),
    /* 22 */ line("net.publish", { transfer: "t3" }, { pages: R2, epoch: 2, reread: false }, [
      ["hostread", "publish"],
      ["net", "t3", "send", R2],
    ]),
    /* 23 */ line("net.end", { transfer: "t3", outcome: "failed" }, { released: {}, late: false }),
    /* 24 */ finish("r2", 4, { virtual: [[4, 2]], slots: [[2, 1]], mamba: [[2, 1]], ...R2 }),
    /* 25 */ open("r3", 3),
    // Page 28 was sent by t3, which failed: its engine may still read it.
    /* 26 */ extend("r3", [0, 2], { virtual: [[6, 1]], window_4: [[20, 1]], full: [[28, 1]] }),
    /* 27 */ line(
      "net.receive",
      { transfer: "t4", req: "r3", from: 2, to: 4 },
      {
        pages: { virtual: [[7, 1]], window_4: [[21, 1]], full: [[27, 1]] },
        epoch: 2,
        step: "no_move",
      },
      [
        ["zero", "window_4", [[21, 1]]],
        ["zero", "full", [[27, 1]]],
      ],
    ),
    /* 28 */ line(
      "request.finish",
      { req: "r3", len: 2, insert: false },
      {
        freed: {
          virtual: [[6, 2]],
          window_4: [[20, 2]],
          full: [[28, -2]],
        },
        ended: { transfers: ["t4"], freed: {} },
      },
    ),
  ],
};
