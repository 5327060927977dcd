// Starts children for a test file and sees to it that none is left.
import { execFileSync } from "node:child_process";
import { afterAll, afterEach, expect } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import {
  openProcessAdapter,
  type ProcessAdapterOptions,
} from "../../src/adapter/process-adapter.js";

const started: Adapter[] = [];

/** To be called once by a test file: disposes of what each test started, and looks for children left at the end. */
export function guardChildren(): void {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((adapter) => adapter.dispose()));
  });
  afterAll(() => {
    expect(childrenOfThisProcess()).toEqual([]);
  });
}

/** Children by the process table, zombies included. */
export function childrenOfThisProcess(): string[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  return table
    .split("\n")
    .filter((line) => line.trim().split(/\s+/)[1] === String(process.pid))
    .filter((line) => /faulty\.mjs|echo\.mjs|defunct/.test(line));
}

/** Starts a program; it is disposed of after the test. */
export async function start(
  words: readonly string[],
  options: ProcessAdapterOptions = {},
): Promise<Adapter> {
  const adapter = await openProcessAdapter(words, { timeoutSeconds: 20, ...options });
  started.push(adapter);
  return adapter;
}
