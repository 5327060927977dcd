// How long work is held up on a device with real streams: drawn from a seed, so that a missing wait shows.
import { Prng } from "../base/prng.js";
import type { Delays } from "./byte-tap.js";

const STREAM_OF_DELAYS = 41;
/** Microseconds; most work is not held up, so that runs stay short. */
const CHOICES_US = [0, 0, 0, 0, 0, 50, 200, 1000] as const;

/** @internal */
export function seededDelays(seed: number): Delays {
  const prng = new Prng(seed, STREAM_OF_DELAYS);
  return { next: () => prng.pick(CHOICES_US) };
}
