// Writes what follows from the operation table: the JSON Schemas, the quick validators, the table of the docs.
// Usage: node scripts/generate-schemas.mjs [--check]     (after tsc; --check writes nothing and exits 1 when one is stale)
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import { _, Name } from "ajv/dist/compile/codegen/index.js";
import standalone from "ajv/dist/standalone/index.js";
import {
  EXTENTS_KEYWORD,
  HEX_KEYWORD,
  NAME_KEYWORD,
  SHARED_KEYWORD,
} from "../dist/trace/json-schema.js";
import { withOperationTable } from "../dist/trace/docs-table.js";
import { compiledSchemas, publishedSchemas } from "../dist/trace/schema-documents.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const isCheck = process.argv.includes("--check");

/** Writes a file only when its text differs, so that nothing downstream sees a change that is none. */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** One tight loop for a whole list of extents; the same rule as `isExtent` of src/trace/inspect.ts. */
function addExtentsKeyword(ajv) {
  ajv.addKeyword({
    keyword: EXTENTS_KEYWORD,
    schemaType: "number",
    code(cxt) {
      const { data, gen, schema } = cxt;
      const isGood = gen.let("isGood", _`Array.isArray(${data})`);
      gen.if(isGood, () => {
        gen.forRange("i", 0, _`${data}.length`, (i) => {
          const extent = gen.const("extent", _`${data}[${i}]`);
          gen.if(_`!Array.isArray(${extent}) || ${extent}.length !== 2`, () =>
            gen.assign(isGood, false).break(),
          );
          const first = gen.const("first", _`${extent}[0]`);
          const count = gen.const("count", _`${extent}[1]`);
          const range = _`${first} >= 0 && ${first} <= 4503599627370496`;
          const up = _`${count} > 0 && ${count} <= 4503599627370496`;
          const down = _`${count} < 0 && ${first} > 0 && ${first} + ${count} + 1 >= ${schema}`;
          const whole = _`Number.isInteger(${first}) && Number.isInteger(${count})`;
          gen.if(_`!(${whole} && ${range} && (${up} || ${down}))`, () =>
            gen.assign(isGood, false).break(),
          );
        });
      });
      cxt.pass(isGood);
    },
  });
}

/**
 * Texts of certain characters: a table look-up a character, which is several times faster than an expression.
 * `condition` says whether length and beginning are right.
 */
function addCharactersKeyword(ajv, keyword, schemaType, table, condition) {
  ajv.addKeyword({
    keyword,
    schemaType,
    code(cxt) {
      const { data, gen, schema } = cxt;
      const isIn = gen.scopeValue("func", { ref: table, code: table });
      const isGood = gen.let(
        "isGood",
        _`typeof ${data} === "string" && ${condition(data, schema)}`,
      );
      gen.if(isGood, () => {
        const all = gen.let("all", 1);
        gen.forRange("i", 0, _`${data}.length`, (i) =>
          // beyond the table: undefined, which becomes 0
          gen.code(_`${all} &= ${isIn}[${data}.charCodeAt(${i})]`),
        );
        gen.assign(isGood, _`${all} === 1`);
      });
      cxt.pass(isGood);
    },
  });
}

const HEX_CHARACTERS = _`Uint8Array.from({ length: 256 }, (_, c) => +/[0-9a-f]/.test(String.fromCharCode(c)))`;
const NAME_CHARACTERS = _`Uint8Array.from({ length: 256 }, (_, c) => +/[A-Za-z0-9_.:-]/.test(String.fromCharCode(c)))`;

function addTextKeywords(ajv) {
  addCharactersKeyword(
    ajv,
    HEX_KEYWORD,
    "number",
    HEX_CHARACTERS,
    (data, length) => _`${data}.length === ${length}`,
  );
  addCharactersKeyword(ajv, NAME_KEYWORD, "string", NAME_CHARACTERS, (data, letter) =>
    letter === "" ? _`${data} !== ""` : _`${data}.charCodeAt(0) === ${letter.charCodeAt(0)}`,
  );
}

/** A call of a shared validator, a function further down in the same module. */
function addSharedKeyword(ajv) {
  ajv.addKeyword({
    keyword: SHARED_KEYWORD,
    schemaType: "string",
    code(cxt) {
      const { data, gen, schema } = cxt;
      const shared = gen.scopeValue("func", { ref: schema, code: new Name(schema) });
      cxt.pass(_`${shared}(${data})`);
    },
  });
}

/**
 * Takes out what only messages need: error objects (empty inside a condition, never read) and the schemas' text. That
 * is two thirds of the code, and the time to load it.
 */
function slim(code) {
  const errorObject =
    /const (err\d+) = \{\};if\(vErrors === null\)\{vErrors = \[\1\];\}else \{vErrors\.push\(\1\);\}errors\+\+;/g;
  const schemaText = /const (schema\d+) = .*?;(?=const |function |$)/gs;
  const isUsed = (name, text) => new RegExp(`\\b${name}\\b`).test(text);
  const slimmer = code.replaceAll(errorObject, "errors++;");
  const withoutSchemas = slimmer.replaceAll(schemaText, "");
  return slimmer.replaceAll(schemaText, (text, name) => (isUsed(name, withoutSchemas) ? text : ""));
}

function generateValidators() {
  const ajv = new Ajv({
    code: { source: true, esm: true, lines: false, optimize: 2 },
    strict: true,
    strictTuples: false,
    strictTypes: false,
    strictRequired: false,
    messages: false,
    unicodeRegExp: false,
    inlineRefs: true,
  });
  addExtentsKeyword(ajv);
  addTextKeywords(ajv);
  addSharedKeyword(ajv);
  const schemas = compiledSchemas();
  const exported = {}; // name in the generated module → key of the schema
  const keyOf = new Map(); // text of a schema → its key: equal schemas share one validator
  const add = (schema) => {
    const text = JSON.stringify(schema);
    if (!keyOf.has(text)) {
      const key = `v${keyOf.size}`;
      keyOf.set(text, key);
      // inside a condition ajv builds no error objects; src/trace/inspect.ts explains what is wrong
      ajv.addSchema({ if: schema, then: true, else: false }, key);
      exported[key] = key;
    }
    return keyOf.get(text);
  };
  const table = (name) => {
    const rows = Object.entries(schemas[name]).map(
      ([operation, schema]) => `  ${JSON.stringify(operation)}: ${add(schema)},\n`,
    );
    return `export const ${name} = {\n${rows.join("")}};\n`;
  };
  const tables = Object.entries(schemas.shared).map(
    ([name, schema]) => `function ${name}(data) { return ${add(schema)}(data); }\n`,
  );
  tables.push(table("args"), table("ok"));
  for (const name of ["err", "fx", "digest"]) {
    tables.push(`export const ${name} = ${add(schemas[name])};\n`);
  }
  const code = standalone.default(ajv, exported).replace(/^"use strict";/, "");
  const inner = slim(code.replaceAll(/export const (\w+) = /g, "const $1 = "));
  if (/\brequire\(|\bimport\b/.test(inner))
    throw new Error("a generated validator needs a module at run time");
  return `// Generated by scripts/generate-schemas.mjs; do not edit.\n${inner}\n${tables.join("")}`;
}

/** Committed files by path below the root. */
function committedFiles() {
  const files = Object.entries(publishedSchemas()).map(([name, schema]) => [
    join("schemas", name),
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
  const page = join("docs", "trace-format.md");
  const text = existsSync(join(root, page)) ? readFileSync(join(root, page), "utf8") : null;
  if (text !== null) files.push([page, withOperationTable(text) ?? text]);
  return files;
}

/** Schemas whose document is gone. */
function dropOrphans(files) {
  const known = new Set(files.map(([path]) => path));
  for (const name of readdirSync(join(root, "schemas"))) {
    const path = join("schemas", name);
    if (name.endsWith(".schema.json") && !known.has(path)) rmSync(join(root, path));
  }
}

const files = committedFiles();
if (isCheck) {
  const stale = files
    .filter(([path, text]) => {
      const full = join(root, path);
      return !existsSync(full) || readFileSync(full, "utf8") !== text;
    })
    .map(([path]) => path);
  if (stale.length > 0) process.stderr.write(`stale: ${stale.join(", ")}; run npm run build\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of files) write(join(root, path), text);
  dropOrphans(files);
  const validators = generateValidators();
  for (const folder of ["src", "dist"]) {
    write(join(root, folder, "trace", "generated", "validators.js"), validators);
  }
}
