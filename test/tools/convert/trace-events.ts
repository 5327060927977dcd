// A checker of trace-event files, written from the documentation of the format and from what the Perfetto importer counts
// as an error: fields by phase, slices of a thread that do not overlap, ends that meet beginnings, arrows that come from
// somewhere, numbers as counters.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** An event; what is not there fails the test. */
export type TraceEvent = ReturnType<typeof JSON.parse>;

const whole = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const id32 = { type: "integer", minimum: 1, maximum: 2 ** 32 - 1 };
const text = { type: "string", minLength: 1 };
const args = { type: "object", additionalProperties: { type: ["string", "integer"] } };

function phase(ph: string, properties: object, optional: object = {}): object {
  return {
    properties: { ph: { const: ph }, ...properties, ...optional },
    required: ["ph", ...Object.keys(properties)],
    additionalProperties: false,
  };
}

const process = { pid: id32, name: text };
const overlapping = { ...process, tid: { const: 0 }, cat: text, ts: whole, args };
const arrow = {
  ...process,
  ...{ tid: id32, cat: { const: "arrow" }, name: { const: "arrow" }, ts: whole },
  id: { ...whole, minimum: 1 },
};
const EVENT = {
  type: "object",
  oneOf: [
    phase("X", {
      ...process,
      tid: id32,
      cat: text,
      ts: whole,
      dur: { ...whole, minimum: 1 },
      args,
    }),
    phase("s", arrow),
    phase("t", arrow),
    phase("b", { ...overlapping, id: { type: "string", pattern: "^0x[0-9a-f]+$" } }),
    phase("e", { ...overlapping, id: { type: "string", pattern: "^0x[0-9a-f]+$" } }),
    phase("C", {
      ...process,
      tid: { const: 0 },
      ts: whole,
      args: { type: "object", minProperties: 1, additionalProperties: whole },
    }),
    phase("i", {
      ...{ pid: id32, name: text, tid: id32, cat: text, ts: whole },
      ...{ s: { const: "t" }, args: { const: {} } },
    }),
    phase(
      "M",
      {
        ...{ pid: id32, name: { enum: ["process_name", "process_sort_index"] } },
        args: { type: "object", minProperties: 1, maxProperties: 1 },
      },
      {},
    ),
    phase("M", {
      ...{ pid: id32, tid: id32, name: { enum: ["thread_name", "thread_sort_index"] } },
      args: { type: "object", minProperties: 1, maxProperties: 1 },
    }),
  ],
};
const FILE = {
  type: "object",
  required: ["traceEvents"],
  properties: {
    displayTimeUnit: { enum: ["ms", "ns"] },
    traceEvents: { type: "array", minItems: 1, items: EVENT },
    otherData: { type: "object", additionalProperties: { type: "string" } },
  },
  additionalProperties: false,
};
const isFile = new Ajv2020({ strict: false }).compile(FILE);

/** The events of a file that a viewer reads without a complaint. */
export function checkedEvents(file: string): TraceEvent[] {
  const document: unknown = JSON.parse(file);
  void isFile(document);
  expect(isFile.errors ?? []).toEqual([]);
  const { traceEvents: events } = document as { traceEvents: TraceEvent[] };
  checkThreads(events);
  checkOverlapping(events);
  checkArrows(events);
  return events;
}

const byTime = (left: TraceEvent, right: TraceEvent): number => left.ts - right.ts;

/** Slices of a thread follow each other; every thread and process has one name, every thread one process. */
function checkThreads(events: readonly TraceEvent[]): void {
  const processes = new Map<number, string>();
  const threads = new Map<number, number>();
  for (const { ph, pid, tid, name, args: given } of events) {
    if (ph === "M" && name === "process_name") {
      expect(processes.has(pid)).toBe(false);
      processes.set(pid, given.name);
    }
    if (ph === "M" && name === "thread_name") {
      expect(threads.has(tid)).toBe(false);
      threads.set(tid, pid);
    }
  }
  const ends = new Map<number, number>();
  for (const event of events.filter(({ ph }) => ph === "X").sort(byTime)) {
    const { pid, tid, ts, dur } = event;
    expect(threads.get(tid)).toBe(pid);
    expect(ts).toBeGreaterThanOrEqual(ends.get(tid) ?? 0);
    ends.set(tid, ts + dur);
  }
  for (const { pid } of events) expect(processes.has(pid)).toBe(true);
}

function checkOverlapping(events: readonly TraceEvent[]): void {
  const open = new Map<string, number>();
  const seen = new Set<string>();
  for (const { ph, pid, cat, name, id, ts } of events) {
    if (ph !== "b" && ph !== "e") continue;
    const key = `${pid} ${cat} ${name} ${id}`;
    if (ph === "b") {
      expect(seen.has(key)).toBe(false);
      seen.add(key);
      open.set(key, ts);
    } else {
      expect(ts).toBeGreaterThan(open.get(key) ?? Infinity);
      open.delete(key);
    }
  }
  expect([...open]).toEqual([]);
}

function checkArrows(events: readonly TraceEvent[]): void {
  const begun = new Set<number>();
  const slices = new Set(
    events.filter(({ ph }) => ph === "X").map(({ pid, tid, ts }) => `${pid} ${tid} ${ts}`),
  );
  for (const { ph, pid, tid, ts, id } of events.filter(({ cat }) => cat === "arrow").sort(byTime)) {
    expect(slices.has(`${pid} ${tid} ${ts}`)).toBe(true); // of a slice that begins there
    expect(begun.has(id)).toBe(ph === "t");
    begun.add(id);
  }
}

/** The value of each counter of a process at an operation: name and key to the last value up to it. */
export class Counters {
  readonly #values = new Map<string, [ts: number, value: number][]>();

  constructor(events: readonly TraceEvent[], pid: number) {
    for (const { ph, pid: own, name, ts, args: values } of events) {
      if (ph !== "C" || own !== pid) continue;
      for (const [key, value] of Object.entries(values as Record<string, number>)) {
        const list = this.#values.get(`${name} ${key}`) ?? [];
        this.#values.set(`${name} ${key}`, list);
        expect(ts).toBeGreaterThanOrEqual(list.at(-1)?.[0] ?? 0);
        list.push([ts, value]);
      }
    }
  }
  at(name: string, ts: number): number | undefined {
    return this.#values.get(name)?.findLast(([from]) => from <= ts)?.[1];
  }
  last(name: string): number | undefined {
    return this.at(name, Infinity);
  }
  highest(name: string): number {
    return Math.max(...(this.#values.get(name) ?? []).map(([, value]) => value));
  }
}
