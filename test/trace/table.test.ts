// The operation table: complete, consistent with the operation types, and the one source of schemas and docs.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EFFECT_KINDS } from "../../src/base/effects.js";
import type { KvOperationName } from "../../src/base/operations.js";
import { withOperationTable } from "../../src/trace/docs-table.js";
import type { AnySpec } from "../../src/trace/fields.js";
import { COUNT, fieldSpec, name, object, optional, word } from "../../src/trace/fields.js";
import { EFFECT } from "../../src/trace/line-specs.js";
import { operation } from "../../src/trace/operation-spec.js";
import type { KvDispatcher } from "../../src/trace/operation-table.js";
import { findOperation, operationNames } from "../../src/trace/operation-table.js";
import { publishedSchemas } from "../../src/trace/schema-documents.js";
import { EMPTY, REQ } from "../../src/trace/vocabulary.js";
import { SPECS } from "./values.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("entries", () => {
  test("stand under their own names, kv first", () => {
    expect(SPECS.map((spec) => spec.name)).toEqual([
      ...operationNames("kv"),
      ...operationNames("heap"),
    ]);
    for (const spec of SPECS) expect(findOperation(spec.name)).toBe(spec);
    expect(findOperation("boot.it")).toBeUndefined();
  });

  test("cover every operation of the format", () => {
    const format =
      "boot arena.resize row.alloc row.free state.alloc state.free state.copy state.donate tokens.extend " +
      "tokens.decode tokens.free group.begin group.end window.retire request.finish request.retract " +
      "request.restore forward.launch forward.record forward.barrier forward.process event.fire chain.flush " +
      "chain.relieve host.backup host.backup_done host.load_reserve host.load_bind host.load_submit " +
      "host.load_cancel host.load_done host.evict net.send net.receive net.publish net.stall net.end tree.match " +
      "tree.insert tree.lock tree.unlock tree.evict admit.pass ask.plan ask.fits ask.fits_after_frees " +
      "ask.prealloc ask.max_new_tokens ask.translate ask.estimates stages.install stages.digest " +
      "contents.discard check.idle";
    expect(operationNames("kv")).toEqual(format.split(" "));
    const heap = "heap.alloc heap.free heap.realloc heap.copy heap.release heap.coalesce pool.make";
    expect(operationNames("heap")).toEqual(heap.split(" "));
  });

  test("a take answers its step and may refuse in all four ways; a question has no effect", () => {
    const fieldsOf = (spec: AnySpec): string[] =>
      spec.type === "object"
        ? Object.keys(spec.fields)
        : spec.type === "banded"
          ? [...Object.keys(spec.before), ...Object.keys(spec.after)]
          : [];
    for (const spec of SPECS) {
      if (spec.isTake) {
        expect(fieldsOf(spec.ok), spec.name).toContain("step");
        expect(spec.refusals).toEqual(
          expect.arrayContaining(["refused_ids", "refused_state", "refused_capacity", "deadline"]),
        );
      }
      expect(spec.isQuestion, spec.name).toBe(
        spec.name.startsWith("ask.") || spec.name === "admit.pass",
      );
      if (spec.isQuestion) expect([spec.effects, spec.refusals]).toEqual([[], []]);
    }
    const takes = SPECS.filter((spec) => spec.isTake).map((spec) => spec.name);
    expect(takes).toEqual([
      "state.alloc",
      "tokens.extend",
      "tokens.decode",
      "request.restore",
      "chain.relieve",
      "host.load_reserve",
      "net.receive",
    ]);
  });

  test("every kind of effect has its form", () => {
    const variants = EFFECT.type === "tagged" ? Object.keys(EFFECT.variants) : [];
    expect(variants.sort()).toEqual([...EFFECT_KINDS].sort());
  });

  test("no optional field stands under a name that is also required, and every text has a rule", () => {
    for (const spec of SPECS) {
      if (spec.args.type !== "object") continue;
      for (const [key, field] of Object.entries(spec.args.fields)) {
        expect(fieldSpec(field).spec.type, `${spec.name}.${key}`).toBeTypeOf("string");
      }
    }
  });
});

describe("the table and the operation types cannot drift apart: tsc refuses", () => {
  test("a missing field, a wrong type, an optional field that should not be, one too many", () => {
    // @ts-expect-error req is missing
    operation("row.free", { doc: "", args: object({}), ok: EMPTY });
    // @ts-expect-error req is a text
    operation("row.free", { doc: "", args: object({ req: COUNT }), ok: EMPTY });
    // @ts-expect-error req must be there
    operation("row.free", { doc: "", args: object({ req: optional(REQ) }), ok: EMPTY });
    // @ts-expect-error no such field
    operation("row.free", { doc: "", args: object({ req: REQ, len: COUNT }), ok: EMPTY });
    const narrow = object({ step: name("forward"), writes: word("known") });
    // @ts-expect-error a word is missing
    operation("forward.record", { doc: "", args: narrow, ok: EMPTY });
    // @ts-expect-error backup may be absent
    operation("request.retract", { doc: "", args: object({ req: REQ, backup: REQ }), ok: EMPTY });
    expect(operation("row.free", { doc: "", args: object({ req: REQ }), ok: EMPTY }).name).toBe(
      "row.free",
    );
  });

  test("a dispatcher that lacks a kind, or has one too many", () => {
    const all = Object.fromEntries(operationNames("kv").map((key) => [key, 1]));
    const complete = all as unknown as KvDispatcher<number>;
    const { boot: _boot, ...incomplete } = complete;
    // @ts-expect-error boot is missing
    const wrong: KvDispatcher<number> = incomplete;
    // @ts-expect-error no such operation
    const more: KvOperationName = "boot.again";
    expect([Object.keys(wrong).length + 1, more]).toEqual([
      operationNames("kv").length,
      "boot.again",
    ]);
  });
});

describe("generated files are fresh", () => {
  test("schemas", () => {
    for (const [file, schema] of Object.entries(publishedSchemas())) {
      const text = readFileSync(`${root}schemas/${file}`, "utf8");
      expect(
        text === `${JSON.stringify(schema, null, 2)}\n`,
        `schemas/${file}: npm run build`,
      ).toBe(true);
    }
  });

  test("the table of docs/trace-format.md", () => {
    const page = readFileSync(`${root}docs/trace-format.md`, "utf8");
    expect(withOperationTable(page) === page, "docs/trace-format.md: npm run build").toBe(true);
  });

  test("validators need no module, and are little enough to load quickly", () => {
    const file = `${root}src/trace/generated/validators.js`;
    expect(existsSync(file), "npm run build").toBe(true);
    const code = readFileSync(file, "utf8");
    expect(code).not.toMatch(/\brequire\(|\bimport\b/);
    expect(code.length).toBeLessThan(256 * 1024);
  });
});
