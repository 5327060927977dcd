// Request traces of every format: laws that hold for all of them, then what each one reads and refuses.
import { expect, describe, test } from "vitest";
import { InputError, UsageError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import { runsOf } from "../../src/workload/request-trace.js";
import { openRequestTrace, REQUEST_FORMATS } from "../../src/workload/request-traces.js";
import { newJob } from "../../src/workload/serving-jobs.js";
import { keyOf } from "../../src/workload/serving-keys.js";
import { fileWriter, idsOf, readingFails } from "./request-files.js";

const write = fileWriter();

interface Sample {
  readonly lines: readonly string[]; // a good file
  readonly header: number; // lines before the first row
  readonly isOrdered: boolean; // two rows may not change places
  readonly columns?: string;
}

const session = (requests: readonly object[], more: object = {}): string =>
  JSON.stringify({ id: "s", block_size: 4, hash_id_scope: "local", requests, ...more });
const turn = (t: number, input: number, output: number, ids: readonly number[]): object => ({
  ...{ t, type: "n", in: input, out: output, hash_ids: ids },
});
const chat = (
  id: number,
  parent: number,
  timestamp: number,
  input: number,
  turnNumber: number,
  ids: readonly number[],
): string =>
  JSON.stringify({
    ...{ chat_id: id, parent_chat_id: parent, timestamp, input_length: input, output_length: 7 },
    ...{ type: "text", turn: turnNumber, hash_ids: ids },
  });

const SAMPLES: Readonly<Record<string, Sample>> = {
  mooncake: {
    lines: [
      '{"timestamp":0,"input_length":600,"output_length":5,"hash_ids":[1,2]}',
      '{"timestamp":7,"input_length":512,"output_length":6,"hash_ids":[1]}',
      '{"timestamp":9,"input_length":1025,"output_length":7,"hash_ids":[1,2,3]}',
    ],
    header: 0,
    isOrdered: true,
  },
  "azure-llm": {
    lines: [
      "TIMESTAMP,ContextTokens,GeneratedTokens",
      "2023-11-16 23:59:59.9999999,4808,10",
      "2023-11-17 00:00:00.0010000,3180,8",
      "2023-11-17 00:00:01.0010000,110,27",
    ],
    header: 1,
    isOrdered: true,
  },
  bailian: {
    lines: [
      chat(1, -1, 0.5, 33, 1, [5, 6, 7]),
      chat(2, 1, 1.25, 40, 2, [5, 6, 8]),
      chat(3, 2, 2, 64, 3, [5, 6, 8, 9]),
    ],
    header: 0,
    isOrdered: true,
  },
  csv: {
    lines: ["input,when,answer,ids,x", "17,1.5,3,1 2,a", '30,2.25,4,"[1, 3]",b', "16,3,5,1,c"],
    header: 1,
    isOrdered: true,
    columns: "arrival=when:s,input=input,output=answer,blocks=ids:16",
  },
  "kv-cache-tester": {
    lines: [
      session([turn(0, 9, 3, [1, 2]), turn(2.5, 13, 4, [1, 2, 3])]),
      session([turn(0, 8, 1, [1, 2])]),
    ],
    header: 0,
    isOrdered: false, // lines are sessions: their order is when they start
  },
};

function read(name: string, content: string | Uint8Array, limit?: number) {
  const file = write(`${name}.txt`, content);
  return openRequestTrace(`${name}:${file}`, limit, undefined, SAMPLES[name]?.columns);
}

test("every format has a sample", () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(REQUEST_FORMATS.map(({ name }) => name).sort());
});

describe.each(Object.entries(SAMPLES))("%s: laws", (name, sample) => {
  const whole = `${sample.lines.join("\n")}\n`;
  const rows = sample.lines.length - sample.header;

  test("arrivals ascend from 0, blocks cover no more than the input, rows add up", async () => {
    const { requests, blockTokens, account } = await read(name, whole);
    const dropped = Object.values(account.dropped).reduce((sum, count) => sum + count, 0);
    expect(account.rows).toBe(requests.length + dropped);
    let latest = 0;
    for (const { arrival, input, output, blocks } of requests) {
      expect(arrival).toBeGreaterThanOrEqual(latest);
      latest = arrival;
      expect(Number.isInteger(arrival)).toBe(true);
      expect(idsOf(blocks).length).toBeLessThanOrEqual(Math.ceil(input / Math.max(1, blockTokens)));
      expect(output).toBeGreaterThan(0);
    }
  });

  test("CR LF and a missing last line end change nothing; a limit gives the first ones", async () => {
    const trace = await read(name, whole);
    expect(await read(name, whole.replaceAll("\n", "\r\n"))).toEqual(trace);
    expect(await read(name, sample.lines.join("\n"))).toEqual(trace);
    expect((await read(name, whole, 2)).requests).toEqual(trace.requests.slice(0, 2));
  });

  test("cut anywhere: fewer requests, or one error with file and line", async () => {
    const all = await read(name, whole);
    for (let bytes = 0; bytes < whole.length - 1; bytes++) {
      const cut = whole.slice(0, bytes);
      try {
        const { requests } = await read(name, cut);
        // a number at the end of a line may lose digits, and nothing tells
        expect(requests.length).toBeLessThanOrEqual(all.requests.length);
        const lines = cut.split("\n").filter((line) => line !== "");
        expect(lines.length).toBeGreaterThan(sample.header);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        expect(error.exitCode).toBe(3);
        expect(error.describe()).not.toContain("\n");
        expect(error.place.file).toBeDefined();
        const isEmpty = error.message === "holds no request";
        if (!isEmpty) expect(error.place.line).toBe(cut.split("\n").length);
      }
    }
  });

  test("rows out of order are refused by line", async () => {
    if (!sample.isOrdered) return;
    for (let at = sample.header; at < sample.lines.length - 1; at++) {
      const lines = [...sample.lines];
      [lines[at], lines[at + 1]] = [lines[at + 1]!, lines[at]!];
      const file = write("swapped.txt", lines.join("\n"));
      const error = await readingFails(`${name}:${file}`, sample.columns);
      expect(error.place).toMatchObject({ file, line: at + 2 });
      expect(error.place.expected).toBe("rows in the order of their arrival");
    }
  });

  test("any line replaced by something else is refused by line", async () => {
    const wrong = ["", "[]", "1,2", "null", '{"a":1}', "\u0000\u0000", "a,b,c,d,e,f,g,h"];
    for (let at = 0; at < sample.lines.length; at++) {
      for (const text of wrong) {
        const lines = [...sample.lines];
        lines[at] = text;
        const file = write("wrong.txt", `${lines.join("\n")}\n`);
        const error = await readingFails(`${name}:${file}`, sample.columns);
        expect(error.place).toMatchObject({ file });
        expect(error.place.line, `${text} in line ${at + 1}`).toBeGreaterThanOrEqual(at + 1);
        expect(error.place.line).toBeLessThanOrEqual(at + 2);
        expect(error.message.length).toBeLessThan(300);
      }
    }
  });

  test(`${rows} rows, not one`, () => {
    expect(rows).toBeGreaterThan(1);
  });
});

describe("blocks as runs", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "two keys share a prefix exactly as far as their ids do (seed %i)",
    (seed) => {
      const prng = new Prng(seed, 3);
      const blockTokens = prng.between(1, 5);
      const draw = (): number[] => {
        const ids: number[] = [];
        for (let id = prng.below(3); ids.length < prng.between(1, 9);)
          ids.push((id = prng.chance(3, 4) ? id + 1 : prng.below(12)));
        return ids;
      };
      const jobOf = (ids: readonly number[], name: number) => {
        const input = Math.max(1, ids.length * blockTokens - prng.below(blockTokens));
        const blocks = runsOf(ids);
        expect(idsOf(blocks)).toEqual(ids);
        return newJob({ arrival: 0, input, output: 9, blocks }, name, 1, 0);
      };
      for (let round = 0; round < 200; round++) {
        const ids = [draw(), draw()];
        if (prng.chance(1, 2)) ids[1] = [...ids[0]!.slice(0, prng.between(1, 9)), ...ids[1]!];
        const jobs = ids.map((list, index) => jobOf(list, index));
        const tokens = jobs.map((job) => tokensOf(keyOf(job, blockTokens, job.input + 3)));
        const told = jobs.map((job, index) =>
          Array.from({ length: job.input + 3 }, (_, at) =>
            at < job.input
              ? `${String(ids[index]![Math.floor(at / blockTokens)])}/${String(at % blockTokens)}`
              : `${job.name}/${String(at)}`,
          ),
        );
        expect(common(tokens[0]!, tokens[1]!)).toBe(common(told[0]!, told[1]!));
      }
    },
  );
});

/** The identity of every token of a key: the name of its segment and the offset in it. */
function tokensOf(key: readonly (readonly [number | string, number])[]): string[] {
  return key.flatMap(([hash, count]) =>
    Array.from({ length: count }, (_, offset) => `${JSON.stringify(hash)}+${String(offset)}`),
  );
}

function common(left: readonly string[], right: readonly string[]): number {
  const end = left.findIndex((token, index) => token !== right[index]);
  return end < 0 ? left.length : end;
}

describe("azure-llm", () => {
  test("ticks of 100 ns from the first row on, no blocks, and it says so", async () => {
    const trace = await read("azure-llm", SAMPLES["azure-llm"]!.lines.join("\n"));
    // 0.0010001 s and 1.0010001 s behind the first
    expect(trace.requests).toEqual([
      { arrival: 0, input: 4808, output: 10, blocks: [] },
      { arrival: 1, input: 3180, output: 8, blocks: [] },
      { arrival: 1001, input: 110, output: 27, blocks: [] },
    ]);
    expect(trace.account.invented["prefix_identity"]).toMatch(/every request is fresh/);
  });

  test("columns in another order and one more; the newer spelling of time", async () => {
    const trace = await read(
      "azure-llm",
      "ContextTokens,x,TIMESTAMP,GeneratedTokens\n5,,2024-05-10 00:00:00.009930+00:00,6\n7,,2024-05-10T00:00:00.5Z,8\n",
    );
    expect(trace.requests.map(({ arrival, input, output }) => [arrival, input, output])).toEqual([
      [0, 5, 6],
      [490, 7, 8], // 500 - 9.93 ms
    ]);
  });

  test.each([
    ["2023-12-31 23:59:59", "2024-01-01 00:00:00", 1],
    ["2024-02-28 00:00:00", "2024-03-01 00:00:00", 2 * 86_400], // a leap year
    ["2023-02-28 00:00:00", "2023-03-01 00:00:00", 86_400],
    ["1999-12-31 00:00:00", "2001-01-01 00:00:00", 367 * 86_400], // 2000 is one too
  ])("from %s to %s are %i seconds", async (from, to, seconds) => {
    const head = "TIMESTAMP,ContextTokens,GeneratedTokens";
    const { requests } = await read("azure-llm", `${head}\n${from},1,1\n${to},1,1\n`);
    expect(requests[1]?.arrival).toBe(seconds * 1000);
  });

  test.each<[string, string, RegExp, string]>([
    ["a day that is none", "2023-02-31 00:00:00,1,1", /TIMESTAMP must be a time/, "/TIMESTAMP"],
    ["a time that is none", "2023-11-16 25:00:00,1,1", /TIMESTAMP must be a time/, "/TIMESTAMP"],
    ["another unit", "1700158623,1,1", /TIMESTAMP must be a time/, "/TIMESTAMP"],
    ["a fraction", "2023-11-16 18:17:03,1.5,1", /ContextTokens must be a whole/, "/ContextTokens"],
    ["below 0", "2023-11-16 18:17:03,1,-1", /GeneratedTokens must be a whole/, "/GeneratedTokens"],
    [
      "beyond 2^53",
      "2023-11-16 18:17:03,9007199254740992,1",
      /ContextTokens must be .* below 2\^53/,
      "/ContextTokens",
    ],
  ])("%s", async (_, line, message, path) => {
    const file = write("bad.csv", `TIMESTAMP,ContextTokens,GeneratedTokens\n${line}\n`);
    const error = await readingFails(`azure-llm:${file}`);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line: 2, path });
  });

  test("a header without a column names it and the nearest", async () => {
    const file = write("head.csv", "TIMESTAMP,ContextToken,GeneratedTokens\n");
    const error = await readingFails(`azure-llm:${file}`);
    expect(error.message).toMatch(/no column "ContextTokens" .*did you mean "ContextToken"/);
    expect(error.place).toMatchObject({ line: 1, path: "/ContextTokens" });
  });
});

describe("bailian", () => {
  test("seconds, 16 tokens a block, turns", async () => {
    const lines = [...SAMPLES["bailian"]!.lines, chat(9, 77, 3, 1, 4, [1])];
    const trace = await read("bailian", lines.join("\n"));
    expect(trace.blockTokens).toBe(16);
    expect(trace.requests.map(({ arrival }) => arrival)).toEqual([500, 1250, 2000, 3000]);
    expect(trace.requests[1]).toEqual({
      arrival: 1250,
      input: 40,
      output: 7,
      blocks: [
        [5, 2],
        [8, 1],
      ],
    });
    expect(trace.account.facts).toEqual({
      first_turns: 1,
      later_turns: 3,
      turns_whose_parent_is_not_in_the_file: 1,
      of_type_text: 4,
    });
  });

  test.each<[string, string, RegExp, string]>([
    [
      "ids of another size",
      chat(2, 1, 1, 40, 2, [1]),
      /1 hash_ids x 16 tokens do not cover/,
      "/hash_ids",
    ],
    ["a chat twice", chat(1, -1, 1, 16, 1, [1]), /chat_id 1 stands twice/, "/chat_id"],
    ["a turn that is not later", chat(2, 1, 1, 16, 1, [1]), /turn 1 goes on from turn 1/, "/turn"],
    [
      "a parent below -1",
      chat(2, -2, 1, 16, 2, [1]),
      /parent_chat_id must be -1 or/,
      "/parent_chat_id",
    ],
  ])("%s", async (_, line, message, path) => {
    const file = write("bad.jsonl", `${SAMPLES["bailian"]!.lines[0]!}\n${line}\n`);
    const error = await readingFails(`bailian:${file}`);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line: 2, path });
  });
});

describe("kv-cache-tester", () => {
  test("ids are of their session, the rest of an input has none, sessions start apart", async () => {
    const trace = await read("kv-cache-tester", SAMPLES["kv-cache-tester"]!.lines.join("\n"));
    const [first, second, third] = trace.requests;
    expect(trace.blockTokens).toBe(4);
    expect([first!.arrival, second!.arrival, third!.arrival]).toEqual([0, 2500, 10_000]);
    expect(idsOf(second!.blocks).slice(0, 2)).toEqual(idsOf(first!.blocks)); // the turn goes on
    const shared = new Set([...idsOf(first!.blocks), ...idsOf(second!.blocks)]);
    expect(idsOf(third!.blocks).some((id) => shared.has(id))).toBe(false);
    expect(trace.account.invented["session_start"]).toMatch(/10 s after one another/);
  });

  test("sub-agents run from their spawn on, share the session's ids, and are counted", async () => {
    const agent = {
      ...{ t: 3, type: "subagent", agent_id: "a" },
      requests: [turn(0, 4, 2, [9]), turn(1, 8, 2, [9, 10])],
    };
    const requests = [turn(0, 8, 1, [1, 2]), agent, turn(5, 12, 1, [1, 2, 9])];
    const totals = {
      ...{ parent_tokens: { input: 20, output: 2 }, subagent_tokens: { input: 12, output: 4 } },
      subagent_count: 1,
    };
    const trace = await read("kv-cache-tester", session(requests, { totals }));
    expect(trace.requests.map(({ arrival }) => arrival)).toEqual([0, 3000, 4000, 5000]);
    expect(idsOf(trace.requests[3]!.blocks)[2]).toBe(idsOf(trace.requests[1]!.blocks)[0]);
    expect(trace.account).toMatchObject({ rows: 4, facts: { sessions: 1, subagents: 1 } });
  });

  test("turns: extended, repeated, rewound, unrelated", async () => {
    const ids = [
      [1, 2],
      [1, 2, 3],
      [1, 2, 3],
      [1, 2],
      [1, 7],
      [8, 9],
    ];
    const requests = ids.map((list, index) => turn(index, list.length * 4, 1, list));
    const { account } = await read("kv-cache-tester", session(requests));
    expect(account.facts).toMatchObject({
      ...{ first_turns: 1, extended_turns: 1, repeated_turns: 1, rewound_turns: 2 },
      unrelated_turns: 1,
    });
  });

  test("a limit takes the first by arrival and counts the rest", async () => {
    const lines = SAMPLES["kv-cache-tester"]!.lines.join("\n");
    const { requests, account } = await read("kv-cache-tester", lines, 2);
    expect(requests.map(({ arrival }) => arrival)).toEqual([0, 2500]);
    expect(account).toMatchObject({ rows: 3, dropped: { beyond_the_limit: 1 } });
  });

  const good = turn(0, 8, 1, [1, 2]);
  test.each<[string, string, RegExp, string]>([
    [
      "a block size that does not fit",
      session([good], { block_size: 2 }),
      /do not cover/,
      "/requests/0/hash_ids",
    ],
    [
      "no block size",
      session([good], { block_size: 0 }),
      /block_size 0, expected at least 1/,
      "/block_size",
    ],
    [
      "an unknown scope",
      session([good], { hash_id_scope: "lokal" }),
      /hash_id_scope must be/,
      "/hash_id_scope",
    ],
    ["an unknown type", session([{ ...good, type: "m" }]), /unknown type "m"/, "/requests/0/type"],
    [
      "time that goes back",
      session([turn(2, 4, 1, [1]), turn(1, 4, 1, [1])]),
      /t 1 is before/,
      "/requests/1/t",
    ],
    [
      "requests that are no list",
      session([good], { requests: {} }),
      /requests must be a list/,
      "/requests",
    ],
    [
      "sums that do not agree",
      session([good], { totals: { parent_tokens: { input: 9, output: 1 } } }),
      /\/totals\/parent_tokens\/input says 9, the requests sum up to 8/,
      "/totals/parent_tokens/input",
    ],
    [
      "agents that are missing",
      session([good], { totals: { subagent_count: 1 } }),
      /\/totals\/subagent_count says 1, the requests sum up to 0/,
      "/totals/subagent_count",
    ],
    [
      "a wrong field of an agent's request",
      session([{ t: 0, type: "subagent", requests: [{ ...good, out: "x" }] }]),
      /out must be a whole number/,
      "/requests/0/requests/0/out",
    ],
    [
      "ids that pass 2^53 once each session has its own",
      `${session([turn(0, 4, 1, [2 ** 53 - 2])])}\n${session([turn(0, 4, 1, [2])])}`,
      /ids below 2\^53/,
      "/requests/0/hash_ids",
    ],
    [
      "block sizes that differ",
      `${session([good])}\n${session([turn(0, 8, 1, [1])], { block_size: 8 })}`,
      /block_size 8, expected 4 as above/,
      "/block_size",
    ],
    [
      "scopes that differ",
      `${session([good])}\n${session([good], { hash_id_scope: "global" })}`,
      /ids of two scopes/,
      "/hash_id_scope",
    ],
  ])("%s", async (_, lines, message, path) => {
    const file = write("bad.jsonl", lines);
    const error = await readingFails(`kv-cache-tester:${file}`);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line: lines.split("\n").length, path });
  });
});

describe("csv", () => {
  test("a map names columns and units; blocks are read in any of the usual forms", async () => {
    const trace = await read("csv", SAMPLES["csv"]!.lines.join("\n"));
    expect(trace.requests).toEqual([
      { arrival: 0, input: 17, output: 3, blocks: [[1, 2]] },
      ...[
        {
          arrival: 750,
          input: 30,
          output: 4,
          blocks: [
            [1, 1],
            [3, 1],
          ],
        },
      ],
      { arrival: 1500, input: 16, output: 5, blocks: [[1, 1]] },
    ]);
    expect(trace.account.invented).toEqual({});
  });

  test.each([
    ["s", "0.001002", 1],
    ["ms", "1.9", 1],
    ["us", "2999", 2],
    ["ns", "2999999", 2],
  ])("a time in %s", async (unit, time, arrival) => {
    const file = write("t.csv", `t,i,o\n0,1,1\n${time},1,1\n`);
    const trace = await openRequestTrace(
      `csv:${file}`,
      ...[undefined, undefined, `arrival=t:${unit},input=i,output=o`],
    );
    expect(trace.requests[1]?.arrival).toBe(arrival);
    expect(trace.account.invented["prefix_identity"]).toBeDefined();
  });

  test("without a map: arrival in ms, input, output", async () => {
    const file = write("plain.csv", "arrival,input,output\n5,1,2\n9,3,4\n");
    const { requests } = await openRequestTrace(`csv:${file}`);
    expect(requests.map(({ arrival, input }) => [arrival, input])).toEqual([
      [0, 1],
      [4, 3],
    ]);
  });

  test.each([
    ["arival=t:s,input=i,output=o", /unknown column "arival"; did you mean "arrival"/],
    ["arrival=t:h,input=i,output=o", /arrival needs its unit/],
    ["arrival=t,input=i,output=o", /names no unit/],
    ["arrival=t:s,input=i", /output is missing/],
    ["arrival=t:s,input=i,output=", /output names no column/],
    ["arrival=t:s,input=i,input=j,output=o", /input stands twice/],
    ["arrival=t:s,input=i,output=o,blocks=b", /names no size/],
    ["arrival=t:s,input=i,output=o,blocks=b:0", /blocks needs the tokens of a block/],
  ])("the map %s is wrong usage", async (columns, message) => {
    const opened = openRequestTrace("csv:none.csv", undefined, undefined, columns);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toBeInstanceOf(UsageError);
  });

  test("a map for another format is wrong usage", async () => {
    const opened = openRequestTrace("mooncake:x", undefined, undefined, "arrival=t:s");
    await expect(opened).rejects.toThrow(/--columns goes with csv/);
  });

  test.each<[string, string, RegExp, string]>([
    [
      "a block size that does not cover",
      "17,1,3,1,a",
      /1 ids x 16 tokens do not cover input 17/,
      "/ids",
    ],
    ["ids that are none", "1,1,3,a,a", /ids must be whole numbers/, "/ids"],
    ["a time below 0", "16,-1,3,1,a", /when must be a time/, "/when"],
  ])("%s", async (_, line, message, path) => {
    const file = write("bad.csv", `${SAMPLES["csv"]!.lines[0]!}\n${line}\n`);
    const error = await readingFails(`csv:${file}`, SAMPLES["csv"]!.columns);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line: 2, path });
  });

  test("quotes", async () => {
    const file = write("q.csv", 'a,"in,put","o""ut"\n"1","2",3\n');
    const columns = 'arrival=a:s,input=in,put,output=o"ut';
    await expect(openRequestTrace(`csv:${file}`, undefined, undefined, columns)).rejects.toThrow(
      UsageError, // a name with a comma cannot be in a map
    );
    const open = await readingFails(`csv:${write("open.csv", 'arrival,input,output\n"1,2,3\n')}`);
    expect(open.message).toMatch(/a quote that does not enclose a cell/);
    expect(open.place.line).toBe(2);
  });
});
