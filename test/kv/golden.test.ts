// The golden traces, replayed line for line on the allocator: every ok, err and fx.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

const GOLDEN = new URL("../../../shared/golden/", import.meta.url);

function linesOf(name: string): Record<string, unknown>[] {
  const text = readFileSync(new URL(name, GOLDEN), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

for (const name of ["full-state.jsonl", "full-window.jsonl", "three-bands.jsonl"]) {
  test(`golden ${name}`, () => {
    if (!existsSync(new URL(name, GOLDEN))) {
      console.warn(`skipped: ${name} is not here`);
      return;
    }
    let storage: KVStorage | null = null;
    let operations = 0;
    for (const line of linesOf(name)) {
      if (line["kind"] === "run")
        storage = new KVStorage(line["config"] as DirectConfig, { digestDepth: "layout" });
      if (line["kind"] !== "op") continue;
      const { n, op, args, ok, err, fx } = line;
      const answer = storage!.apply({ op, args } as KvOperation);
      expect({ n, op, answer: JSON.parse(JSON.stringify(answer)) }).toEqual({
        n,
        op,
        answer: {
          ...(ok === undefined ? {} : { ok }),
          ...(err === undefined ? {} : { err }),
          ...(fx === undefined ? {} : { fx }),
        },
      });
      operations += 1;
    }
    expect(operations).toBeGreaterThan(20);
  });
}
