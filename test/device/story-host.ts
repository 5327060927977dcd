// A hand-written run with the host: a cached prefix goes there, leaves the device and is loaded again; a request is
// retracted with a copy and comes back; loads for a stated demand fail and are given up.
import { extend, finish, forward, open, processed, slot } from "./story-lines.js";
import { line, type Line, type Story, wide } from "./story.js";

const KEY = [["h", 16]];
const HAS = (len: number, host: number) => ({
  len,
  slots: { full: len, window_4: len, mamba: len },
  host: { full: host, window_4: host, mamba: host },
});
/** Where the prefix lay first. */
const FIRST = { mamba: [[1, 1]], window_4: [[17, 4]], full: [[26, 4]] };
/** Where it lies once it was loaded: of the window its last four tokens. */
const LOADED = { mamba: [[2, 1]], window_4: [[21, 2]], full: [[22, 4]] };
/** r2, which took the prefix over and has two tokens of its own. */
const R2 = {
  mamba: [[3, 1]],
  window_4: [[21, 3]],
  full: [
    [22, 4],
    [21, 1],
  ],
};
const RESTORED = { mamba: [[4, 1]], window_4: [[25, 3]], full: [[30, 5]] };
const ONE = { window_4: [[17, 1]], full: [[26, 1]] };

const reserve = (load: string, id: number): Line =>
  line(
    "host.load_reserve",
    { load, demand: { full: 1, window_4: 1 } },
    { pages: { virtual: [[id, 1]], ...ONE }, step: "no_move" },
  );

/** Host pages: 2 of `mamba`, 8 of `window_4`, 10 of `full`. */
export const hostStory: Story = {
  config: {
    ...wide.config,
    prefix_sharing: true,
    checkpoint: { strategy: "no_buffer" },
    host: { mamba: 2, window_4: 8, full: 10 },
  },
  boot: wide.boot,
  lines: [
    /*  1 */ open("r1", 1),
    /*  2 */ slot("r1", "main", 1, 1),
    /*  3 */ extend("r1", [0, 8], { virtual: [[2, 4]], window_4: [[17, 4]], full: [[26, 4]] }),
    /*  4 */ ...forward("f1", [{ req: "r1", from: 0, to: 8 }], [[1, 1]]),
    /*  6 */ line(
      "request.finish",
      { req: "r1", len: 8, insert: true, key: KEY },
      { freed: {}, tree: { new_pages: 4, duplicates: 0, rehomed: {} } },
    ),
    // f1 still writes what is copied: the copy's stream is behind it.
    /*  7 */ line(
      "host.backup",
      { copy: "c1", key: KEY, len: 8 },
      { host: { mamba: [[0, 1]], window_4: [[0, 4]], full: [[0, 4]] } },
      [["hostcopy", "c1", "out", FIRST]],
    ),
    /*  8 */ processed("f1"),
    /*  9 */ line("host.backup_done", { copy: "c1", outcome: "ok" }, {}),
    /* 10 */ line(
      "tree.evict",
      { units: { full: "all" } },
      { freed: { virtual: [[2, 4]], slots: [[1, 1]], ...FIRST }, nodes: 0 },
    ),
    /* 11 */ line("tree.match", { key: KEY }, HAS(0, 8)),
    /* 12 */ line(
      "host.load_reserve",
      { load: "l1", key: KEY, len: 8 },
      { pages: { virtual: [[6, 4]], slots: [[2, 1]], ...LOADED }, step: "no_move" },
    ),
    /* 13 */ line(
      "host.load_bind",
      { load: "l1" },
      { bound: { virtual: [[8, 2]], window_4: [[21, 2]] } },
    ),
    /* 14 */ line("host.load_submit", { load: "l1", copy: "c2" }, { pages: LOADED }, [
      ["hostcopy", "c2", "in", LOADED],
    ]),
    /* 15 */ line("host.load_done", { copy: "c2", outcome: "ok" }, { freed: {} }),
    /* 16 */ open("r2", 2),
    /* 17 */ line("tree.match", { key: [["h", 9]], req: "r2" }, HAS(8, 8)),
    /* 18 */ slot("r2", "main", 3, 3),
    /* 19 */ line(
      "state.copy",
      { from: { key: KEY, len: 8 }, to: { req: "r2", purpose: "main" } },
      {},
      [["copy", "mamba", [[2, 3]]]],
    ),
    /* 20 */ extend("r2", [8, 10], { virtual: [[10, 1]], window_4: [[23, 1]], full: [[21, 1]] }),
    /* 21 */ ...forward("f2", [{ req: "r2", from: 8, to: 10 }], [[2, 1]]),
    /* 23 */ processed("f2"),
    /* 24 */ line(
      "request.retract",
      { req: "r2", backup: "c3" },
      {
        freed: {
          virtual: [[10, 1]],
          slots: [[3, 1]],
          mamba: [[3, 1]],
          window_4: [[23, 1]],
          full: [[21, 1]],
        },
        host: { mamba: [[1, 1]], window_4: [[4, 3]], full: [[4, 5]] },
      },
      [["hostcopy", "c3", "out", R2]],
    ),
    /* 25 */ open("r3", 3),
    /* 26 */ extend("r3", [0, 2], { virtual: [[11, 1]], window_4: [[24, 1]], full: [[21, 1]] }, [
      ["wait", "c3"],
    ]),
    /* 27 */ line("host.backup_done", { copy: "c3", outcome: "ok" }, {}),
    /* 28 */ line(
      "request.restore",
      { req: "r2", copy: "c3" },
      {
        rows: { r2: 4 },
        pages: {
          virtual: [[12, 5]],
          slots: [[4, 1]],
          ...RESTORED,
          window_4: [
            [0, 2],
            [25, 3],
          ],
        },
        step: "no_move",
      },
      [["hostcopy", "c3", "in", RESTORED]],
    ),
    // A restored row is not reset; r3's is.
    /* 29 */ ...forward("f3", [{ req: "r2", from: 9, to: 10 }], [[3, 1]], [["wait", "c3"]]),
    /* 31 */ processed("f3"),
    /* 32 */ line("host.load_done", { copy: "c3", outcome: "ok" }, { freed: {} }),
    /* 33 */ line(
      "host.evict",
      { demand: { full: 10 } },
      { freed: { mamba: [[0, 1]], window_4: [[0, 4]], full: [[0, 4]] }, nodes: 1 },
    ),
    /* 34 */ reserve("l2", 17),
    /* 35 */ line(
      "host.load_bind",
      { load: "l2", req: "r3", from: 2 },
      { bound: { virtual: [[17, 1]], window_4: [[17, 1]] } },
    ),
    /* 36 */ line("host.load_submit", { load: "l2", copy: "c4" }, { pages: ONE }, [
      ["hostcopy", "c4", "in", ONE],
    ]),
    /* 37 */ line(
      "host.load_done",
      { copy: "c4", outcome: "failed" },
      { freed: { virtual: [[17, 1]], ...ONE } },
    ),
    /* 38 */ finish("r3", 2, { virtual: [[11, 1]], window_4: [[24, 1]], full: [[21, 1]] }),
    /* 39 */ reserve("l3", 18),
    /* 40 */ line("host.load_cancel", { load: "l3" }, { freed: { virtual: [[18, 1]], ...ONE } }),
    /* 41 */ finish("r2", 10, {
      virtual: [[12, 5]],
      slots: [[4, 1]],
      ...RESTORED,
    }),
  ],
};
