// One mistake in an answer at a time, planted into a good run: the device names it at the operation that makes it, or
// at the first one that contradicts it.
import { dropEffect, fx, type Mistake, plant, testAll } from "./planted.js";

const MISTAKES: readonly Mistake[] = [
  plant(
    "a page is handed to two requests",
    15,
    (line) => {
      line.answer.ok.pages.r3.full = [[17, 1]];
      line.answer.fx[2] = ["zero", "full", [[17, 1]]];
    },
    "bad_effect",
    /^zero of full page 17 \(virtual 7, r2 tokens 2 to 3\), which is live/,
  ),
  plant(
    "a page is handed out twice by one answer",
    4,
    (line) => {
      line.answer.ok.pages.r2.full = [[15, 2]];
      line.answer.fx[1] = ["zero", "full", [[12, 5]]];
    },
    "bad_effect",
    /^full page 15 is handed out twice/,
  ),
  plant(
    "a virtual page is bound twice",
    8,
    (line) => (line.answer.ok.pages.r2.virtual = [[7, 1]]),
    "bad_effect",
    /is bound again, to page/,
  ),
  plant(
    "an id is outside the usable ones",
    8,
    (line) => (line.answer.ok.pages.r2.virtual = [[1, 1]]),
    "bad_effect",
    /^virtual 1 of r2 is not in 2 to 17/,
  ),
  plant(
    "a page lies in the sink",
    8,
    (line) => (line.answer.ok.pages.r2.window_4 = [[2, 1]]),
    "bad_effect",
    /names window_4 page 2, usable are 3 to 35/,
  ),
  plant(
    "a request gets fewer pages than its tokens need",
    4,
    (line) => {
      line.answer.ok.pages.r2 = { virtual: [[6, 1]], window_4: [[17, 1]], full: [[16, 1]] };
      line.answer.fx = [
        ["zero", "window_4", [[13, 5]]],
        ["zero", "full", [[12, 5]]],
      ];
    },
    "bad_effect",
    /^r2 has 1 pages for 2 pages of tokens/,
  ),
  plant(
    "an answer frees another request's page",
    9,
    (line) =>
      (line.answer.ok.freed.full = [
        [12, 3],
        [16, 1],
      ]),
    "bad_effect",
    /^the answer frees full 16 where 15 is held/,
  ),
  plant(
    "an answer leaves a page out",
    9,
    (line) => (line.answer.ok.freed.window_4 = [[15, 1]]),
    "bad_effect",
    /^the answer frees 1 of 2 in window_4: 16 is left out/,
  ),
  plant(
    "a retired window page belongs to somebody else",
    7,
    (line) =>
      (line.answer.ok.window_4.freed = [
        [13, 1],
        [17, 1],
      ]),
    "bad_effect",
    /^the answer frees window_4 17 where 14 is held/,
  ),
  plant(
    "a group frees a page that it was not given",
    22,
    (line) => (line.answer.ok.freed.full = [[16, 2]]),
    "bad_effect",
    /^group.end frees full page 17 \(virtual 7, r2 tokens 2 to 3\), which the group did not free/,
  ),
  plant(
    "a group forgets a page of a freed id",
    22,
    (line) => delete line.answer.ok.freed.full,
    "bad_effect",
    /^group.end frees virtual 9 and leaves full page 16 \(virtual 9\) bound/,
  ),
  plant(
    "a group frees at once",
    20,
    (line) => (line.answer.ok.freed = { full: [[16, 1]] }),
    "bad_effect",
    /^full pages are freed inside an open group/,
  ),
  plant(
    "a page is released while it is live",
    12,
    (line) => (line.answer.ok.released.full = [[16, 1]]),
    "bad_effect",
    /^full page 16 \(virtual 6, r2 tokens 0 to 1\) is released while it is live/,
  ),
  plant(
    "the wrong state is copied",
    18,
    fx(["copy", "mamba", [[1, 2]]]),
    "bad_effect",
    /^copy of mamba page 1 \(slot 3, r3 main\), no main slot of r2/,
  ),
  plant(
    "a wait names a forward that was never launched",
    8,
    (line) => (line.answer.fx[0] = ["wait", "f7"]),
    "bad_effect",
    /^wait of f7, which was never launched/,
  ),
  plant(
    "a launch has no forward effect",
    5,
    dropEffect(1),
    "bad_effect",
    /^launch of f1 \(extend\) with 0 forward effects/,
  ),
  plant(
    "a row is reset that was not handed out",
    10,
    (line) => {
      line.answer.ok.resets = [[1, 1]];
      line.answer.fx = [
        ["reset", [[1, 1]]],
        ["forward", "f2"],
      ];
    },
    "bad_effect",
    /^reset of row 1, which was not handed out since its last reset/,
  ),
  plant(
    "a row is handed to two requests",
    14,
    (line) => (line.answer.ok.rows.r3 = 2),
    "bad_effect",
    /^row 2 is handed to r3 while it is taken/,
  ),
  plant(
    "a row is outside the table",
    14,
    (line) => (line.answer.ok.rows.r3 = 5),
    "bad_effect",
    /^row 5 of r3 is not in 1 to 4/,
  ),
  plant(
    "a question has an effect",
    14,
    (line) => {
      line.operation = { op: "ask.fits", args: { demand: {} } };
      line.answer = { ok: { fits: true }, fx: [["wait", "f2"]] };
    },
    "bad_effect",
    /^a question has a wait effect/,
  ),
  plant(
    "a refusal has an effect",
    8,
    (line) => {
      line.answer = { err: { code: "refused_ids", need: 1, free: 0 }, fx: [["wait", "f1"]] };
    },
    "bad_effect",
    /^tokens.decode is refused and yet has a wait effect/,
  ),
  plant(
    "a copy is done that nothing started",
    14,
    (line) => {
      line.operation = { op: "host.backup_done", args: { copy: "c1", outcome: "ok" } };
      line.answer = { ok: {} };
    },
    "bad_effect",
    /^c1 is done and copied nothing to the host/,
  ),
];

testAll("a mistake in an answer", MISTAKES);
