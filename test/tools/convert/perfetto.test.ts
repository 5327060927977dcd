// Files for the Perfetto viewer: well formed, with the counts of the full states and of `stats`.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { loadScenarios, scenarioWorkload } from "../../../src/workload/scenario.js";
import { traceStats } from "../../../src/tools/stats.js";
import { FaultyAdapter, readLines, recorded, seeds, writeLines } from "../faulty-adapter.js";
import type { Line, Mistake } from "../faulty-adapter.js";
import { converted, heapTrace, mixedSeeds, withStates } from "./inputs.js";
import { checkedEvents, Counters } from "./trace-events.js";
import type { TraceEvent } from "./trace-events.js";

interface Run {
  readonly name: string;
  readonly lines: readonly Line[];
}
function runsOf(trace: string): Run[] {
  const runs: { name: string; lines: Line[] }[] = [];
  for (const line of readLines(trace)) {
    if (line.kind === "run") runs.push({ name: line.run, lines: [] });
    else if (line.kind !== "trace") runs.at(-1)!.lines.push(line);
  }
  return runs;
}

async function eventsOf(traces: readonly string[]): Promise<TraceEvent[]> {
  const { path } = await converted(traces, "perfetto");
  return checkedEvents(readFileSync(path, "utf8"));
}

function processOf(events: readonly TraceEvent[], name: string): number {
  const found = events.filter((event) => event.name === "process_name" && event.args.name === name);
  expect(found).toHaveLength(1);
  return found[0].pid;
}

const pagesIn = (extents: [number, number][]): number =>
  extents.reduce((sum, [, count]) => sum + Math.abs(count), 0);

/** Pages of a band that it could grow into, one by one: whole, usable, in nobody's span, with no other span in between. */
function freePages(boot: Line, state: Line, name: string): number {
  const bands = Object.entries(boot.ok.bands as Record<string, Line>);
  const index = bands.findIndex(([band]) => band === name);
  const spans = bands.map(([band, { page_bytes: bytes }]) => {
    const [first, count] = state[band].span;
    return count === 0 ? null : ([first * bytes, (first + count) * bytes] as const);
  });
  const { page_bytes: bytes, pages, first_page: first, grow } = bands[index]![1];
  const own = spans[index] ?? null;
  let free = 0;
  for (let page = first; page < pages; page++) {
    const [from, to] = [page * bytes, (page + 1) * bytes];
    if (own !== null && from < own[1] && to > own[0]) continue;
    if (own !== null && ((to <= own[0] && grow === "up") || (from >= own[1] && grow === "down")))
      continue;
    // neighbours below must end before the page, those above begin behind it
    const isClear = spans.every((span, at) => {
      if (span === null || at === index) return true;
      return at < index ? span[1] <= from : span[0] >= to;
    });
    if (isClear) free += 1;
  }
  return free;
}

describe("bands", () => {
  test("every counter is that of the full state, after every operation", async () => {
    const folder = fileURLToPath(new URL("../../../scenarios/", import.meta.url));
    const scenarios = loadScenarios(
      ["vacated_page_becomes_a_fenced_hole", "vacated_source_under_reader"].map(
        (name) => `${folder}${name}.json`,
      ),
    ).flatMap((one) => one.configs.map(([name]) => scenarioWorkload(one, name)));
    const trace = await withStates([...mixedSeeds(0, 8, 150), ...scenarios]);
    const events = await eventsOf([trace]);
    const met = { holes: 0, pending: 0, vacated: 0 };
    for (const { name, lines } of runsOf(trace)) {
      const counters = new Counters(events, processOf(events, name));
      const boot = lines.find(({ op }) => op === "boot")!;
      let resized = boot;
      for (const line of lines) {
        if (line.op === "arena.resize" && line.ok !== undefined) resized = line;
        if (line.kind !== "state") continue;
        for (const band of Object.keys(boot.ok.bands)) {
          const { live, holes, pending, vacated } = line.state[band];
          const sum = (parts: Line[]): number =>
            parts.reduce((total, { pages }) => total + pagesIn(pages), 0);
          const expected = {
            live,
            holes: pagesIn(holes),
            pending: sum(pending),
            vacated: sum(vacated),
            free: freePages(resized, line.state, band),
          };
          for (const [key, count] of Object.entries(expected)) {
            expect([line.n, band, key, counters.at(`${band} ${key}`, line.n)]).toEqual([
              ...[line.n, band, key, count],
            ]);
          }
          met.holes += expected.holes;
          met.pending += expected.pending;
          met.vacated += expected.vacated;
        }
      }
    }
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(0);
  });

  test("where answers are not this checkout's, live pages follow from the lines", async () => {
    // from operation 20 on every take is refused: fewer pages are live than this checkout would have
    const mistake: Mistake = (n, { op }) =>
      n >= 20 && (op === "tokens.extend" || op === "tokens.decode")
        ? { err: { code: "refused_capacity", demand: { full: 1 }, limit: "bytes" } }
        : null;
    const trace = await recorded(seeds(0, 2), new FaultyAdapter(mistake));
    const { path, result } = await converted([trace], "perfetto");
    expect(result.notes).toHaveLength(1);
    expect(result.notes[0]).toMatch(
      /^this checkout answers otherwise from operation \d+ of .*only live/,
    );
    const events = checkedEvents(readFileSync(path, "utf8"));
    for (const { name, lines } of runsOf(trace)) {
      const counters = new Counters(events, processOf(events, name));
      const parted = lines.find(({ n, err }) => n >= 20 && err?.limit === "bytes").n;
      expect(counters.at("full holes", parted)).toBe(counters.last("full holes"));
      const after = lines.filter(({ kind, n }) => kind === "op" && n > parted);
      const freed = after.filter(({ op }) => op === "request.finish");
      expect(freed.length).toBeGreaterThan(0);
      for (const { n, ok } of freed) {
        if (ok === undefined || lines.some((line) => line.n === n && line.fx !== undefined))
          continue;
        const before = counters.at("full live", n - 1)!;
        expect(counters.at("full live", n)).toBeLessThanOrEqual(before);
      }
    }
  });

  test("from a state on, as a recording of the last operations begins", async () => {
    const trace = await withStates(mixedSeeds(1, 2, 80));
    const [run] = runsOf(trace);
    const [header, opening] = readLines(trace);
    const at = run!.lines.findIndex(({ kind, n }) => kind === "state" && n === 39);
    const ops = run!.lines.filter(({ kind, n }) => kind === "op" && n > 39);
    const tail = writeLines([
      header,
      { ...opening, digest_depth: null, starts_at: 40, dropped: 40 },
      run!.lines[at],
      ...ops.map(({ digest: _, ...line }) => line),
      { kind: "end", run: run!.name, ops: ops.length },
    ]);
    const events = await eventsOf([tail]);
    const counters = new Counters(events, processOf(events, run!.name));
    for (const { kind, n, state } of run!.lines) {
      if (kind === "state" && n >= 39)
        expect([n, counters.at("full live", n)]).toEqual([n, state.full.live]);
    }
  });
});

describe("what `stats` counts", () => {
  test("operations by kind, refusals, moves, waits, retirements, retractions", async () => {
    const trace = await recorded(mixedSeeds(0, 10, 200));
    const stats = await traceStats({ trace });
    const events = await eventsOf([trace]);
    const kinds: Record<string, number> = {};
    for (const { ph, cat, name } of events)
      if (ph === "X" && cat === "op" && /^[a-z]+\.|^boot$/.test(name))
        kinds[name] = (kinds[name] ?? 0) + 1;
    expect(kinds).toEqual(stats.operationKinds);
    const totals = (key: string): number =>
      runsOf(trace).reduce(
        (sum, { name }) =>
          sum + new Counters(events, processOf(events, name)).last(`total ${key}`)!,
        0,
      );
    expect(totals("refused")).toBe(stats.refused);
    expect(totals("moved_pages")).toBe(stats.moves.pages);
    expect(totals("wait_effects")).toBe(stats.waits.effects);
    expect(totals("retired_pages")).toBe(stats.retirements.pages);
    expect(totals("retractions")).toBe(stats.retractions);
    for (const count of [stats.refused, stats.moves.pages, stats.waits.effects])
      expect(count).toBeGreaterThan(0);
  });

  test("objects of a heap", async () => {
    const trace = heapTrace();
    const { heap } = await traceStats({ trace });
    const events = await eventsOf([trace]);
    const counters = new Counters(events, processOf(events, "heap"));
    expect(counters.last("heap objects")).toBe(heap!.live);
    expect(counters.highest("heap objects")).toBe(heap!.peakObjects);
    expect(counters.highest("heap requested_bytes")).toBe(heap!.peakRequestedBytes);
    expect(counters.last("total refused")).toBe(heap!.failed);
  });
});

test("requests lie on the lane of their row, from their row's grant to its return", async () => {
  const trace = await recorded(mixedSeeds(0, 5, 150));
  const events = await eventsOf([trace]);
  for (const { name, lines } of runsOf(trace)) {
    const pid = processOf(events, name);
    const lanes = new Map<number, string>(
      events
        .filter((event) => event.pid === pid && event.name === "thread_name")
        .map(({ tid, args }) => [tid, args.name]),
    );
    const slices = events
      .filter(({ ph, pid: own, args }) => ph === "X" && own === pid && args.ended !== undefined)
      .map(({ tid, name: req, ts, dur }) => `${lanes.get(tid)!}: ${req} ${ts}-${ts + dur}`);
    const open = new Map<string, [row: number, n: number]>();
    const expected: string[] = [];
    const last = lines.filter(({ kind }) => kind === "op").length;
    const close = (req: string, end: number): void => {
      const [row, n] = open.get(req)!;
      open.delete(req);
      expected.push(`row ${row}: ${req} ${n}-${end}`);
    };
    for (const { n, op, args, ok } of lines) {
      if (ok === undefined) continue;
      for (const [req, row] of Object.entries((ok.rows ?? {}) as Record<string, number>))
        open.set(req, [row, n]);
      if (["request.finish", "request.retract", "row.free"].includes(op)) close(args.req, n + 1);
    }
    for (const req of open.keys()) close(req, last);
    expect(slices.sort()).toEqual(expected.sort());
    expect(slices.length).toBeGreaterThan(2);
  }
});

test("forwards, copies, loads and transfers last from the operation that begins them to the one that ends them", async () => {
  const trace = await recorded(mixedSeeds(0, 10, 200));
  const events = await eventsOf([trace]);
  const begun = (name: string): number =>
    events.filter((event) => event.ph === "b" && event.name === name).length;
  const granted = (...ops: string[]): number =>
    readLines(trace).filter(({ op, ok }) => ops.includes(op) && ok !== undefined).length;
  expect(begun("forward")).toBe(granted("forward.launch"));
  expect(begun("load")).toBe(granted("host.load_reserve"));
  expect(begun("send")).toBe(granted("net.send"));
  expect(begun("receive")).toBe(granted("net.receive"));
  const backedUp = readLines(trace).filter(
    ({ op, ok, args }) => op === "request.retract" && ok !== undefined && args.backup !== undefined,
  ).length;
  const copies = granted("host.backup", "host.load_submit", "request.restore");
  expect(begun("copy")).toBe(copies + backedUp);
  for (const name of ["forward", "copy", "load", "send", "receive"])
    expect(begun(name)).toBeGreaterThan(0);
});

test("two sides: a process each, next to each other, on one axis", async () => {
  const left = await recorded(seeds(0, 3));
  const right = await recorded(seeds(1, 3), new FaultyAdapter(() => null));
  const events = await eventsOf([left, right]);
  const names = runsOf(left).map(({ name }) => name);
  const pids = names.map((name) => processOf(events, `${left}: ${name}`));
  for (const [index, name] of names.entries()) {
    if (index === 0) continue; // the second trace lacks it
    expect(processOf(events, `${right}: ${name}`)).toBe(pids[index]! + 1);
  }
  const slices = (pid: number): unknown[] =>
    events
      .filter(({ ph, pid: own, cat }) => ph === "X" && own === pid && cat === "op")
      .map(({ name, ts, dur }) => [name, ts, dur]);
  expect(slices(pids[1]! + 1)).toEqual(slices(pids[1]!));
});
