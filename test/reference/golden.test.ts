// The golden traces, replayed line for line on the second allocator: every ok, err and fx.
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Reference } from "../../src/reference/reference.js";
import { describeUnless } from "../skip-aloud.js";

const GOLDEN = new URL("../../../shared/golden/", import.meta.url);
const missing = existsSync(GOLDEN) ? undefined : `no folder ${GOLDEN.pathname}`;

describeUnless(missing, "golden traces on the reference", () => {
  for (const name of ["full-state.jsonl", "full-window.jsonl", "three-bands.jsonl"]) {
    it(name, () => {
      let run: Reference | null = null;
      let operations = 0;
      for (const text of readFileSync(new URL(name, GOLDEN), "utf8").trimEnd().split("\n")) {
        const { kind, config, n, op, args, ...answer } = JSON.parse(text);
        if (kind === "run") run = new Reference(config, null);
        if (kind !== "op") continue;
        const got = run!.apply({ op, args });
        expect({ n, op, answer: JSON.parse(JSON.stringify(got)) }).toEqual({ n, op, answer });
        operations += 1;
      }
      expect(operations).toBeGreaterThan(20);
    });
  }
});
