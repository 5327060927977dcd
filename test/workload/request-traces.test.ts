// Request traces: what is read, what is refused by line, and that the generated one has the shape of the real ones.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError, UsageError } from "../../src/base/errors.js";
import type { RequestTrace } from "../../src/workload/request-traces.js";
import { blockCount } from "../../src/workload/request-trace.js";
import { openRequestTrace } from "../../src/workload/request-traces.js";
import { describeUnless } from "../skip-aloud.js";
import { idsOf } from "./request-files.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ut-requests-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function row(timestamp: number, input: number, output: number, ids: readonly number[]): string {
  return JSON.stringify({ timestamp, input_length: input, output_length: output, hash_ids: ids });
}
const GOOD = [row(0, 1, 5, [7]), row(10, 512, 3, [7]), row(10, 513, 0, [7, 8]), row(25, 0, 4, [])];

async function failure(spec: string): Promise<InputError> {
  try {
    await openRequestTrace(spec);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  return expect.fail("nothing was thrown");
}

describe("mooncake", () => {
  test.each<[string, string, string | Uint8Array]>([
    ["lines", "a.jsonl", `${GOOD.join("\n")}\n`],
    ["without a last line end", "b.jsonl", GOOD.join("\n")],
    ["CRLF", "c.jsonl", `${GOOD.join("\r\n")}\r\n`],
    ["packed", "d.jsonl.gz", gzipSync(`${GOOD.join("\n")}\n`)],
  ])("%s", async (_, name, content) => {
    const trace = await openRequestTrace(`mooncake:${write(name, content)}`);
    expect(trace).toEqual<RequestTrace>({
      name: "mooncake",
      blockTokens: 512,
      seed: null,
      account: { rows: 4, dropped: {}, invented: {}, facts: {} },
      requests: [
        { arrival: 0, input: 1, output: 5, blocks: [[7, 1]] },
        { arrival: 10, input: 512, output: 3, blocks: [[7, 1]] },
        { arrival: 10, input: 513, output: 0, blocks: [[7, 2]] },
        { arrival: 25, input: 0, output: 4, blocks: [] },
      ],
    });
  });

  test("a limit stops reading: what comes after it is not looked at", async () => {
    const file = write("limit.jsonl", `${GOOD[0] ?? ""}\n${GOOD[1] ?? ""}\nnot JSON\n`);
    expect((await openRequestTrace(`mooncake:${file}`, 2)).requests.length).toBe(2);
    await expect(openRequestTrace(`mooncake:${file}`, 3)).rejects.toThrow(InputError);
  });

  test.each<[string, string, RegExp, number]>([
    [
      "too few ids",
      row(1, 513, 1, [1]),
      /1 hash_ids x 512 tokens do not cover input_length 513: expected 2/,
      2,
    ],
    ["too many ids", row(1, 512, 1, [1, 2]), /2 hash_ids x 512 .*expected 1/, 2],
    ["ids that are none", row(1, 512, 1, [1.5]), /hash_ids must be a list of whole numbers/, 2],
    [
      "no output",
      '{"timestamp":1,"input_length":1,"hash_ids":[1]}',
      /output_length .* found nothing/,
      2,
    ],
    ["a negative length", row(1, -1, 1, []), /input_length .* found -1/, 2],
    [
      "a length beyond 2^53",
      '{"timestamp":1,"input_length":9007199254740992,"output_length":1,"hash_ids":[]}',
      /input_length/,
      2,
    ],
    ["time that goes back", row(3, 1, 1, [1]), /timestamp 3 is before .*\(5\)/, 2],
    ["no object", "[1]", /a request is a JSON object/, 2],
    ["no JSON", "{", /^not JSON: "\{"$/, 2],
    ["an empty line", "", /^not JSON: an empty line$/, 2],
    ["NUL bytes", "\u0000\u0000", /^not JSON: nothing but NUL bytes$/, 2],
    ["CR alone", `${row(6, 1, 1, [1])}\r${row(7, 1, 1, [1])}`, /^not JSON: .*CR alone/, 2],
  ])("%s", async (_, line, message, number) => {
    const file = write("bad.jsonl", `${row(5, 1, 1, [1])}\n${line}\n${row(9, 1, 1, [1])}\n`);
    const error = await failure(`mooncake:${file}`);
    expect(error.message).toMatch(message);
    expect(error.place).toMatchObject({ file, line: number });
    expect(error.exitCode).toBe(3);
  });

  test("a file that is missing, empty, a folder or half unpacked", async () => {
    expect((await failure(`mooncake:${join(folder, "none.jsonl")}`)).message).toBe("no such file");
    expect((await failure(`mooncake:${write("empty.jsonl", "")}`)).message).toBe(
      "holds no request",
    );
    expect((await failure(`mooncake:${folder}`)).message).toMatch(/is a directory/);
    const packed = gzipSync(GOOD.join("\n"));
    const half = write("half.jsonl.gz", packed.subarray(0, packed.length - 12));
    expect((await failure(`mooncake:${half}`)).message).toBe("is not a whole gzip file");
    const plain = write("plain.jsonl.gz", GOOD.join("\n"));
    expect((await failure(`mooncake:${plain}`)).message).toBe("is no readable gzip file");
  });

  test("a line that is nested too deep, too long or no text is refused by line", async () => {
    const deep = (levels: number): string =>
      GOOD[0]!.replace('{"timestamp":0', `{"timestamp":${"[".repeat(levels)}${"]".repeat(levels)}`);
    for (const [levels, message] of [
      [63, /^timestamp must be a whole number/],
      [64, /^nested 65 levels deep, at most 64/],
      [200_000, /^nested 200001 levels deep/],
    ] as const) {
      const error = await failure(
        `mooncake:${write("deep.jsonl", `${GOOD[0]!}\n${deep(levels)}\n`)}`,
      );
      expect(error.message).toMatch(message);
      expect([error.code, error.place.line]).toEqual(["input_format", 2]);
    }
    const long = await failure(`mooncake:${write("long.jsonl", Buffer.alloc(65 * 2 ** 20, "x"))}`);
    expect([long.code, long.place.line]).toEqual(["input_format", 1]);
    expect(long.message).toMatch(/longer than 67108864 bytes/);
    const latin1 = await failure(
      `mooncake:${write("latin1.jsonl", Buffer.from([0x22, 0xe9, 0x22]))}`,
    );
    expect(latin1.message).toBe("not UTF-8");
  });

  test("an aborted signal ends reading with its reason", async () => {
    const file = write("whole.jsonl", GOOD.join("\n"));
    const reason = new Error("enough");
    const reading = openRequestTrace(`mooncake:${file}`, undefined, AbortSignal.abort(reason));
    await expect(reading).rejects.toBe(reason);
  });
});

test("an unknown kind, a missing file name, a bad seed are wrong usage", async () => {
  await expect(openRequestTrace("moncake:x")).rejects.toThrow(
    /unknown request trace "moncake"; did you mean "mooncake"/,
  );
  await expect(openRequestTrace("mooncake:")).rejects.toThrow(UsageError);
  await expect(openRequestTrace("synthetic:x")).rejects.toThrow(/seed of synthetic:SEED/);
});

describe("synthetic", () => {
  test("the same seed is the same trace, a shorter one its beginning", async () => {
    const long = await openRequestTrace("synthetic:4", 300);
    expect(await openRequestTrace("synthetic:4", 300)).toEqual(long);
    expect((await openRequestTrace("synthetic:4", 50)).requests).toEqual(
      long.requests.slice(0, 50),
    );
    expect((await openRequestTrace("synthetic:5", 300)).requests).not.toEqual(long.requests);
    expect((await openRequestTrace("synthetic")).requests.length).toBe(200);
  });

  test("conserves blocks, arrives in order, shares prefixes, has a long tail", async () => {
    for (const seed of [1, 2, 3]) {
      const { requests, blockTokens } = await openRequestTrace(`synthetic:${String(seed)}`, 1000);
      expect(requests.length).toBe(1000);
      let latest = 0;
      const seen = new Set<number>();
      let references = 0;
      let wrong = 0;
      for (const { arrival, input, output, blocks } of requests) {
        const isWhole =
          blockCount(blocks) === Math.ceil(input / blockTokens) && input > 0 && output > 0;
        if (!isWhole || arrival < latest) wrong += 1;
        latest = arrival;
        references += blockCount(blocks);
        for (const block of idsOf(blocks)) seen.add(block);
      }
      expect(wrong).toBe(0);
      const shared = 1 - seen.size / references;
      expect(shared).toBeGreaterThan(0.2);
      expect(shared).toBeLessThan(0.9);
      const inputs = requests.map(({ input }) => input).sort((left, right) => left - right);
      // the longest tenth lies far above the middle
      expect(inputs[900] ?? 0).toBeGreaterThan(3 * (inputs[500] ?? 0));
    }
  });
});

const REAL = fileURLToPath(
  new URL("../../../shared/data/mooncake/conversation_trace.jsonl.gz", import.meta.url),
);
describeUnless(
  existsSync(REAL) ? undefined : "no conversation_trace.jsonl.gz beside the project",
  "the conversation trace",
  () => {
    test("12,031 requests over 3,537 seconds, 288,500 block references, 182,790 distinct", async () => {
      const { requests } = await openRequestTrace(`mooncake:${REAL}`);
      expect(requests.length).toBe(12_031);
      const blocks = new Set<number>();
      let references = 0;
      for (const request of requests) {
        references += blockCount(request.blocks);
        for (const block of idsOf(request.blocks)) blocks.add(block);
      }
      expect(references).toBe(288_500);
      expect(blocks.size).toBe(182_790);
      expect(Math.max(...requests.map(({ input }) => input))).toBe(126_195);
      expect(Math.round((requests.at(-1)?.arrival ?? 0) / 1000)).toBe(3537);
    });
  },
);
