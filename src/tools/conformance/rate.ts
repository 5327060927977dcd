// How many operations a second go there and back, one at a time and with a full window.
import type { Adapter } from "../../adapter/adapter.js";
import type { Operation } from "../../base/operations.js";
import { CandidateError } from "../../base/errors.js";
import type { Stage } from "./subject.js";

/** Operations a second. @public */
export interface Rates {
  readonly window1: number;
  readonly window256: number;
}

/** Starts the implementation with so many operations in flight. @public */
export type StartWithWindow = (windowSize: number) => Promise<Adapter>;

const COUNTS = { one: 5_000, many: 100_000, warm: 5_000 };

/** Measures both on fresh starts, after a warm-up. `now` gives milliseconds. @internal */
export async function measureRates(
  stage: Stage,
  start: StartWithWindow,
  now: () => number,
): Promise<Rates> {
  const window256 = await rateOf(stage, await start(256), 256, COUNTS.many, now);
  const window1 = await rateOf(stage, await start(1), 1, COUNTS.one, now);
  return { window1, window256 };
}

async function rateOf(
  stage: Stage,
  adapter: Adapter,
  windowSize: number,
  count: number,
  now: () => number,
): Promise<number> {
  try {
    await adapter.open(stage.opening("rate"));
    const next = endless(stage);
    let before = 0;
    for (let done = -COUNTS.warm; done < count; done += windowSize) {
      if (before === 0 && done >= 0) before = now();
      const { failure } = await adapter.apply(Array.from({ length: windowSize }, next));
      if (failure !== null)
        throw new CandidateError("candidate_handshake", `--rate: ${failure.message}`);
    }
    const rate = (count / (now() - before)) * 1000;
    await adapter.close();
    return Math.round(rate);
  } finally {
    await adapter.dispose();
  }
}

/** An object made and given back, a question, or a row taken and given back: nothing piles up. */
function endless(stage: Stage): () => Operation {
  let made = 0;
  let step = 0;
  if (stage.domain === "heap")
    return () => {
      step += 1;
      if (step % 2 === 0) return { op: "heap.free", args: { id: `a${made}` } };
      made += 1;
      return { op: "heap.alloc", args: { id: `a${made}`, size_bytes: 64 } };
    };
  return () => {
    step += 1;
    if (step === 1) return { op: "boot", args: {} };
    if (stage.ops.has("ask.fits")) return { op: "ask.fits", args: { demand: { full: 1 } } };
    if (step % 2 === 1) return { op: "row.free", args: { req: `r${made}` } };
    made += 1;
    return { op: "row.alloc", args: { reqs: [`r${made}`] } };
  };
}
