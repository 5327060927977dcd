// Builds dist: compiles src, drops outputs whose source is gone, generates schemas, validators and the report page's script,
// then bundles the command line.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const generatedSource = join(root, "src", "trace", "generated");
const generatedDist = join(dist, "trace", "generated");
const generatedPage = join(dist, "report", "html", "generated");
const bundle = join(dist, "bundle");

function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    process.exitCode = status ?? 1;
    return false;
  }
  return true;
}

/** A renamed source must not live on in dist, where a package or a worker would still find it. */
function dropOrphans() {
  if (!existsSync(dist)) return;
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stem = relative(dist, path).replace(/\.(d\.ts|js)(\.map)?$/, "");
    if (!entry.isFile() || stem === relative(dist, path)) continue;
    if ([generatedDist, generatedPage, bundle].some((made) => path.startsWith(made))) continue;
    if (!existsSync(join(root, "src", `${stem}.ts`))) rmSync(path);
  }
}

/** Declarations of the generated validators are written by hand; the compiler does not copy them. */
function copyDeclarations() {
  if (!existsSync(generatedSource)) return;
  mkdirSync(generatedDist, { recursive: true });
  for (const name of readdirSync(generatedSource)) {
    if (name.endsWith(".d.ts"))
      copyFileSync(join(generatedSource, name), join(generatedDist, name));
  }
}

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const generator = join(root, "scripts", "generate-schemas.mjs");
const pageBuilder = join(root, "scripts", "build-page.mjs");
const bundler = join(root, "scripts", "build-bundle.mjs");

rmSync(join(dist, "revision.json"), { force: true }); // of a package that was made before
if (runNode(tsc, "-p", "tsconfig.json")) {
  dropOrphans();
  copyDeclarations();
  if (existsSync(generator)) runNode(generator);
  if (existsSync(pageBuilder)) runNode(pageBuilder);
  if (existsSync(bundler)) runNode(bundler);
}
