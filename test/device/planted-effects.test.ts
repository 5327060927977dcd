// One mistake in the effects at a time, planted into a good run: the device names it at the operation that makes it.
import { dropEffect, fx, type Mistake, plant, testAll } from "./planted.js";

const zeroes8 = [
  ["zero", "window_4", [[13, 1]]],
  ["zero", "full", [[11, 1]]],
];

const MISTAKES: readonly Mistake[] = [
  plant(
    "a freed page is handed out again without waiting for its reader",
    8,
    dropEffect(0),
    "unordered_overlap",
    /^zero of window_4 page 13 while f1 may still use it/,
  ),
  plant(
    "a vacated page is reused early",
    15,
    dropEffect(0),
    "unordered_overlap",
    /^zero of full page 16 while f2 may still use it/,
  ),
  plant(
    "a page is zeroed before the wait",
    8,
    fx(...zeroes8, ["wait", "f1"]),
    "unordered_overlap",
    /zero of window_4 page 13 while f1/,
  ),
  plant(
    "the zero of a band is forgotten",
    8,
    dropEffect(2),
    "bad_effect",
    /^full page 11 is handed out without zeroing/,
  ),
  plant(
    "one page of a zero is forgotten",
    4,
    fx(["zero", "window_4", [[13, 6]]], ["zero", "full", [[12, 5]]]),
    "bad_effect",
    /^full page 17 is handed out without zeroing/,
  ),
  plant(
    "a live page is zeroed",
    8,
    fx(["wait", "f1"], ...zeroes8, ["zero", "full", [[12, 1]]]),
    "bad_effect",
    /^zero of full page 12 \(virtual 2, r1 tokens 0 to 1\), not handed out here/,
  ),
  plant(
    "a page is zeroed twice",
    8,
    fx(["wait", "f1"], ...zeroes8, zeroes8[1]),
    "bad_effect",
    /^zero of full page 11, a second time/,
  ),
  plant(
    "a state page is zeroed",
    8,
    fx(["wait", "f1"], ...zeroes8, ["zero", "mamba", [[3, 1]]]),
    "bad_effect",
    /^zero in mamba, a state band/,
  ),
  plant(
    "a page moves onto a live page",
    13,
    fx(["move", "full", [[16, 17]]]),
    "bad_effect",
    /^move onto full page 17 \(virtual 7, r2 tokens 2 to 3\), which is live/,
  ),
  plant(
    "a page moves elsewhere than the answer says",
    13,
    fx(["move", "full", [[16, 15]]]),
    "bad_effect",
    /^move 0 in full: the answer says 16 to 14, the effects 16 to 15/,
  ),
  plant(
    "two pages swap their places in the answer to a take",
    4,
    (line) => {
      line.answer.ok.pages.r1.full = [
        [16, 2],
        [14, 2],
      ];
      line.answer.ok.pages.r2.full = [[12, 2]];
    },
    "bad_effect",
    /^the answer frees full 12 where 16 is held/,
    9, // legal until the first answer that contradicts it
  ),
  plant(
    "a page that is not bound moves",
    13,
    fx(["move", "full", [[15, 14]]]),
    "bad_effect",
    /^move from full page 15, which is not bound/,
  ),
  plant(
    "a destination is a source of the same effect",
    13,
    fx([
      "move",
      "full",
      [
        [16, 14],
        [17, 16],
      ],
    ]),
    "bad_effect",
    /full page 16 is a destination and named before in one move/,
  ),
  plant(
    "two sources go to one destination",
    13,
    fx([
      "move",
      "full",
      [
        [16, 14],
        [17, 14],
      ],
    ]),
    "bad_effect",
    /full page 14 is a destination and named before in one move/,
  ),
  plant(
    "a page moves that a running forward writes",
    13,
    fx(["move", "full", [[11, 14]]]),
    "unordered_overlap",
    /^move reads full page 11 \(virtual 8, r2 tokens 4 to 5\) while f2 may still write it/,
  ),
  plant(
    "a state moves that a running forward writes",
    13,
    fx(["move", "full", [[16, 14]]], ["move", "mamba", [[2, 1]]]),
    "unordered_overlap",
    /^move reads mamba page 2 \(slot 2, r2 main\) while f2 may still write it/,
  ),
  plant(
    "a page moves beside a forward whose writes are unknown",
    11,
    (line) => (line.operation.args.writes = "unknown"),
    "unordered_overlap",
    /^move in full while f2, whose writes are unknown, may still run/,
    13,
  ),
  plant(
    "a page is moved to bytes of a live page of another band",
    13,
    fx(["move", "full", [[16, 6]]]), // bytes 48 to 55; window pages 12 and 13, and 13 is live
    "lost_write",
    /^move of full page 6 writes bytes of window_4 page 13 \(virtual 8, r2 tokens 4 to 5\)/,
  ),
  plant(
    "a page is handed out over bytes of a live page of another band",
    8,
    (line) => {
      line.answer.ok.pages.r2.full = [[2, 1]]; // bytes 16 to 23, inside mamba page 1
      line.answer.fx = [["wait", "f1"], zeroes8[0], ["zero", "full", [[2, 1]]]];
    },
    "lost_write",
    /^zero of full page 2 writes bytes of mamba page 1 \(slot 1, r1 main\), which is live/,
  ),
  plant(
    "two pages of one take share bytes",
    4,
    (line) => {
      line.answer.ok.pages.r2.full = [[9, 2]]; // bytes 72 to 87, window page 18 ends at 75
      line.answer.fx = [
        ["zero", "window_4", [[13, 6]]],
        [
          "zero",
          "full",
          [
            [12, 4],
            [9, 2],
          ],
        ],
      ];
    },
    "lost_write",
    /^window_4 page 18 \(virtual 7, r2 tokens 2 to 3\) lost what operation 4 wrote: its bytes are those of a zero in operation 4/,
  ),
  plant(
    "a state is handed out over bytes that a running forward reads",
    14,
    (line) => {
      line.operation = { op: "state.alloc", args: { req: "r2", count: 1, purpose: "cow" } };
      line.answer = { ok: { slots: [[3, 1]], mamba: [[10, 1]], step: "no_move" } }; // bytes 120 to 131
    },
    "unordered_overlap",
    /^hand-out of mamba page 10 while f2 may still use bytes of full page 16/,
  ),
];

testAll("a mistake in the effects", MISTAKES);
