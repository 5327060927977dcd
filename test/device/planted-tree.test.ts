// One mistake at a time in a run through the prefix tree: in what rows share, in what is evicted, in states that change owners.
import { describe, expect, test } from "vitest";
import { dropEffect, fx, type Mistake, planter, testAll } from "./planted.js";
import { treeStory } from "./story-tree.js";
import { firstFinding } from "./story.js";

describe("a run through the tree", () => {
  test.each(["touched", "every"] as const)("has no violation, verifying %s", (verify) => {
    expect(firstFinding(treeStory, verify)).toBeNull();
  });
});
const plant = planter(treeStory);

const MISTAKES: readonly Mistake[] = [
  plant(
    "a match is longer than what is cached",
    12,
    (line) => (line.answer.ok.len = 10),
    "bad_effect",
    /^the match answers 10 tokens, 8 are cached/,
  ),
  plant(
    "a match is shorter than what is cached",
    12,
    (line) => (line.answer.ok.len = 6),
    "bad_effect",
    /^the match answers 6 tokens, 8 are cached/,
  ),
  plant(
    "a match ends where no state is",
    12,
    (line) => {
      line.operation.args.key = [["h", 6]];
      line.answer.ok.len = 6;
    },
    "bad_effect",
    /^the match answers 6 tokens, 0 are cached/,
  ),
  plant(
    "tokens of other segments are taken for the same",
    12,
    (line) => {
      line.operation.args.key = [
        ["h", 4],
        ["h", 4],
      ];
      line.answer.ok.len = 8;
    },
    "bad_effect",
    /^the match answers 8 tokens, 0 are cached/,
  ),
  plant(
    "an insertion counts a page as new that was there",
    9,
    (line) => (line.answer.ok.new_pages = 4),
    "bad_effect",
    /^the answer counts 4 new pages, there are 2/,
  ),
  plant(
    "an insertion counts too few duplicates",
    25,
    (line) => (line.answer.ok.duplicates = 2),
    "bad_effect",
    /^the answer counts 2 duplicates, there are 4/,
  ),
  plant(
    "a rehomed page is not counted",
    25,
    (line) => (line.answer.ok.rehomed = {}),
    "bad_effect",
    /^the answer counts 0 rehomed pages in window_4, there are 2/,
  ),
  plant(
    "a rehomed page is freed as well",
    25,
    (line) => (line.answer.ok.freed.window_4 = [[22, 4]]),
    "bad_effect",
    /^the answer frees window_4 22 where 24 is held/,
  ),
  plant(
    "a duplicate keeps its page",
    25,
    (line) => (line.answer.ok.freed.full = [[21, 3]]),
    "bad_effect",
    /^the answer frees 3 of 4 in full: 24 is left out/,
  ),
  plant(
    "the tree's page is freed in place of the row's",
    25,
    (line) => (line.answer.ok.freed.full = [[26, 4]]),
    "bad_effect",
    /^the answer frees full 26 where 21 is held/,
  ),
  plant(
    "a request frees pages that the tree owns by now",
    29,
    (line) => (line.answer.ok.freed.full = [[26, 4]]),
    "bad_effect",
    /^the answer frees full 26 where nothing more is held/,
  ),
  plant(
    "an eviction takes pages that a request locks",
    18,
    (line) => {
      line.answer.ok.freed = { virtual: [[4, 2]], window_4: [[19, 2]], full: [[28, 2]] };
    },
    "bad_effect",
    /^frees window_4 page 19 \(virtual 4, r1 tokens 4 to 5\), which r\d locks/,
  ),
  plant(
    "an eviction takes full pages under a lock",
    31,
    (line) => {
      line.answer.ok.freed = { virtual: [[2, 2]], window_4: [[22, 2]], full: [[26, 2]] };
    },
    "bad_effect",
    /^frees window_4 page 22 \(virtual 2, the tree, tokens 0 to 1\), which keeper locks/,
  ),
  plant(
    "an eviction leaves a page without its prefix",
    31,
    (line) => {
      line.answer.ok.freed = { virtual: [[4, 1]], window_4: [[19, 1]], full: [[28, 1]] };
    },
    "bad_effect",
    /^the eviction leaves virtual 5 in the tree without its prefix/,
  ),
  plant(
    "an eviction frees an id and forgets its window page",
    31,
    (line) => delete line.answer.ok.freed.window_4,
    "bad_effect",
    /^the eviction frees virtual 4 and leaves window_4 page 19 \(virtual 4\) bound/,
  ),
  plant(
    "an eviction frees a page and keeps its id",
    31,
    (line) => delete line.answer.ok.freed.virtual,
    "bad_effect",
    /^the eviction frees the page of virtual 4 and keeps the id in the tree/,
  ),
  plant(
    "an eviction takes a page of a request",
    18,
    (line) => (line.answer.ok.freed.window_4 = [[21, 1]]),
    "bad_effect",
    /^frees window_4 page 21 \(virtual 6, r2 tokens 8 to 9\), which is not the tree's/,
  ),
  plant(
    "an evicted page is handed out while a forward still reads it",
    22,
    (line) => {
      line.answer.ok.pages.r3.window_4 = [[22, 4]];
      line.answer.ok.pages.r3.full = [[26, 4]];
      line.answer.fx[1] = ["zero", "full", [[26, 4]]];
    },
    "bad_effect",
    /^zero of full page 26 \(virtual 2, r1 tokens 0 to 1\), which is live/,
  ),
  plant(
    "a discard leaves a page",
    33,
    (line) => (line.answer.ok.freed = { virtual: [[3, 1]], window_4: [[23, 1]], full: [[27, 1]] }),
    "bad_effect",
    /^the discard leaves virtual 2 in the tree/,
  ),
  plant(
    "the state of another slot is copied from a node",
    14,
    fx(["copy", "mamba", [[1, 4]]]),
    "bad_effect",
    /^copy of mamba page 1 \(slot 1, r1 main\), not the state at 8 tokens/,
  ),
  plant(
    "a copy from a node is forgotten",
    14,
    dropEffect(0),
    "bad_effect",
    /^state.copy without exactly one copied pair/,
  ),
  plant(
    "the wrong slot is donated",
    10,
    (line) => (line.answer.ok.slot = 1),
    "bad_effect",
    /^r1 donates slot 1, which does not hold its state at 8 tokens/,
  ),
  plant(
    "a replacement is a slot that somebody holds",
    10,
    (line) => (line.answer.ok.replacement = 1),
    "bad_effect",
    /^slot 1 is handed out while it is held/,
  ),
  plant(
    "a donation fails although the node has no state",
    10,
    (line) => (line.answer.ok = { slot: null, replacement: null }),
    "bad_effect",
    /^r1 donates nothing at 8 tokens, where no state is/,
  ),
  plant(
    "the replacement's bytes were handed to somebody else",
    15,
    (line) => {
      line.answer.ok.pages.r2.window_4 = [[9, 1]]; // bytes 36 to 39, as mamba page 3
      line.answer.fx[0] = ["zero", "window_4", [[9, 1]]];
    },
    "lost_write",
    /^a slot that changed owners, handed out in operation 10, lies at mamba page 3, whose bytes operation \d+ wrote/,
    20,
  ),
  plant(
    "a finish frees the slot that went to the tree",
    29,
    (line) => (line.answer.ok.freed.mamba = [[1, 2]]),
    "bad_effect",
    /^the answer frees mamba 2 where a slot without a known place is held/,
  ),
  plant(
    "a lock's holder unlocks what it did not lock",
    32,
    (line) => (line.operation.args.req = "stranger"),
    "bad_effect",
    /^stranger unlocks 4 tokens, which it did not lock/,
  ),
];

testAll("a mistake with the tree", MISTAKES);
