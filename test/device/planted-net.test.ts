// One mistake at a time in a run of network transfers: places told wrongly, pages freed or written too early, ends miscounted.
import { describe, expect, test } from "vitest";
import { ModelDevice } from "../../src/device/model.js";
import { dropEffect, type Mistake, planter, testAll } from "./planted.js";
import { extend, forward } from "./story-lines.js";
import { netStory } from "./story-net.js";
import { firstFinding, line, type Line } from "./story.js";

describe("a run of transfers", () => {
  test.each(["touched", "every"] as const)("has no violation, verifying %s", (verify) => {
    expect(firstFinding(netStory, verify)).toBeNull();
  });

  test("counts a page of a failed send that is written again, which is no violation", () => {
    const device = new ModelDevice({ verify: "touched" });
    device.open(netStory.config, netStory.boot);
    const counts = netStory.lines.map(({ operation, answer }) => {
      device.apply(operation, answer);
      return device.limitations().get("late_read_of_failed_send") ?? 0;
    });
    expect(counts[24]).toBe(0);
    expect(counts[25]).toBe(1); // full page 28
    expect(device.limitations().has("late_write_of_failed_receive")).toBe(false);
  });

  test("counts a page of a receive that timed out and is written again", () => {
    const timeout = line(
      "net.end",
      { transfer: "t2", outcome: "timeout" },
      { released: {}, late: false },
    );
    const freed = { virtual: [[4, 2]], slots: [[2, 1]], mamba: [[2, 1]], window_4: [[19, 1]] };
    const full = [
      [24, 1],
      [29, 1],
    ];
    const closed = line(
      "request.finish",
      { req: "r2", len: 4, insert: false },
      { freed: { ...freed, full } },
    );
    const again = extend("r1", [4, 6], {
      virtual: [[4, 1]],
      window_4: [[19, 1]],
      full: [[24, 1]],
    });
    const device = new ModelDevice({ verify: "every" });
    device.open(netStory.config, netStory.boot);
    for (const { operation, answer } of [...netStory.lines.slice(0, 11), timeout, closed, again])
      expect(device.apply(operation, answer)).toBeNull();
    expect(device.limitations().get("late_write_of_failed_receive")).toBe(2);
  });
});

const plant = planter(netStory);

const MISTAKES: readonly Mistake[] = [
  plant(
    "a send goes while a forward still writes its pages",
    6,
    dropEffect(0),
    "unordered_overlap",
    /^t1 reads mamba page 1 \(slot 1, r1 main\) while f1 may still write it: nothing waits for f1 first/,
  ),
  plant(
    "a send goes before the wait",
    6,
    (line) => line.answer.fx.reverse(),
    "unordered_overlap",
    /^t1 reads mamba page 1 .* while f1 may still write it/,
  ),
  plant(
    "a send answers another page than it sends",
    6,
    (line) => (line.answer.ok.pages = { ...line.answer.ok.pages, full: [[26, 1]] }),
    "bad_effect",
    /^the answer for t1 names nothing as number 1 in full, where page 27 lies/,
  ),
  plant(
    "a send sends another request's place",
    6,
    (line) => {
      line.answer.fx[1] = [
        "net",
        "t1",
        "send",
        { mamba: [[1, 1]], window_4: [[17, 2]], full: [[20, 2]] },
      ];
    },
    "bad_effect",
    /^send t1 names full page 20, which is not bound/,
  ),
  plant(
    "a send leaves its window pages out",
    6,
    (line) => {
      line.answer.fx[1] = ["net", "t1", "send", { mamba: [[1, 1]], full: [[26, 2]] }];
    },
    "bad_effect",
    /^send t1 names nothing as number 0 in window_4, where page 17 lies/,
  ),
  plant(
    "the epoch is not the number of moves",
    6,
    (line) => (line.answer.ok.epoch = 1),
    "bad_effect",
    /^t1 is of epoch 1, there were 0 moves/,
  ),
  plant("a send is forgotten", 6, dropEffect(1), "bad_effect", /^t1 goes without its net effect/),
  plant(
    "a received page is not zeroed",
    9,
    dropEffect(1),
    "bad_effect",
    /^full page 28 is handed out without zeroing/,
  ),
  plant(
    "a publication tells where a page lay before it moved",
    11,
    (line) => {
      line.answer.ok.pages = { mamba: [[2, 1]], window_4: [[19, 1]], full: [[28, 2]] };
      line.answer.fx[1][3] = line.answer.ok.pages;
    },
    "bad_effect",
    /^receive t2 names full page 28, which is not bound/,
  ),
  plant(
    "a publication does not say that it read the places again",
    11,
    (line) => (line.answer.ok.reread = false),
    "bad_effect",
    /^t2 is published and not read again, although a page of it moved/,
  ),
  plant(
    "a publication does not read its places",
    11,
    dropEffect(0),
    "bad_effect",
    /^t2 is published without reading its places/,
  ),
  plant(
    "a publication tells nobody",
    11,
    dropEffect(1),
    "bad_effect",
    /^t2 goes without its net effect/,
  ),
  plant(
    "pages that a send still reads are freed at once",
    12,
    (line) => (line.answer.ok = { freed: line.answer.ok.deferred }),
    "bad_effect",
    /^the answer frees mamba 1 where nothing more is held/,
  ),
  plant(
    "a deferred page is left out",
    12,
    (line) => (line.answer.ok.deferred = { ...line.answer.ok.deferred, full: [[26, 1]] }),
    "bad_effect",
    /^the answer defers 1 of 2 in full: 27 is left out/,
  ),
  plant(
    "an id goes back before its page",
    12,
    (line) => {
      line.answer.ok.freed = { virtual: [[2, 2]] };
      line.answer.ok.deferred = { ...line.answer.ok.deferred, virtual: [] };
    },
    "bad_effect",
    /^the answer frees virtual 2 where nothing more is held/,
  ),
  plant(
    "a send's pages are released at the end of its first writer",
    13,
    (line) => (line.answer.ok.released = { full: [[26, 2]] }),
    "bad_effect",
    /^the answer frees full 26 where nothing more is held/,
  ),
  plant(
    "a repeated end is not late",
    14,
    (line) => (line.answer.ok.late = false),
    "bad_effect",
    /^the end of t1 is answered as in time, which it is not/,
  ),
  plant(
    "a page moves while it is received",
    15,
    (line) => {
      line.answer.fx.splice(1, 1);
      delete line.answer.ok.ended;
    },
    "unordered_overlap",
    /^move reads full page 24 \(virtual 4, r2 tokens 0 to 1\) while t2 may still write it/,
  ),
  plant(
    "a transfer that the host waited is not told as ended",
    15,
    (line) => delete line.answer.ok.ended,
    "bad_effect",
    /^the operation ends t2, the answer says none/,
  ),
  plant(
    "a transfer is told as ended that goes on",
    16,
    (line) => (line.answer.ok.ended = { transfers: ["t1"], freed: {} }),
    "bad_effect",
    /^the operation ends no transfer, the answer says t1/,
  ),
  plant(
    "the host waits a transfer that nobody published",
    10,
    (line) => line.answer.fx.splice(1, 0, ["hostwait", "t2"]),
    "bad_effect",
    /^host wait for t2, which is no published transfer/,
  ),
  plant(
    "a released page is left out",
    18,
    (line) => (line.answer.ok.released = { ...line.answer.ok.released, window_4: [[17, 1]] }),
    "bad_effect",
    /^the answer frees 1 of 2 in window_4: 18 is left out/,
  ),
  plant(
    "an end after a host wait is not late",
    19,
    (line) => (line.answer.ok.late = false),
    "bad_effect",
    /^the end of t2 is answered as in time, which it is not/,
  ),
  plant(
    "a held send goes at once",
    21,
    (line) => (line.answer.fx = [["net", "t3", "send", line.answer.ok.pages]]),
    "bad_effect",
    /^t3 is held and yet sent/,
  ),
  plant(
    "another operation starts a transfer",
    25,
    (line) => (line.answer.fx = [["net", "t3", "send", {}]]),
    "bad_effect",
    /^row.alloc starts t3/,
  ),
  plant(
    "a finish does not tell that it ended a transfer",
    28,
    (line) => delete line.answer.ok.ended,
    "bad_effect",
    /^the operation ends t4, the answer says none/,
  ),
];

testAll("a mistake with transfers", MISTAKES);

describe("pages in use by a transfer", () => {
  const found = (count: number, ...lines: readonly Line[]) =>
    firstFinding({ ...netStory, lines: [...netStory.lines.slice(0, count), ...lines] })?.violation;

  test("are not read by a forward while they are received", () => {
    const launch = forward("f2", [{ req: "r2", from: 3, to: 4 }], [[2, 1]]);
    expect(found(11, ...launch)?.message).toMatch(
      /^f2 reads window_4 page 19 \(virtual 5, r2 tokens 2 to 3\) while t2 may still write it/,
    );
  });

  test("are not written by a forward while they are sent", () => {
    const launch = forward("f2", [{ req: "r1", from: 3, to: 4 }]);
    expect(found(7, ...launch)?.message).toMatch(
      /^f2 writes window_4 page 18 \(virtual 3, r1 tokens 2 to 3\) while t1 may still use it/,
    );
  });

  test("may move away while they are sent; the place is not free before", () => {
    const moves = [[26, 22]];
    const flush = line("chain.flush", {}, { full: { moves, absorbed: 0 } }, [
      ["move", "full", moves],
    ]);
    const again = extend("r1", [4, 6], { virtual: [[4, 1]], window_4: [[19, 1]], full: [[26, 1]] });
    expect(found(7, flush)).toBeUndefined();
    expect(found(7, flush, again)).toMatchObject({
      check: "unordered_overlap",
      message: "zero of full page 26 while t1 may still use it: nothing waits for t1 first",
    });
  });

  test("are not waited when the transfer is stalled", () => {
    const stalled = line("net.stall", { transfer: "t2" }, {});
    expect(found(14, stalled, netStory.lines[14]!)?.message).toBe(
      "host wait for t2, which is stalled and would not return",
    );
  });

  test("are not read by a publication while a forward still uses them", () => {
    const launch = forward("f2", [{ req: "r2", from: 3, to: 4 }], [[2, 1]]);
    expect(found(10, ...launch, netStory.lines[10]!)?.message).toMatch(
      /^t2 writes mamba page 2 \(slot 2, r2 main\) while f2 may still use it/,
    );
  });
});
