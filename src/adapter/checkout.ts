// `checkout:PATH`: another checkout of this project, built, started as a process that serves the protocol.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CandidateError } from "../base/errors.js";
import type { Adapter } from "./adapter.js";
import { tellingLine } from "./log-lines.js";
import { openProcessAdapter, type ProcessAdapterOptions } from "./process-adapter.js";

const BUILD_IT = `run "npm ci" and "npm run build" there`;

/** Starts the checkout at `path`. Throws `CandidateError` when there is none, or when it is not built whole. @public */
export async function openCheckoutAdapter(
  path: string,
  options: ProcessAdapterOptions = {},
): Promise<Adapter> {
  const { cwd, ...rest } = options;
  const root = resolve(cwd ?? ".", path);
  checkCheckout(path, root);
  const words = [process.execPath, join(root, "bin", "unified-trace.js"), "serve"];
  try {
    return await openProcessAdapter(words, cwd === undefined ? rest : options, `checkout ${path}`);
  } catch (error) {
    throw incompleteness(path, error) ?? error;
  }
}

// A program whose own modules cannot be loaded lacks its packages or a part of its build.
function incompleteness(path: string, error: unknown): CandidateError | null {
  if (!(error instanceof CandidateError) || !(error.cause instanceof Error)) return null;
  const line = tellingLine(error.cause.message);
  if (!/ERR_MODULE_NOT_FOUND|ERR_UNSUPPORTED_DIR_IMPORT|does not provide an export/.test(line))
    return null;
  const message = `checkout ${path}: it cannot load its modules (${line.slice(0, 300)}); ${BUILD_IT}`;
  return new CandidateError("candidate_start", message, {}, error.cause);
}

/** Throws `CandidateError` where there is no built checkout. @internal */
export function checkCheckout(path: string, root: string): void {
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
    fail(`it is not built; ${BUILD_IT}`);
  }
}
