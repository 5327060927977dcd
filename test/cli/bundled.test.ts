// What bin/unified-trace.js starts: the bundle only while it is made of the modules as they are.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, root } from "./command-line.js";

const home = join(folder, "home");
const at = (...parts: string[]): string => join(home, ...parts);
const OLD = new Date(2001, 1, 1);
const NEW = new Date(2002, 1, 1);

const says = (word: string): string => `main = () => { console.log("${word}"); return 0; };\n`;

/** A home with a bundle of two modules, all of one age. */
function build(): void {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(at("dist", "cli"), { recursive: true });
  mkdirSync(at("dist", "bundle"));
  cpSync(join(root, "bin", "unified-trace.js"), at("bin", "unified-trace.js"));
  writeFileSync(at("package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(at("dist", "cli", "main.js"), `export const ${says("modules")}`);
  writeFileSync(at("dist", "part.js"), "export {};\n");
  writeFileSync(at("dist", "bundle", "main.cjs"), `exports.${says("bundle")}`);
  const modules = [
    ["cli/main.js", Buffer.byteLength(`export const ${says("modules")}`)],
    ["part.js", 11],
  ];
  writeFileSync(at("dist", "bundle", "modules.json"), JSON.stringify({ digest: "", modules }));
  for (const path of ["cli/main.js", "part.js", "bundle/main.cjs", "bundle/modules.json"])
    utimesSync(at("dist", path), OLD, OLD);
}

function started(): readonly [code: number | null, words: string] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [at("bin", "unified-trace.js")], {
    encoding: "utf8",
  });
  return [status, (stdout + stderr).trim()];
}

test("the bundle, while its modules are as they were", () => {
  build();
  expect(started()).toEqual([0, "bundle"]);
});

test.each<readonly [string, () => void]>([
  [
    "a module was written since",
    () => {
      utimesSync(at("dist", "part.js"), NEW, NEW);
    },
  ],
  [
    "a module is another one, whatever its time",
    () => {
      writeFileSync(at("dist", "part.js"), "export const other = 1;\n");
      utimesSync(at("dist", "part.js"), OLD, OLD);
    },
  ],
  [
    "a module is gone",
    () => {
      rmSync(at("dist", "part.js"));
    },
  ],
  [
    "the bundle was not finished",
    () => {
      rmSync(at("dist", "bundle", "modules.json"));
    },
  ],
  [
    "its list is cut short",
    () => {
      writeFileSync(at("dist", "bundle", "modules.json"), '{"digest":"","mod');
    },
  ],
])("the modules where %s", (_name, change) => {
  build();
  change();
  expect(started()).toEqual([0, "modules"]);
});

test("nothing built: one line that says how, and exit 4", () => {
  build();
  rmSync(at("dist"), { recursive: true });
  expect(started()).toEqual([4, "unified-trace: not built: run npm ci && npm run build"]);
});
