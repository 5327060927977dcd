// Bundles the built command line into a few scripts below dist/bundle: hundreds of small modules take twice as long to load.
// bin/unified-trace.js starts the bundle while no module it was made of has changed since, and the modules otherwise.
// Usage: node scripts/build-bundle.mjs     (the last part of npm run build; does nothing when nothing changed)
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
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
const stamp = join(folder, "modules.json"); // written last: without it there is no bundle

/** One digest over the modules' texts; null where one of them is gone. */
function digestOf(paths) {
  const hash = createHash("sha256");
  hash.update(readFileSync(fileURLToPath(import.meta.url))); // another way to bundle is another bundle
  for (const path of paths) {
    if (!existsSync(join(dist, path))) return null;
    hash.update(`${path}\n`).update(readFileSync(join(dist, path)));
  }
  return hash.digest("hex");
}

function isUpToDate() {
  if (!existsSync(stamp)) return false;
  const { digest, modules } = JSON.parse(readFileSync(stamp, "utf8"));
  return digest === digestOf(modules.map(([path]) => path));
}

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

async function bundle() {
  rmSync(stamp, { force: true });
  let ids = [];
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
          ...workers.map((path) => [
            path.replaceAll("/", "-").replace(/\.js$/, ""),
            join(dist, path),
          ]),
        ]),
        // scripts of this kind load faster than modules do
        output: {
          format: "cjs",
          entryFileNames: "[name].cjs",
          chunkFileNames: "[name]-[hash].cjs",
        },
      },
    },
    plugins: [
      {
        name: "modules-of-the-bundle",
        generateBundle() {
          ids = [...this.getModuleIds()];
        },
      },
    ],
  });
  const own = ids.filter((id) => id.startsWith(`${dist}/`) && packageOf(id) === null);
  const paths = own.map((id) => relative(dist, id)).sort();
  const packages = [...new Set(ids.map(packageOf))].filter((place) => place !== null).sort();
  writeFileSync(join(folder, "LICENSES.txt"), licensesOf(packages));
  const modules = paths.map((path) => [path, statSync(join(dist, path)).size]);
  writeFileSync(stamp, `${JSON.stringify({ digest: digestOf(paths), modules })}\n`);
}

if (isUpToDate()) {
  const now = new Date();
  utimesSync(stamp, now, now); // modules that were written again as they were
} else {
  await bundle();
}
