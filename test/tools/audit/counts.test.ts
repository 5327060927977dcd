// What counts of pages alone tell: capacity, the limit of a refusal, admission; and the order in which pages are handed out.
import { describe, expect, test } from "vitest";
import type {
  AdmitVerdict,
  Answer,
  BootOk,
  DirectConfig,
  Extents,
  KvOperation,
  QueueEntry,
} from "../../../src/base/operations.js";
import { RunAuditor } from "../../../src/tools/audit/auditor.js";

// Two bands of 8-byte pages in 64 bytes, sink 8: seven places, the window from below, full from above.
const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 64,
  sub_pools: [
    { name: "window_2", kind: "mha", window: 2, unit_bytes: 8 },
    { name: "full", kind: "mha", unit_bytes: 8 },
  ],
  rows: 2,
  row_tokens: 16,
};
const GRID = { unit_bytes: 8, page_bytes: 8, pages: 8, first_page: 1 };
const BOOT: BootOk = {
  bands: { window_2: { grow: "up", ...GRID }, full: { grow: "down", ...GRID } },
  sink_bytes: 8,
};

type Step = readonly [operation: KvOperation, answer: Answer];
const opened = (req: string, row: number): Step => [
  { op: "row.alloc", args: { reqs: [req] } },
  { ok: { rows: { [req]: row } } },
];
const extended = (
  req: string,
  to: number,
  pages: { readonly virtual: Extents; readonly window_2: Extents; readonly full: Extents },
): Step => [
  { op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } },
  {
    ok: { pages: { [req]: pages }, step: "no_move" },
    fx: [
      ["zero", "window_2", pages.window_2],
      ["zero", "full", pages.full],
    ],
  },
];
/** Two pages of each band are live. */
const HALF: readonly Step[] = [
  opened("r1", 1),
  extended("r1", 2, { virtual: [[1, 2]], window_2: [[1, 2]], full: [[6, 2]] }),
];

/** Rules that the last of some operations breaks; those before it break none. */
function lastBreaks(steps: readonly Step[]): readonly string[] {
  const auditor = new RunAuditor(CONFIG, BOOT);
  let rules: readonly string[] = [];
  for (const [at, [operation, answer]] of steps.entries()) {
    expect(rules).toEqual([]);
    rules = auditor.line(at + 1, operation, answer).map(({ signature }) => signature.check);
  }
  return rules;
}

describe("capacity", () => {
  const asked = (full: number, fits: boolean): Step => [
    { op: "ask.fits", args: { demand: { full } } },
    { ok: { fits } },
  ];
  test("three places are left, not four", () => {
    expect(lastBreaks([...HALF, asked(3, true)])).toEqual([]);
    expect(lastBreaks([...HALF, asked(4, false)])).toEqual([]);
    expect(lastBreaks([...HALF, asked(3, false)])).toEqual(["capacity.truth"]);
    expect(lastBreaks([...HALF, asked(4, true)])).toEqual(["capacity.truth"]);
  });

  test("in an open group a no is not judged", () => {
    const group: Step = [{ op: "group.begin", args: {} }, { ok: {} }];
    expect(lastBreaks([...HALF, group, asked(3, false)])).toEqual([]);
    expect(lastBreaks([...HALF, group, asked(4, true)])).toEqual(["capacity.truth"]);
  });

  test("with stages the smallest arena decides", () => {
    const own = { arena_bytes: CONFIG.arena_bytes, sub_pools: CONFIG.sub_pools };
    const stages = [own, { ...own, arena_bytes: 56 }]; // a place less
    const install: Step = [{ op: "stages.install", args: { stages, self: 0 } }, { ok: {} }];
    expect(lastBreaks([install, ...HALF, asked(2, true)])).toEqual([]);
    expect(lastBreaks([install, ...HALF, asked(3, false)])).toEqual([]);
    expect(lastBreaks([install, ...HALF, asked(2, false)])).toEqual(["capacity.truth"]);
    expect(lastBreaks([install, ...HALF, asked(3, true)])).toEqual(["capacity.truth"]);
  });

  test("a refusal names the band whose grid is short, else bytes", () => {
    const refused = (window_2: number, limit: string): Step => {
      const demand = { window_2 };
      return [
        { op: "chain.relieve", args: { demand } },
        { err: { code: "refused_capacity", demand, limit } },
      ];
    };
    // Seven places of the window's grid, two of them live.
    expect(lastBreaks([...HALF, refused(6, "window_2")])).toEqual([]);
    expect(lastBreaks([...HALF, refused(5, "bytes")])).toEqual([]);
    expect(lastBreaks([...HALF, refused(6, "bytes")])).toEqual(["refusal.reason"]);
    expect(lastBreaks([...HALF, refused(5, "window_2")])).toEqual(["refusal.reason"]);
  });
});

describe("the order of what is handed out", () => {
  const again = (full: Extents): readonly Step[] => [
    opened("r1", 1),
    extended("r1", 1, { virtual: [[1, 1]], window_2: [[1, 1]], full: [[7, 1]] }),
    [
      { op: "request.finish", args: { req: "r1", len: 1, insert: false } },
      { ok: { freed: { virtual: [[1, 1]], window_2: [[1, 1]], full: [[7, 1]] } } },
    ],
    opened("r2", 2),
    extended("r2", 3, { virtual: [[2, 3]], window_2: [[1, 3]], full }),
  ];
  test("holes first, then new pages from the lowest", () => {
    expect(lastBreaks(again([[7, 1], [5, 2]]))).toEqual([]); // prettier-ignore
    expect(lastBreaks(again([[7, 1], [6, -2]]))).toEqual(["page.order"]); // prettier-ignore
    expect(lastBreaks(again([[5, 1], [7, -2]]))).toEqual(["page.order", "page.order"]); // prettier-ignore
  });
});

describe("admission", () => {
  const WAIT: AdmitVerdict = { verdict: "wait", tokens: 0, reason: null };
  const passed = (
    entries: readonly (readonly [input: number, max_new: number, verdict: AdmitVerdict])[],
  ): Step => {
    const queue: QueueEntry[] = entries.map(([input, max_new], at) => {
      return { req: `q${at}`, input, max_new };
    });
    const ok = Object.fromEntries(entries.map(([, , verdict], at) => [`q${at}`, verdict]));
    return [{ op: "admit.pass", args: { queue } }, { ok }];
  };
  const served = (verdict: "admit" | "chunk", tokens: number): AdmitVerdict => {
    return { verdict, tokens, reason: null };
  };
  const abort = (reason: "never_fits" | "unschedulable"): AdmitVerdict => {
    return { verdict: "abort", tokens: 0, reason };
  };

  test("what is admitted has room for its output", () => {
    // Three pages of full, as many of the window.
    expect(lastBreaks([passed([[2, 1, served("admit", 2)]])])).toEqual([]);
    // Four and four are more than seven; in chunks of a token the window needs three.
    expect(lastBreaks([passed([[3, 1, served("admit", 3)]])])).toEqual(["admit.verdict"]);
    expect(lastBreaks([passed([[3, 1, served("chunk", 1)]])])).toEqual([]);
  });

  test("each request of a pass has room beside those before it", () => {
    const first = [1, 1, served("admit", 1)] as const; // two pages of each
    expect(lastBreaks([passed([first, [1, 0, served("admit", 1)]])])).toEqual([]);
    expect(lastBreaks([passed([first, [1, 1, served("admit", 1)]])])).toEqual(["admit.verdict"]);
  });

  test("giving up and waiting depend on what gives memory back", () => {
    const unschedulable = passed([[3, 1, abort("unschedulable")]]);
    expect(lastBreaks([unschedulable])).toEqual([]);
    expect(lastBreaks([opened("r1", 1), unschedulable])).toEqual(["admit.verdict"]);
    expect(lastBreaks([passed([[3, 1, WAIT]])])).toEqual(["admit.verdict"]);
    expect(lastBreaks([opened("r1", 1), passed([[3, 1, WAIT]])])).toEqual([]);
    expect(lastBreaks([passed([[3, 1, abort("never_fits")]])])).toEqual(["admit.verdict"]);
    expect(lastBreaks([passed([[8, 1, abort("never_fits")]])])).toEqual([]);
  });

  test("nobody overtakes who waits", () => {
    const behind = passed([
      [3, 1, WAIT],
      [1, 0, served("admit", 1)],
    ]);
    expect(lastBreaks([opened("r1", 1), behind])).toEqual(["admit.verdict"]);
  });
});
