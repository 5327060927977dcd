// `checkout:PATH`: another checkout of this project, built, started as a process that serves the protocol.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CandidateError } from "../base/errors.js";
import type { Adapter } from "./adapter.js";
import { openProcessAdapter, type ProcessAdapterOptions } from "./process-adapter.js";

/** Starts the checkout at `path`. Throws `CandidateError` when there is none, or when it is not built. @public */
export async function openCheckoutAdapter(
  path: string,
  options: ProcessAdapterOptions = {},
): Promise<Adapter> {
  const { cwd, ...rest } = options;
  const root = resolve(cwd ?? ".", path);
  checkCheckout(path, root);
  const words = [process.execPath, join(root, "bin", "unified-trace.js"), "serve"];
  return openProcessAdapter(words, cwd === undefined ? rest : options, `checkout ${path}`);
}

/** Version in the `package.json` of the folder that holds `src` or `dist`. @internal */
export function readOwnVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}

function checkCheckout(path: string, root: string): void {
  const fail = (problem: string): never => {
    throw new CandidateError("candidate_start", `checkout ${path}: ${problem}`);
  };
  if (!existsSync(root)) fail("there is no such folder");
  if (!statSync(root).isDirectory()) fail("this is not a folder");
  if (!existsSync(join(root, "package.json")))
    fail("there is no package.json; expected the top folder of a checkout");
  if (!existsSync(join(root, "bin", "unified-trace.js"))) {
    fail("there is no bin/unified-trace.js; expected a checkout of unified-trace");
  }
  if (!existsSync(join(root, "dist", "cli", "main.js"))) {
    fail(`it is not built; run "npm ci" and "npm run build" there`);
  }
}
