// Every child process that lives, so that none outlives this process: they are killed at exit and at a signal that
// ends it. A child leads its own process group where there are groups, so that what it started goes with it.
import type { ChildProcess } from "node:child_process";

const living = new Set<ChildProcess>();
let isEnding = false;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const hasGroups = process.platform !== "win32";

/** Whether a child should be spawned `detached`, as the leader of a process group. @internal */
export const spawnsGroup: boolean = hasGroups;

/** True once a signal that ends this process came in: no new child is started then. @internal */
export function isProcessEnding(): boolean {
  return isEnding;
}

/** Takes a child into care until it exits. @internal */
export function guardChild(child: ChildProcess): void {
  if (living.size === 0) {
    process.on("exit", killAll);
    // First in line: a `once` listener of others is gone from the count after its turn.
    for (const signal of SIGNALS) process.prependListener(signal, passOn);
  }
  living.add(child);
  child.once("exit", () => {
    release(child);
  });
  child.once("error", () => {
    if (child.pid === undefined) release(child);
  });
}

/** Sends a signal to a child and to all that it started. Does nothing when it is gone. @internal */
export function signalChild(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // gone already
  }
}

function release(child: ChildProcess): void {
  if (!living.delete(child) || living.size > 0) return;
  process.off("exit", killAll);
  for (const signal of SIGNALS) process.off(signal, passOn);
}

function killAll(): void {
  for (const child of living) signalChild(child, "SIGKILL");
}

// A listener takes the signal's own effect away. Where nobody else listens it is given back.
function passOn(signal: NodeJS.Signals): void {
  isEnding = true;
  killAll();
  if (process.listenerCount(signal) > 1) return;
  process.off(signal, passOn);
  process.kill(process.pid, signal);
}
