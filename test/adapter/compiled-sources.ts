// JavaScript of the sources as they stand, for worker threads and processes that a test starts: the built files where
// they are as new as the sources, else a compiled copy of what an entry imports.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../../src/", import.meta.url));
const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** A file of `src/adapter`, runnable. `remove` takes a copy away again. */
export interface CompiledEntry {
  readonly url: URL;
  remove(): void;
}

/** `name`: a file of `src/adapter` without its suffix. */
export async function compileEntry(name: string): Promise<CompiledEntry> {
  const files = importedFiles(join(source, "adapter", `${name}.ts`));
  if (files.every(isBuilt)) {
    return {
      url: pathToFileURL(built(join(source, "adapter", `${name}.ts`), dist)),
      remove: () => undefined,
    };
  }
  const { default: ts } = await import("typescript");
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-compiled-"));
  writeFileSync(join(folder, "package.json"), `{"type":"module"}\n`);
  for (const file of files) {
    const compilerOptions = {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    };
    const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), { compilerOptions });
    mkdirSync(dirname(built(file, folder)), { recursive: true });
    writeFileSync(built(file, folder), outputText);
  }
  return {
    url: pathToFileURL(join(folder, "adapter", `${name}.js`)),
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}

function built(file: string, root: string): string {
  return join(root, relative(source, file).replace(/\.ts$/, ".js"));
}

function isBuilt(file: string): boolean {
  const output = built(file, dist);
  return existsSync(output) && statSync(output).mtimeMs >= statSync(file).mtimeMs;
}

/** The file and everything that it imports at run time. */
function importedFiles(entry: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(entry)) return [];
  seen.add(entry);
  const imports = readFileSync(entry, "utf8").matchAll(
    /^(?:import|export)(?! type)[^;]*? from "(\.[^"]+)\.js";/gm,
  );
  for (const [, path] of imports) importedFiles(join(dirname(entry), `${path}.ts`), seen);
  return [...seen];
}
