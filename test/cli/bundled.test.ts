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

const says = (word: string): string =>
  `main = async (argv) => { console.log("${word}"); LATER; return 0; };\n`;
// a script of the bundle that is loaded only when its command runs
const LATER = 'if (argv[2] === "later") console.log(require("./later.cjs").word)';
const asModule = `export const ${says("modules").replace("LATER", "")}`;

const MODULES: Readonly<Record<string, string>> = {
  "cli/main.js": asModule,
  "part.js": "export {};\n",
  "cli/commands/known.js": "export {};\n",
  "later.js": "export {};\n",
  "work.js": 'console.log("worker module");\n',
};
const sized = (...paths: string[]): [string, number][] =>
  paths.map((path) => [path, Buffer.byteLength(MODULES[path] ?? "")]);

/** A home with a bundle of a few modules, all of one age. */
function build(): void {
  rmSync(home, { recursive: true, force: true });
  for (const path of ["dist/cli/commands", "dist/bundle", "bin"])
    mkdirSync(at(path), { recursive: true });
  for (const name of ["unified-trace.js", "package.json"])
    cpSync(join(root, "bin", name), at("bin", name));
  writeFileSync(at("package.json"), JSON.stringify({ type: "module" }));
  for (const [path, text] of Object.entries(MODULES)) writeFileSync(at("dist", path), text);
  const written: Record<string, { imports: string[]; modules: [string, number][]; text: string }> =
    {
      "main.cjs": {
        imports: ["part.cjs"],
        modules: sized("cli/main.js"),
        text: `require("./part.cjs"); exports.${says("bundle").replace("LATER", LATER)}`,
      },
      "part.cjs": { imports: [], modules: sized("part.js"), text: "" },
      "known.cjs": { imports: [], modules: sized("cli/commands/known.js"), text: "" },
      "later.cjs": {
        imports: [],
        modules: sized("later.js"),
        text: 'exports.word = "later \\u2192";',
      },
      "work-script.cjs": {
        imports: [],
        modules: sized("work.js"),
        text: 'console.log("worker script");',
      },
    };
  const scripts: Record<string, unknown> = {};
  for (const [name, { text, ...rest }] of Object.entries(written)) {
    scripts[name] = { bytes: Buffer.byteLength(text), ...rest };
    writeFileSync(at("dist/bundle", name), text);
  }
  cpSync(join(root, "scripts/bundle-start.cjs"), at("dist/bundle/start.cjs"));
  writeFileSync(
    at("dist/bundle/work.cjs"),
    'require("./start.cjs").worker("work-script.cjs", "work.js");',
  );
  const commands = { known: "known.cjs" };
  writeFileSync(at("dist/bundle/modules.json"), JSON.stringify({ digest: "", commands, scripts }));
  for (const path of [...Object.keys(MODULES), "bundle/modules.json"])
    utimesSync(at("dist", path), OLD, OLD);
}

function started(...words: string[]): readonly [code: number | null, words: string] {
  const script = at("bin", "unified-trace.js");
  return ran([script, ...words]);
}

function ran(words: readonly string[]): readonly [code: number | null, words: string] {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  return [status, (stdout + stderr).trim()];
}

test("the bundle, while its modules are as they were", () => {
  build();
  expect(started()).toEqual([0, "bundle"]);
  expect(started("known")).toEqual([0, "bundle"]);
  expect(started("later")).toEqual([0, "bundle\nlater \u2192"]);
  expect(started("constructor")).toEqual([0, "bundle"]); // no command, whatever objects inherit
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
    "a script of it is gone",
    () => {
      rmSync(at("dist", "bundle", "part.cjs"));
    },
  ],
  [
    "a script of it is cut short",
    () => {
      writeFileSync(at("dist", "bundle", "main.cjs"), "exports.");
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

test("in a package, whose files have the times of their unpacking", () => {
  build();
  writeFileSync(at("dist", "revision.json"), "{}");
  utimesSync(at("dist", "part.js"), NEW, NEW);
  expect(started()).toEqual([0, "bundle"]);
  writeFileSync(at("dist", "part.js"), "export const other = 1;\n");
  expect(started()).toEqual([0, "modules"]);
});

test("a module of one command counts for that command alone", () => {
  build();
  utimesSync(at("dist", "cli/commands/known.js"), NEW, NEW);
  expect(started()).toEqual([0, "bundle"]);
  expect(started("known")).toEqual([0, "modules"]);
});

test("a script that turns out to be old under way: one line that says what to do, and exit 4", () => {
  build();
  utimesSync(at("dist", "later.js"), NEW, NEW);
  const line = "unified-trace: dist was changed after it was bundled: run npm run build";
  expect(started("later")).toEqual([4, `bundle\n${line}`]);
});

test("a worker: its script, or its module where any module is newer", () => {
  build();
  expect(ran([at("dist/bundle/work.cjs")])).toEqual([0, "worker script"]);
  for (const path of ["work.js", "later.js"]) {
    build();
    utimesSync(at("dist", path), NEW, NEW);
    expect(ran([at("dist/bundle/work.cjs")])).toEqual([0, "worker module"]);
  }
});

test("a script that is gone under way ends the command with the same line", () => {
  build();
  rmSync(at("dist/bundle/later.cjs"));
  const line = "unified-trace: dist was changed after it was bundled: run npm run build";
  expect(started("later")).toEqual([4, `bundle\n${line}`]);
});

test("what was compiled for another script, or cut short, does no harm", () => {
  build();
  writeFileSync(at("dist/bundle/code.bin"), Buffer.alloc(64, 7));
  const places = { "main.cjs": [0, 40], "part.cjs": [30, 4000], "known.cjs": 5 };
  for (const bytes of [64, 65]) {
    writeFileSync(at("dist/bundle/code.json"), JSON.stringify({ bytes, places }));
    expect(started("known")).toEqual([0, "bundle"]);
  }
  for (const text of ['{"bytes":64,"places":{"main.cjs":[0,', "{}", "null"]) {
    writeFileSync(at("dist/bundle/code.json"), text);
    expect(started()).toEqual([0, "bundle"]);
  }
});

test("nothing built: one line that says how, and exit 4", () => {
  build();
  rmSync(at("dist"), { recursive: true });
  expect(started()).toEqual([4, "unified-trace: not built: run npm ci && npm run build"]);
});
