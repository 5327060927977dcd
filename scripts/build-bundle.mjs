// Bundles the built command line into a few scripts below dist/bundle: hundreds of small modules take twice as long to load.
// bin/unified-trace.js starts the bundle while no module it was made of has changed since, and the modules otherwise.
// Usage: node scripts/build-bundle.mjs     (the last part of npm run build; does nothing when nothing changed)
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const folder = join(dist, "bundle");
// named in src/base/built-script.ts
const workers = [
  "adapter/module-worker.js",
  "tools/parallel/worker.js",
  "tools/parallel/run-worker.js",
  "tools/stress/worker.js",
];
// what a comparison loads anyway: one script, because many small ones take longer
const compared = [
  "cli/commands/compare.js",
  "adapter/storage-adapter.js",
  "tools/examine/examine.js",
];
const starter = fileURLToPath(new URL("bundle-start.cjs", import.meta.url));
const stamp = join(folder, "modules.json"); // without it there is no bundle

/** One digest over the modules' texts; null where one of them is gone. */
function digestOf(paths) {
  const hash = createHash("sha256");
  // another way to bundle is another bundle, and what was compiled is of use to one Node only
  for (const path of [fileURLToPath(import.meta.url), starter]) hash.update(readFileSync(path));
  hash.update(process.version);
  for (const path of paths) {
    if (!existsSync(join(dist, path))) return null;
    hash.update(`${path}\n`).update(readFileSync(join(dist, path)));
  }
  return hash.digest("hex");
}

function isUpToDate() {
  try {
    const { digest, scripts } = JSON.parse(readFileSync(stamp, "utf8"));
    const isWhole = Object.entries(scripts).every(
      ([name, { bytes }]) => statSync(join(folder, name)).size === bytes,
    );
    return isWhole && digest === digestOf(modulesOf(scripts));
  } catch {
    return false; // none, or what an interrupted build left
  }
}

const modulesOf = (scripts) =>
  Object.values(scripts)
    .flatMap(({ modules }) => modules.map(([path]) => path))
    .sort();

/** The package that a module belongs to, by its folder; null for a module of our own. */
function packageOf(id) {
  const parts = id.split("/node_modules/");
  if (parts.length < 2) return null;
  const words = parts.at(-1).split("/");
  const name = words[0].startsWith("@") ? `${words[0]}/${words[1]}` : words[0];
  return `${parts.slice(0, -1).join("/node_modules/")}/node_modules/${name}`;
}

/** The licenses of the packages in the bundle, as they ask of copies. */
function licensesOf(packages) {
  return packages
    .map((place) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(place, "package.json"), "utf8"),
      );
      const file = ["LICENSE", "LICENSE.md", "license", "LICENCE", "license.md"]
        .map((each) => join(place, each))
        .find((each) => existsSync(each));
      const text = file === undefined ? license : readFileSync(file, "utf8").trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${"-".repeat(72)}\n\n`);
}

/** The modules that these load at once, themselves too, by their paths. */
function loadedBy(paths) {
  const found = new Set(paths.map((path) => join(dist, path)));
  for (const path of found) {
    const text = readFileSync(path, "utf8");
    for (const [, name] of text.matchAll(/^(?:import|export)\b[^;]*?"(\.{1,2}\/[^"]+)";/gm))
      found.add(join(dirname(path), name));
  }
  return found;
}

// Read byte by byte, which is quicker than UTF-8, and kept in half the memory.
const plain = (text) =>
  text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Keeps what V8 compiles on the way through a comparison; without it the command line is only slower. */
function keepCode() {
  const script = fileURLToPath(new URL("bundle-code.cjs", import.meta.url));
  spawnSync(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] });
}

const isOwn = (id) => id.startsWith(`${dist}/`) && packageOf(id) === null;
const nameOf = (worker) => worker.replaceAll("/", "-").replace(/\.js$/, "");

/** What each script was made of and which scripts it imports; which of them holds which command. */
function contentsOf(chunks) {
  const scripts = {};
  const commands = {};
  const names = new Set(chunks.map(({ fileName }) => fileName));
  for (const { fileName, imports, moduleIds } of chunks) {
    const paths = moduleIds.filter(isOwn).map((id) => relative(dist, id));
    const modules = paths.map((path) => [path, statSync(join(dist, path)).size]);
    scripts[fileName] = {
      bytes: statSync(join(folder, fileName)).size,
      imports: imports.filter((name) => names.has(name)),
      modules,
    };
    for (const path of paths) {
      const command = /^cli\/commands\/([^/]+)\.js$/.exec(path)?.[1];
      if (command !== undefined) commands[command] = fileName;
    }
  }
  return { commands, scripts };
}

/** Workers are started by Node alone: their start scripts hand over to the bundle's. */
function writeWorkers() {
  for (const path of workers) {
    const words = [`${nameOf(path)}-script.cjs`, path].map((word) => JSON.stringify(word));
    const text = `require("./start.cjs").worker(${words.join(", ")});\n`;
    writeFileSync(join(folder, `${nameOf(path)}.cjs`), text);
  }
}

/** False where a module was changed meanwhile. */
async function bundle(from) {
  const atStart = loadedBy(["cli/main.js"]);
  const together = new Set([...loadedBy(compared)].filter((path) => !atStart.has(path)));
  rmSync(stamp, { force: true });
  let ids = [];
  let made = [];
  await build({
    configFile: false,
    root,
    logLevel: "warn",
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: "node20",
      outDir: folder,
      emptyOutDir: true,
      minify: false, // stacks of --verbose stay readable, and it loads no faster
      rolldownOptions: {
        input: Object.fromEntries([
          ["main", join(dist, "cli", "main.js")],
          ...workers.map((path) => [nameOf(path), join(dist, path)]),
        ]),
        // a device is loaded apart from the allocator on purpose
        onwarn: (warning, warn) => {
          if (warning.code !== "INEFFECTIVE_DYNAMIC_IMPORT") warn(warning);
        },
        // scripts of this kind load faster than modules do
        output: {
          format: "cjs",
          comments: false,
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [{ name: "comparison", test: (id) => together.has(id) }],
          },
          entryFileNames: ({ name }) => (name === "main" ? "main.cjs" : `${name}-script.cjs`),
          chunkFileNames: "[name]-[hash].cjs",
        },
      },
    },
    plugins: [
      {
        name: "modules-of-the-bundle",
        generateBundle(_options, chunks) {
          ids = [...this.getModuleIds()];
          made = Object.values(chunks).filter(({ type }) => type === "chunk");
          for (const chunk of made) chunk.code = plain(chunk.code);
        },
      },
    ],
  });
  copyFileSync(starter, join(folder, "start.cjs"));
  writeWorkers();
  const packages = [...new Set(ids.map(packageOf))].filter((place) => place !== null).sort();
  writeFileSync(join(folder, "LICENSES.txt"), licensesOf(packages));
  const { commands, scripts } = contentsOf(made);
  const paths = modulesOf(scripts);
  const digest = digestOf(paths);
  // changed while it was read: what is in the bundle is not known
  if (paths.some((path) => statSync(join(dist, path)).mtimeMs > from.getTime())) return false;
  writeStamp({ digest, commands, scripts }, from);
  return true;
}

/** Written whole or not at all; as old as what it tells of. */
function writeStamp(contents, time) {
  writeFileSync(`${stamp}.new`, `${JSON.stringify(contents)}\n`);
  utimesSync(`${stamp}.new`, time, time);
  renameSync(`${stamp}.new`, stamp);
}

const TRIES = 5;
let from = new Date();
if (isUpToDate()) {
  utimesSync(stamp, from, from); // modules that were written again as they were
  if (!existsSync(join(folder, "code.json"))) keepCode();
} else {
  for (let left = TRIES; left > 0 && !(await bundle(from)); left--) from = new Date();
  if (existsSync(stamp)) keepCode();
}
