// One mistake at a time in a run with the host: copies of the wrong pages, pages written or read while a copy runs, host
// pages given away, loads bound or freed wrongly.
import { describe, expect, test } from "vitest";
import { dropEffect, fx, type Mistake, planter, testAll } from "./planted.js";
import { extend, forward } from "./story-lines.js";
import { hostStory } from "./story-host.js";
import { firstFinding, line, type Line } from "./story.js";

describe("a run with the host", () => {
  test.each(["touched", "every"] as const)("has no violation, verifying %s", (verify) => {
    expect(firstFinding(hostStory, verify)).toBeNull();
  });
});

const plant = planter(hostStory);

const MISTAKES: readonly Mistake[] = [
  plant(
    "a backup leaves a page out",
    7,
    (line) => {
      line.answer.ok.host.full = [[0, 3]];
      line.answer.fx[0][3] = { ...line.answer.fx[0][3], full: [[26, 3]] };
    },
    "bad_effect",
    /^c1 leaves out full page 29 \(virtual 5, the tree, tokens 6 to 7\), which has no host copy/,
  ),
  plant(
    "a backup copies pages in another order than their host pages",
    7,
    (line) => (line.answer.fx[0][3] = { ...line.answer.fx[0][3], full: [[29, -4]] }),
    "bad_effect",
    /^copy c1 names page 29 as number 0 in full, where page 26 lies/,
  ),
  plant(
    "a backup copies a page that is not of the path",
    7,
    (line) =>
      (line.answer.fx[0][3] = {
        ...line.answer.fx[0][3],
        full: [
          [26, 4],
          [20, 1],
        ],
      }),
    "bad_effect",
    /^copy c1 names page 20 as number 4 in full, where nothing belongs/,
  ),
  plant(
    "a backup has fewer host pages than pages",
    7,
    (line) => (line.answer.ok.host.window_4 = [[0, 3]]),
    "bad_effect",
    /^3 host pages for 4 pages of window_4/,
  ),
  plant(
    "a host page lies outside its pool",
    7,
    (line) => (line.answer.ok.host.full = [[7, 4]]),
    "bad_effect",
    /^host page 10 of full is handed out, there are 10/,
  ),
  plant(
    "a host page is handed out twice",
    7,
    (line) =>
      (line.answer.ok.host.full = [
        [0, 3],
        [0, 1],
      ]),
    "bad_effect",
    /^host page 0 of full is given away while it is being written/,
  ),
  plant(
    "a backup has no copy",
    7,
    dropEffect(0),
    "bad_effect",
    /^c1 leaves out mamba page 1 \(slot 1, the tree, 8 tokens\), which has no host copy/,
  ),
  plant(
    "a copy goes the other way",
    7,
    (line) => (line.answer.fx[0][2] = "in"),
    "bad_effect",
    /^copy c1 is started in place of c1/,
  ),
  plant(
    "another operation starts a copy",
    8,
    fx(["hostcopy", "c9", "out", {}]),
    "bad_effect",
    /^forward.process starts c9/,
  ),
  plant(
    "an eviction takes what is being copied to the host",
    8,
    (line) => {
      line.operation = { op: "tree.evict", args: { units: { mamba: 1 } } };
      line.answer = { ok: { freed: { slots: [[1, 1]], mamba: [[1, 1]] }, nodes: 0 } };
    },
    "bad_effect",
    /^frees mamba page 1 \(slot 1, the tree, 8 tokens\), which c1 locks/,
  ),
  plant(
    "a match counts a host copy that is not there",
    11,
    (line) => (line.answer.ok.host.full = 16),
    "bad_effect",
    /^the match answers 16 tokens of full with the host, 8 are there/,
  ),
  plant(
    "a load gets too few pages",
    12,
    (line) => (line.answer.ok.pages.window_4 = [[21, 1]]),
    "bad_effect",
    /^load l1 gets 1 pages of window_4, it needs 2/,
  ),
  plant(
    "a load reads what the host does not have",
    12,
    (line) => {
      line.operation.args.len = 6;
    },
    "bad_effect",
    /^load l1 reads page 2 of mamba, of which the host has no copy/,
  ),
  plant(
    "a load's page is zeroed",
    12,
    fx(["zero", "full", [[22, 1]]]),
    "bad_effect",
    /^zero of full page 22, not handed out here/,
  ),
  plant(
    "a load gets a live page",
    34,
    (line) => (line.answer.ok.pages.full = [[30, 1]]),
    "bad_effect",
    /^full page 30 \(virtual 12, r2 tokens 0 to 1\) is handed out while it is live/,
  ),
  plant(
    "a window page is named by another position's id",
    13,
    (line) => (line.answer.ok.bound.virtual = [[6, 2]]),
    "bad_effect",
    /^the answer binds virtual 6, not 8/,
  ),
  plant(
    "a window page is not named",
    13,
    (line) => (line.answer.ok.bound = { virtual: [[8, 1]], window_4: [[21, 1]] }),
    "bad_effect",
    /^the answer binds 1 of 2 in virtual/,
  ),
  plant(
    "a load copies into other places than it has",
    14,
    (line) => (line.answer.fx[0][3] = { ...line.answer.fx[0][3], full: [[25, -4]] }),
    "bad_effect",
    /^copy c2 names page 25 as number 0 in full, where page 22 lies/,
  ),
  plant(
    "a load's copy is forgotten",
    14,
    dropEffect(0),
    "bad_effect",
    /^copy c2 names nothing as number 0 in mamba, where page 2 lies/,
  ),
  plant(
    "a load that is done frees what the tree has from it",
    15,
    (line) => (line.answer.ok.freed = { full: [[22, 4]] }),
    "bad_effect",
    /^the answer frees full 22 where nothing more is held/,
  ),
  plant(
    "a retracted row is copied without its window",
    24,
    (line) => {
      line.answer.ok.host = { mamba: [[1, 1]], full: [[4, 5]] };
      line.answer.fx[0][3] = { mamba: [[3, 1]], full: line.answer.fx[0][3].full };
    },
    "bad_effect",
    /^copy c3 names nothing as number 0 in window_4, where page 21 lies/,
  ),
  plant(
    "a page is reused while it is copied to the host",
    26,
    dropEffect(0),
    "unordered_overlap",
    /^zero of full page 21 while c3 may still use it: nothing waits for c3 first/,
  ),
  plant(
    "a page is reused before the wait for its copy",
    26,
    (line) => line.answer.fx.reverse(),
    "unordered_overlap",
    /^zero of full page 21 while c3 may still use it/,
  ),
  plant(
    "a copy is done that was never started",
    27,
    (line) => (line.operation.args.copy = "c8"),
    "bad_effect",
    /^c8 is done and copied nothing to the host/,
  ),
  plant(
    "a request comes back from a copy that keeps none",
    28,
    (line) => (line.operation.args.copy = "c1"),
    "bad_effect",
    /^copy c3 is started in place of c1|^r2 comes back from c1, which keeps no request/,
  ),
  plant(
    "a request comes back without a window page",
    28,
    (line) => {
      line.answer.ok.pages.window_4 = [
        [0, 3],
        [26, 2],
      ];
    },
    "bad_effect",
    /^c3 misses page 2 of window_4/,
  ),
  plant(
    "a request comes back with too few pages",
    28,
    (line) => {
      line.answer.ok.pages.virtual = [[12, 4]];
      line.answer.ok.pages.full = [[30, 4]];
    },
    "bad_effect",
    /^c3 brings 5 ids back, the answer has 4/,
  ),
  plant(
    "a forward reads what a load has yet to write",
    29,
    dropEffect(0),
    "unordered_overlap",
    /^f3 reads window_4 page 25 \(virtual 14, r2 tokens 4 to 5\) while c3 may still write it/,
  ),
  plant(
    "a restored row is reset",
    29,
    (line) => {
      line.answer.ok.resets = [[3, 2]];
      line.answer.fx[1] = ["reset", [[3, 2]]];
    },
    "bad_effect",
    /^reset of row 4, which was not handed out since its last reset/,
  ),
  plant(
    "a host page is evicted that nobody holds",
    33,
    (line) => (line.answer.ok.freed.full = [[0, 5]]),
    "bad_effect",
    /^host page 4 of full is evicted and not held/,
  ),
  plant(
    "a load is bound behind the end of its row",
    35,
    (line) => (line.operation.args.from = 4),
    "bad_effect",
    /^r3 takes a load at 4, its row ends at 2/,
  ),
  plant(
    "a failed load keeps a page",
    37,
    (line) => delete line.answer.ok.freed.window_4,
    "bad_effect",
    /^the answer frees 0 of 1 in window_4: 17 is left out/,
  ),
  plant(
    "a load that was given up keeps its reservation",
    40,
    (line) => (line.answer.ok.freed = {}),
    "bad_effect",
    /^the answer frees 0 of 1 in window_4: 17 is left out/,
  ),
];

testAll("a mistake with the host", MISTAKES);

describe("pages in use by a copy", () => {
  const found = (count: number, ...lines: readonly Line[]) =>
    firstFinding({ ...hostStory, lines: [...hostStory.lines.slice(0, count), ...lines] })?.violation
      .message;
  const flush = (source: number, target: number): Line => {
    const moves = [[source, target]];
    return line("chain.flush", {}, { full: { moves, absorbed: 0 } }, [["move", "full", moves]]);
  };

  test("do not move while they are reserved", () => {
    expect(found(12, flush(22, 20))).toBe(
      "move reads full page 22 (virtual 6, reserved for l1) while l1 may still write it: nothing waits for l1 first",
    );
  });

  test("do not move while they are loaded", () => {
    expect(found(14, flush(22, 20))).toMatch(
      /^move reads full page 22 .* while c2 may still write/,
    );
  });

  test("may move while they are copied to the host; the place is not free before", () => {
    const launch = forward("f9", [{ req: "r9", from: 0, to: 2 }], [[2, 1]]);
    const again = extend("r9", [0, 2], { virtual: [[6, 1]], window_4: [[21, 1]], full: [[26, 1]] });
    const opened = line("row.alloc", { reqs: ["r9"] }, { rows: { r9: 2 } });
    expect(found(8, flush(26, 20))).toBeUndefined();
    expect(found(8, flush(26, 20), opened, again, ...launch)).toMatch(
      /^zero of full page 26 while c1 may still use it/,
    );
  });

  test("keep their bytes to themselves in every band", () => {
    // Bytes 168 to 171 are those of full page 21, which is freed and still copied.
    const opened = line("row.alloc", { reqs: ["r3"] }, { rows: { r3: 3 } });
    const over = extend("r3", [0, 2], { virtual: [[11, 1]], window_4: [[42, 1]], full: [[20, 1]] });
    expect(found(24, opened, over)).toMatch(
      /^zero of window_4 page 42 while c3 may still use bytes of full page 21/,
    );
  });

  test("keep their host pages until the request is back", () => {
    const evict = line("host.evict", { demand: {} }, { freed: { full: [[4, 1]] }, nodes: 1 });
    expect(found(27, evict)).toBe("host page 4 of full is given away while c3 keeps it");
    const read = line("host.evict", { demand: {} }, { freed: { full: [[0, 1]] }, nodes: 1 });
    expect(found(12, read)).toBe("host page 0 of full is given away while a load reads it");
  });
});
