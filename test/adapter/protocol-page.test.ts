// The page about the protocol: its session is held again with this checkout, and its examples really run.
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { openProcessAdapter } from "../../src/adapter/process-adapter.js";
import { serveProtocol } from "../../src/adapter/serve.js";
import type { Operation } from "../../src/base/operations.js";
import { operationNames } from "../../src/trace/operation-table.js";
import { fixture, OPENING } from "./operations.js";

const page = readFileSync(new URL("../../docs/adapter-protocol.md", import.meta.url), "utf8");
const session = page.split("```text\n")[1]?.split("```")[0] ?? "";
const lines = session.trimEnd().split("\n");

interface Message {
  readonly hello?: { readonly ops: readonly string[] };
  readonly [key: string]: unknown;
}

/** A message without what the format leaves open: extension keys, and the versions that messages name. */
function comparable(line: string): Message {
  const text = line.replaceAll(/\d+\.\d+\.\d+/g, "VERSION");
  return JSON.parse(text, (key, value: unknown) => {
    return key.startsWith("x_") ? undefined : value;
  }) as Message;
}

test("the session of the page is what this checkout answers", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveProtocol({ input, output, makeImplementation: () => new InProcessAdapter() });
  for (const line of lines) if (line.startsWith("→ ")) input.write(`${line.slice(2)}\n`);
  const expected = lines
    .filter((line) => line.startsWith("← "))
    .map((line) => comparable(line.slice(2)));
  expect(lines.length).toBeGreaterThan(25);
  expect((await served).exitCode).toBe(3); // its last line is wrong on purpose
  output.end();
  const text = (await output.toArray()).join("");
  const answered = text.trimEnd().split("\n").map(comparable);
  // The page shows some of the operations that are answered.
  expect(answered[0]?.hello?.ops).toEqual(
    expect.arrayContaining([...(expected[0]?.hello?.ops ?? [])]),
  );
  const withoutOps = (message: Message): Message => ({
    ...message,
    hello: { ...message.hello, ops: [] },
  });
  expect(withoutOps(answered[0]!)).toEqual(withoutOps(expected[0]!));
  expect(answered.slice(1)).toEqual(expected.slice(1));
});

describe("the examples", () => {
  const example = (name: string): string[] => [
    process.execPath,
    fixture(`../../../examples/adapters/${name}`),
  ];

  test("minimal.mjs agrees with this checkout on the operations that it answers", async () => {
    const operations: Operation[] = [
      { op: "boot", args: {} },
      { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
      { op: "row.free", args: { req: "r2" } },
      { op: "row.free", args: { req: "r2" } },
      { op: "row.alloc", args: { reqs: ["r4", "r1"] } },
      { op: "row.alloc", args: { reqs: ["r4", "r5", "r6", "r7", "r8", "r9", "r10"] } },
      { op: "row.alloc", args: { reqs: ["r4", "r5", "r6", "r7", "r8", "r9"] } },
      { op: "row.alloc", args: { reqs: ["r10"] } },
    ];
    const minimal = await openProcessAdapter(example("minimal.mjs"));
    const self = new InProcessAdapter();
    try {
      for (const band of [
        { name: "window_8", kind: "mha" as const, window: 8, unit_bytes: 24 },
        { name: "mamba", kind: "state" as const, unit_bytes: 160 },
      ]) {
        const config = {
          ...OPENING.config,
          sub_pools: [{ name: "full", kind: "mha" as const, unit_bytes: 64 }, band],
        };
        await minimal.open({ ...OPENING, config });
        await self.open({ ...OPENING, config });
        const theirs = await minimal.apply(operations);
        expect(theirs).toEqual(await self.apply(operations));
        expect(theirs.answers.filter(({ err }) => err !== undefined).length).toBe(4);
        expect(await minimal.state()).toBeNull();
        expect((await minimal.close()).failure).toBeNull();
      }
    } finally {
      await minimal.dispose();
      await self.dispose();
    }
  });

  test("echo.mjs answers every operation there is", async () => {
    const echo = await openProcessAdapter(example("echo.mjs"));
    await echo.dispose();
    expect(echo.info.ops).toEqual([...operationNames("kv"), ...operationNames("heap")]);
  });
});
