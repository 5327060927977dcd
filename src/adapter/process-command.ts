// Runs a command to its end, with what it writes in a log file. No shell is involved, and nothing that it started
// outlives it.
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Environment } from "./checkout-git.js";
import { guardChild, signalChild, spawnsGroup } from "./process-children.js";

const TERMINATE_MS = 2000; // between SIGTERM and SIGKILL
const TAIL_BYTES = 16 * 1024;

/** @internal */
export interface CommandOptions {
  readonly folder: string; // that it runs in
  readonly log: string; // file that its output is added to
  readonly environment?: Environment;
  readonly signal?: AbortSignal;
}

/** How a command ended: `code` is null where a signal ended it or it could not be started. @internal */
export interface CommandEnd {
  readonly code: number | null;
  readonly problem: string | null; // in words, null: exit code 0
}

/** Runs the command. Throws the reason of `signal` when that ended it. @internal */
export async function runCommand(
  words: readonly string[],
  options: CommandOptions,
): Promise<CommandEnd> {
  const { folder, log, environment, signal } = options;
  signal?.throwIfAborted();
  const [program = "", ...args] = words;
  const file = openSync(log, "a");
  try {
    const end = await new Promise<CommandEnd>((resolve) => {
      const child = spawn(program, args, {
        cwd: folder,
        stdio: ["ignore", file, file],
        detached: spawnsGroup,
        windowsHide: true,
        ...(environment === undefined ? {} : { env: environment }),
      });
      guardChild(child);
      const stop = (): void => {
        signalChild(child, "SIGTERM");
        setTimeout(() => {
          signalChild(child, "SIGKILL");
        }, TERMINATE_MS).unref();
      };
      signal?.addEventListener("abort", stop, { once: true });
      child.once("error", (error: NodeJS.ErrnoException) => {
        if (child.pid !== undefined) return;
        const isMissing = error.code === "ENOENT";
        resolve({ code: null, problem: isMissing ? "is not installed here" : error.message });
      });
      child.once("exit", (code, killer) => {
        signal?.removeEventListener("abort", stop);
        signalChild(child, "SIGKILL"); // what it left behind
        resolve({ code, problem: problemOf(code, killer) });
      });
    });
    signal?.throwIfAborted();
    return end;
  } finally {
    closeSync(file);
  }
}

/** The last lines of a log. @internal */
export function logTail(log: string, linesMax: number): string {
  const bytes = Buffer.alloc(TAIL_BYTES);
  let count: number;
  try {
    const file = openSync(log, "r");
    const from = Math.max(0, fstatSync(file).size - TAIL_BYTES);
    count = readSync(file, bytes, 0, TAIL_BYTES, from);
    closeSync(file);
  } catch {
    return ""; // nothing was written
  }
  const lines = bytes.subarray(0, count).toString("utf8").trimEnd().split("\n");
  return lines.slice(-linesMax).join("\n");
}

function problemOf(code: number | null, killer: NodeJS.Signals | null): string | null {
  if (killer !== null) return `was killed by ${killer}`;
  return code === 0 ? null : `failed with exit code ${String(code)}`;
}
