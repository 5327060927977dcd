// Who works at a file of the cache: a small file that names its process and is touched while that process lives.
// It saves work and never guards it: what two processes make at once is made beside and renamed, so both get it whole.
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_MS = 5000;
const SILENT_MS = 60_000; // after which a holder counts as gone, whoever has its process id by now
const POLL_MS = 200;

/** A hold on something. @internal */
export interface Hold {
  /** Lets go. May be repeated. */
  release(): void;
}

/** Waiting for another process. @internal */
export interface Waiting {
  readonly signal?: AbortSignal;
  readonly onWait?: (pid: number) => void; // told once
}

/** Takes a hold that nobody has or whose process is gone; waits for a living one. @internal */
export async function holdAlone(path: string, { signal, onWait }: Waiting = {}): Promise<Hold> {
  mkdirSync(dirname(path), { recursive: true });
  let isTold = false;
  for (;;) {
    signal?.throwIfAborted();
    const hold = tryHold(path);
    if (hold !== null) return hold;
    if (isGone(path)) {
      takeAway(path);
      continue;
    }
    const pid = holderOf(path)?.pid;
    if (!isTold && pid !== undefined) onWait?.(pid);
    isTold = true;
    await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** A hold on something new, which nobody else knows of. @internal */
export function tryHold(path: string): Hold | null {
  try {
    const holder = { pid: process.pid, host: hostname() };
    writeFileSync(path, `${JSON.stringify(holder)}\n`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return null; // fs throws these
    throw error;
  }
  const timer = setInterval(() => {
    touch(path);
  }, TOUCH_MS);
  timer.unref();
  return {
    release: () => {
      clearInterval(timer);
      if (holderOf(path)?.pid === process.pid) rmSync(path, { force: true });
    },
  };
}

/** Whether the process that holds `path` is gone. A file that is not there, or says nothing yet, is not. @internal */
export function isGone(path: string): boolean {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (touched === undefined) return false;
  if (Date.now() - touched > SILENT_MS) return true;
  const holder = holderOf(path);
  return holder !== null && holder.host === hostname() && !isAlive(holder.pid);
}

/** Sets the time of last use of a file to now. @internal */
export function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // gone, or not ours: then nobody needs its time
  }
}

function holderOf(path: string): { readonly pid: number; readonly host: string } | null {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    return typeof pid === "number" && typeof host === "string" ? { pid, host } : null;
  } catch {
    return null; // released, or not written yet
  }
}

// Two that see the same dead holder: the slower one might take away the hold that the quicker one has made since, so
// what was taken is looked at, and put back where it is alive.
function takeAway(path: string): void {
  const aside = `${path}.${String(process.pid)}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // the other one was quicker
  }
  try {
    if (!isGone(aside)) linkSync(aside, path);
  } catch {
    // a third one holds it by now
  }
  rmSync(aside, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // kill throws these
  }
}
