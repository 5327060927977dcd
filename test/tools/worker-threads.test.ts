// Work in several threads: every piece is answered once, and whatever ends a thread ends the work.
import { expect, test } from "vitest";
import { workInThreads } from "../../src/tools/worker-threads.js";

const script = new URL("../fixtures/thread.mjs", import.meta.url);

function work(
  pieces: readonly (number | string)[],
  signal?: AbortSignal,
): { readonly answers: Map<number | string, number>; readonly ended: Promise<void> } {
  const answers = new Map<number | string, number>();
  const left = [...pieces];
  const ended = workInThreads<number | string, number>({
    script,
    threads: 2,
    signal,
    take: () => left.shift() ?? null,
    done: (piece, answer) => {
      expect(answers.has(piece)).toBe(false);
      answers.set(piece, answer);
    },
  });
  return { answers, ended };
}

test("every piece is answered once", async () => {
  const { answers, ended } = work([1, 2, 3, 4, 5, 6, 7]);
  await ended;
  expect([...answers].sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => [n, n * n]));
});

test("an error of ours keeps its code", async () => {
  const { ended } = work([1, "fails", 2]);
  await expect(ended).rejects.toMatchObject({
    name: "UnifiedTraceError",
    code: "device_unavailable",
    exitCode: 4,
    message: "no device",
  });
});

test("a thread that ends without an answer ends the work", async () => {
  await expect(work([1, "dies", 2]).ended).rejects.toThrow("ended with code 3");
});

test("an interrupt ends the work at once", async () => {
  const controller = new AbortController();
  const { ended } = work(["waits", "waits"], controller.signal);
  controller.abort(new Error("stopped"));
  await expect(ended).rejects.toThrow("stopped");
});
