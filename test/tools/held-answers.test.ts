// A comparison that takes most answers as bytes finds what one finds that parses every line: verdict, place, fields, counts,
// and for a damaged trace the same error at the same line.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { InputError, UnifiedTraceError } from "../../src/base/errors.js";
import type { Answer } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareTraceOptions } from "../../src/tools/compare-options.js";
import { operationNames } from "../../src/trace/operation-table.js";
import { FaultyAdapter, freshPath, recorded, right, seeds } from "./faulty-adapter.js";
import type { Mistake } from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 4, 400));
const lines = readFileSync(trace, "utf8").trimEnd().split("\n");

/** All that a comparison tells, or how it failed. */
async function outcomeOf(
  path: string,
  start: () => Promise<Adapter>,
  options: Partial<CompareTraceOptions>,
  holdsAnswers: boolean,
): Promise<unknown> {
  const told: unknown[] = [];
  const reader = { ...options.reader, holdsAnswers };
  try {
    const result = await compareTrace({
      trace: path,
      candidate: "self",
      start,
      onLacking: (kinds) => told.push(kinds),
      ...options,
      reader,
    });
    return { told, result };
  } catch (error) {
    if (!(error instanceof UnifiedTraceError)) throw error;
    const { code, message } = error;
    return { told, code, message, place: error instanceof InputError ? error.place : null };
  }
}

type Change = (line: string, random: Prng) => string | string[];

/** What may happen to one line of a trace; most of it makes the line bad, some of it only strange. */
const CHANGES: Readonly<Record<string, Change>> = {
  digit: (line, random) => onDigit(line, random),
  byte: (line, random) => {
    const at = random.below(line.length);
    return line.slice(0, at) + String.fromCharCode(33 + random.below(94)) + line.slice(at + 1);
  },
  left_out: (line, random) => {
    const at = random.below(line.length);
    return line.slice(0, at) + line.slice(at + 1);
  },
  space: (line) => line.replace(',"ok":', ', "ok" : '),
  key_order: (line) => {
    const { kind, n, op, args, ...answer } = JSON.parse(line) as Record<string, unknown>;
    return JSON.stringify({ ...answer, args, op, n, kind });
  },
  twice: (line) => line.replace("{", '{"n":1,'),
  twice_behind: (line) => line.replace(/\}$/, ',"args":{}}'),
  extension: (line) => line.replace(/\}$/, ',"x_more":[{"a":1}]}'),
  unknown_key: (line) => line.replace(/\}$/, ',"more":1}'),
  remarks: (line) => line.replace(/\}$/, ',"site":"a.c:1","at_us":5}'),
  empty_effects: (line) => (line.includes('"fx"') ? line : line.replace(/\}$/, ',"fx":[]}')),
  no_digest: (line) => line.replace(/,"digest":\{[^}]*\}/, ""),
  other_digest: (line) => line.replace(/("digest":\{"[^"]+":")[0-9a-f]{4}/, "$10000"),
  not_ascii: (line) => line.replace(/"r(\d+)"/, '"r\u00e9$1"'),
  deep: (line) => line.replace(/\}$/, `,"x_deep":${"[".repeat(70)}${"]".repeat(70)}}`),
  cut: (line, random) => line.slice(0, 1 + random.below(line.length - 1)),
  gone: () => [],
  repeated: (line) => [line, line],
  call: (line) => {
    const { n, op, args } = JSON.parse(line) as Record<string, unknown>;
    return [JSON.stringify({ kind: "call", n, op, args }), line];
  },
  mark: (line) => [
    line,
    JSON.stringify({ kind: "mark", n: JSON.parse(line).n as number, text: "here" }),
  ],
  garbage: (line) => [line, "]["],
  carriage_return: (line) => `${line}\r`,
};

function onDigit(line: string, random: Prng): string {
  const places = [...line.matchAll(/\d/g)].map(({ index }) => index);
  const at = places[random.below(places.length)]!;
  return line.slice(0, at) + String(random.below(10)) + line.slice(at + 1);
}

const operations = lines.flatMap((line, index) => (line.startsWith('{"kind":"op"') ? [index] : []));

function damaged(random: Prng, changes: number): string {
  const changed: (string | string[])[] = [...lines];
  const kinds = Object.values(CHANGES);
  for (let i = 0; i < changes; i++) {
    const at = operations[random.below(operations.length)]!;
    const line = changed[at]!;
    if (typeof line === "string") changed[at] = kinds[random.below(kinds.length)]!(line, random);
  }
  const path = freshPath(random.below(4) === 0 ? "damaged.jsonl.gz" : "damaged.jsonl");
  const text = `${changed.flat().join("\n")}\n`;
  writeFileSync(path, path.endsWith(".gz") ? gzipSync(text) : text);
  return path;
}

const KINDS = operationNames("kv");

/** Candidates that are right, wrong now and then, break, or lack operations. */
function candidateOf(random: Prng): () => Promise<Adapter> {
  const n = random.below(420);
  const wrong = (answer: Answer): Answer => ({
    ...answer,
    fx: [["copy", "full", [[1, 1]], [[2, 1]]]] as unknown as Answer["fx"] & object,
  });
  const mistakes: readonly Mistake[] = [
    right,
    right,
    (index, _operation, answer) => (index === n ? wrong(answer) : null),
    (index) => (index === n ? { kind: "crash", message: "broke" } : null),
    (_index, _operation, { digest: _, ...rest }) => rest,
    (_index, _operation, answer) => ({ ...answer, message: "a remark" }),
  ];
  const mistake = mistakes[random.below(mistakes.length)]!;
  const lacking = KINDS[random.below(KINDS.length)];
  const info = random.below(5) === 0 ? { ops: KINDS.filter((op) => op !== lacking) } : {};
  return async () => new FaultyAdapter(mistake, null, info);
}

function optionsOf(random: Prng): Partial<CompareTraceOptions> {
  const one = random.below(8);
  if (one < 3) return {};
  if (one < 5) return { first: true };
  if (one === 5) return { skipUnsupported: true };
  if (one === 6) return { isDoubled: true, isBrief: true };
  return { shard: { index: 2, of: 2 } };
}

test("damaged traces, faulty candidates: the same verdict, place, fields, counts and errors", async () => {
  const seen = new Map<string, number>();
  for (let seed = 0; seed < 300; seed++) {
    const random = new Prng(seed);
    const path = damaged(random, random.below(4));
    const start = candidateOf(random);
    const options = optionsOf(random);
    const whole = await outcomeOf(path, start, options, false);
    expect(await outcomeOf(path, start, options, true), `seed ${seed}`).toEqual(whole);
    const { code, result } = whole as { code?: string; result?: { verdict: string } };
    const name = code ?? result?.verdict ?? "";
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  expect([...seen.keys()].sort()).toEqual(
    expect.arrayContaining([
      "divergent",
      "equal",
      "trace_not_json",
      "trace_schema",
      "trace_structure",
    ]),
  );
});

test.each(Object.entries(CHANGES))(
  "%s, at the first, a middle and the last operation",
  async (_name, change) => {
    for (const at of [operations[1]!, operations[200]!, operations[399]!, operations.at(-1)!]) {
      const changed: (string | string[])[] = [...lines];
      changed[at] = change(lines[at]!, new Prng(at));
      const path = freshPath("changed.jsonl");
      writeFileSync(path, `${changed.flat().join("\n")}\n`);
      const start = async (): Promise<Adapter> => new FaultyAdapter(right);
      for (const options of [{}, { first: true }]) {
        const whole = await outcomeOf(path, start, options, false);
        expect(await outcomeOf(path, start, options, true)).toEqual(whole);
      }
    }
  },
);
