// A hand-written run through the prefix tree: insertion, donation, a match, a copy from a node, an evicted window that is
// rehomed, duplicates, and the eviction of everything.
import { extend, finish, forward, open, processed, slot } from "./story-lines.js";
import { line, type Story, wide } from "./story.js";

/** Eight tokens that two requests share, and two of one request's own. */
const SHARED = [["h", 16]];
const OWN = [
  ["h", 8],
  ["own", 2],
];
const NO_SLOTS = { slots: {}, host: {} };

/** Cached are tokens 0 to 7 in two nodes, and the state after them. */
export const treeStory: Story = {
  config: {
    ...wide.config,
    prefix_sharing: true,
    checkpoint: { strategy: "extra_buffer", interval: 4 },
  },
  boot: wide.boot,
  lines: [
    /*  1 */ open("r1", 1),
    /*  2 */ slot("r1", "main", 1, 1),
    /*  3 */ slot("r1", "track", 2, 2),
    /*  4 */ extend("r1", [0, 8], {
      virtual: [[2, 4]],
      window_4: [[17, 4]],
      full: [[26, 4]],
    }),
    /*  5 */ ...forward("f1", [{ req: "r1", from: 0, to: 8, track: 8 }], [[1, 1]]),
    /*  7 */ processed("f1"),
    /*  8 */ line(
      "tree.insert",
      { req: "r1", key: SHARED, len: 5 },
      { new_pages: 2, duplicates: 0, rehomed: {}, freed: {} },
    ),
    /*  9 */ line(
      "tree.insert",
      { req: "r1", key: SHARED, len: 8 },
      { new_pages: 2, duplicates: 0, rehomed: {}, freed: {} },
    ),
    // The replacement is slot 3; that it lies at page 3 shows only when it moves.
    /* 10 */ line(
      "state.donate",
      { req: "r1", len: 8 },
      { slot: 2, replacement: 3, step: "no_move" },
    ),
    /* 11 */ open("r2", 2),
    /* 12 */ line("tree.match", { key: OWN, req: "r2" }, { len: 8, ...NO_SLOTS }),
    /* 13 */ slot("r2", "main", 4, 4),
    /* 14 */ line(
      "state.copy",
      { from: { key: SHARED, len: 8 }, to: { req: "r2", purpose: "main" } },
      {},
      [["copy", "mamba", [[2, 4]]]],
    ),
    /* 15 */ extend("r2", [8, 10], { virtual: [[6, 1]], window_4: [[21, 1]], full: [[25, 1]] }),
    // r1 and r2 read the shared pages together; r1 tracks into the slot whose page is not known yet.
    /* 16 */ ...forward(
      "f2",
      [
        { req: "r1", from: 8, to: 8, track: 8 },
        { req: "r2", from: 8, to: 10 },
      ],
      [[2, 1]],
    ),
    /* 18 */ line(
      "tree.evict",
      { units: { window_4: 2 } },
      { freed: { window_4: [[17, 2]] }, nodes: 0 },
    ),
    /* 19 */ processed("f2"),
    /* 20 */ line("chain.flush", {}, { mamba: { moves: [[3, 5]], absorbed: 0 } }, [
      ["move", "mamba", [[3, 5]]],
    ]),
    /* 21 */ open("r3", 3),
    /* 22 */ extend("r3", [0, 8], { virtual: [[7, 4]], window_4: [[22, 4]], full: [[21, 4]] }),
    /* 23 */ ...forward("f3", [{ req: "r3", from: 0, to: 8 }], [[3, 1]]),
    // Its window pages of tokens 0 to 3 go to the tree's node, which lost its own; f3 still writes them.
    /* 25 */ line(
      "tree.insert",
      { req: "r3", key: SHARED, len: 9 },
      {
        new_pages: 0,
        duplicates: 4,
        rehomed: { window_4: 2 },
        freed: { virtual: [[7, 4]], window_4: [[24, 2]], full: [[21, 4]] },
      },
    ),
    /* 26 */ line("tree.lock", { key: SHARED, len: 4, req: "keeper" }, {}),
    /* 27 */ line(
      "forward.process",
      { step: "f3" },
      { released: { window_4: [[24, 2]], full: [[21, 4]] } },
    ),
    /* 28 */ finish("r2", 10, {
      virtual: [[6, 1]],
      slots: [[4, 1]],
      mamba: [[4, 1]],
      window_4: [[21, 1]],
      full: [[25, 1]],
    }),
    /* 29 */ line(
      "request.finish",
      { req: "r1", len: 8, insert: true, key: SHARED },
      {
        freed: {
          slots: [
            [1, 1],
            [3, 1],
          ],
          mamba: [
            [1, 1],
            [5, 1],
          ],
        },
        tree: { new_pages: 0, duplicates: 0, rehomed: {} },
      },
    ),
    /* 30 */ finish("r3", 8, {}),
    /* 31 */ line(
      "tree.evict",
      { units: { full: 2 } },
      {
        freed: {
          virtual: [[4, 2]],
          slots: [[2, 1]],
          mamba: [[2, 1]],
          window_4: [[19, 2]],
          full: [[28, 2]],
        },
        nodes: 1,
      },
    ),
    /* 32 */ line("tree.unlock", { key: SHARED, len: 4, req: "keeper" }, {}),
    /* 33 */ line(
      "contents.discard",
      {},
      {
        freed: { virtual: [[2, 2]], window_4: [[22, 2]], full: [[26, 2]] },
      },
    ),
  ],
};
