// The real request traces: what ../shared/data/README.md says of them, recounted.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { blockCount } from "../../src/workload/request-trace.js";
import { openRequestTrace } from "../../src/workload/request-traces.js";
import { describeUnless } from "../skip-aloud.js";
import { idsOf } from "./request-files.js";

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const AZURE = `${DATA}azure-llm/AzureLLMInferenceTrace_code.csv.gz`;
const SESSIONS = `${DATA}kv-cache-tester/sessions.jsonl.gz`;
const missing = (file: string): string | undefined =>
  existsSync(file) ? undefined : `${file.slice(DATA.length)} is not here`;

describeUnless(missing(AZURE), "the code trace of azure-llm", () => {
  test("8,819 requests from 18:17:03 to 19:14:19, context up to 7,437 tokens", async () => {
    const { requests, account, blockTokens } = await openRequestTrace(`azure-llm:${AZURE}`);
    expect(requests.length).toBe(8819);
    expect(account.rows).toBe(8819);
    // 18:17:03.9799600 to 19:14:19.9280160
    expect(requests.at(-1)?.arrival).toBe(3_435_948);
    expect(Math.max(...requests.map(({ input }) => input))).toBe(7437);
    expect(requests.some(({ blocks }) => blocks.length > 0) || blockTokens > 0).toBe(false);
    expect(Object.keys(account.invented)).toEqual(["prefix_identity"]);
  });
});

describeUnless(missing(SESSIONS), "the sessions of kv-cache-tester", () => {
  test("372 sessions, 9,921 requests, 14 sub-agents, 13.2 million ids, up to 878,882 tokens", async () => {
    const { requests, account, blockTokens } = await openRequestTrace(
      `kv-cache-tester:${SESSIONS}`,
    );
    expect([requests.length, account.rows, blockTokens]).toEqual([9921, 9921, 64]);
    expect(account.facts).toMatchObject({ sessions: 372, subagents: 14 });
    const ids = requests.reduce((sum, { blocks }) => sum + blockCount(blocks), 0);
    expect(Math.round(ids / 100_000)).toBe(132);
    expect(Math.max(...requests.map(({ input }) => input))).toBe(878_882);
    // one first turn for each conversation, and the rest is the other kinds
    const { first_turns: first = 0, ...facts } = account.facts;
    expect(first).toBe(372 + 14);
    const turns = Object.entries(facts).filter(([fact]) => fact.endsWith("_turns"));
    expect(turns.reduce((sum, [, count]) => sum + count, first)).toBe(9921);
    // ids of two sessions never meet: each session's first block is its own
    const firsts = new Set(requests.flatMap(({ blocks }) => idsOf(blocks.slice(0, 1)).slice(0, 1)));
    expect(firsts.size).toBeGreaterThanOrEqual(372);
  }, 60_000);
});
