// The published schemas: real schemas of draft 2020-12, and what the project writes follows them.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { inspect, inspectContext } from "../../src/trace/inspect.js";
import { TRACE_VERSION } from "../../src/trace/lines.js";
import { runWords } from "../../src/trace/run-words.js";
import { publishedSchemas } from "../../src/trace/schema-documents.js";
import { STATE } from "../../src/trace/state-spec.js";
import { describeUnless } from "../skip-aloud.js";
import { GOOD } from "./files.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const golden = fileURLToPath(new URL("../../../shared/golden/", import.meta.url));
const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

const ajv = new Ajv2020({
  strict: true,
  strictTuples: false,
  strictTypes: false,
  strictRequired: false,
  inlineRefs: false,
});
const schemas = new Map(
  Object.entries(publishedSchemas()).map(([file, schema]) => [file, ajv.compile(schema)]),
);
const schemaOf = (file: string): ValidateFunction => schemas.get(file)!;

test("every file of schemas/ is generated, and its $id tells the version", () => {
  expect(readdirSync(`${root}schemas`).sort()).toEqual([...schemas.keys()].sort());
  for (const file of schemas.keys()) {
    const { $id, $schema } = read(`${root}schemas/${file}`) as { $id: string; $schema: string };
    expect($id).toBe(
      `urn:unified-trace:schema:${TRACE_VERSION}:${file.replace(".schema.json", "")}`,
    );
    expect($schema).toBe("https://json-schema.org/draft/2020-12/schema");
  }
});

describe("the trace schema", () => {
  const isLine = schemaOf("trace.schema.json");
  test("takes good lines of every kind and no others", () => {
    for (const line of GOOD) expect(isLine(JSON.parse(line)), line).toBe(true);
    for (const wrong of [
      GOOD[2]!.replace('"op":"boot"', '"op":"boots"'),
      GOOD[5]!.replace('"kind":"end"', '"kind":"ends"'),
      "{}",
      "[]",
      "1",
    ]) {
      expect(isLine(JSON.parse(wrong)), wrong).toBe(false);
    }
  });

  describeUnless(
    existsSync(golden) ? undefined : "no golden traces beside the project",
    "golden traces",
    () => {
      test("follow it, their configurations that of configurations", () => {
        let lines = 0;
        for (const file of readdirSync(golden).filter((name) => name.endsWith(".jsonl"))) {
          for (const text of readFileSync(golden + file, "utf8")
            .trimEnd()
            .split("\n")) {
            const line = JSON.parse(text);
            expect(isLine(line), text).toBe(true);
            if (line.kind === "run") expect(schemaOf("config.schema.json")(line.config)).toBe(true);
            lines += 1;
          }
        }
        expect(lines).toBeGreaterThan(90);
      });
    },
  );
});

test("every scenario follows the scenario schema, the named configurations theirs", () => {
  const files = readdirSync(`${root}scenarios`).filter((name) => name.endsWith(".json"));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const name = file === "configs.json" ? "scenario-configs" : "scenario";
    const validate = schemaOf(`${name}.schema.json`);
    expect(
      validate(read(`${root}scenarios/${file}`)),
      `${file}: ${ajv.errorsText(validate.errors)}`,
    ).toBe(true);
  }
});

test("a scenario needs a configuration, and its operations the arguments of the table", () => {
  const validate = schemaOf("scenario.schema.json");
  const scenario = {
    name: "s",
    story: "Why.",
    configs: ["full+state/p1"],
    ops: [{ op: "row.alloc", args: { reqs: ["r1"] } }],
  };
  expect(validate(scenario)).toBe(true);
  const { configs: _configs, ...without } = scenario;
  expect(validate(without)).toBe(false);
  expect(validate({ ...scenario, ops: [{ op: "row.alloc", args: { reqs: ["q1"] } }] })).toBe(false);
  expect(validate({ ...scenario, ops: [{ op: "row.aloc", args: {} }] })).toBe(false);
});

test("the allocator's own state follows the state schema and its spec", () => {
  const config: DirectConfig = {
    page_size: 4,
    arena_bytes: 6656,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 160 },
      { name: "full", kind: "mha", unit_bytes: 64 },
    ],
    rows: 8,
    row_tokens: 128,
    overlap: true,
  };
  const storage = new KVStorage(config, { digestDepth: null });
  const operations: KvOperation[] = [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1"] } },
    { op: "state.alloc", args: { req: "r1", count: 2, purpose: "main" } },
    { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 18 }] } },
    {
      op: "forward.launch",
      args: { step: "f1", batch: [{ req: "r1", from: 0, to: 18 }], mode: "extend" },
    },
    { op: "forward.record", args: { step: "f1", writes: "known" } },
    { op: "tokens.free", args: { req: "r1", from: 4, to: 12, bands: "all" } },
    { op: "chain.flush", args: {} },
  ];
  const words = runWords("kv", config);
  for (const operation of operations) {
    expect(storage.apply(operation).err, operation.op).toBeUndefined();
    const state = JSON.parse(JSON.stringify(storage.state()));
    const validate = schemaOf("state.schema.json");
    expect(validate(state), ajv.errorsText(validate.errors)).toBe(true);
    expect(inspect(STATE, state, inspectContext(words))).toBeNull();
  }
});
