// The worker script of `module:FILE` from the sources as they stand, so that its tests need no build.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const source = fileURLToPath(new URL("../../src/", import.meta.url));
const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
};

/** Compiles the rooms that the worker needs into a folder of their own; `remove` takes it away again. */
export function compileWorkerScript(): { script: URL; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-worker-"));
  writeFileSync(join(folder, "package.json"), `{"type":"module"}\n`);
  for (const room of ["base", "trace", "adapter"]) {
    mkdirSync(join(folder, room));
    for (const name of readdirSync(join(source, room))) {
      if (!name.endsWith(".ts") || name.endsWith(".d.ts")) continue;
      const text = readFileSync(join(source, room, name), "utf8");
      const { outputText } = ts.transpileModule(text, { compilerOptions });
      writeFileSync(join(folder, room, name.replace(/\.ts$/, ".js")), outputText);
    }
  }
  return {
    script: pathToFileURL(join(folder, "adapter", "module-worker.js")),
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}
