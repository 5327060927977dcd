// What every reader and generator of request traces hands out.

/** One request as a trace tells it. @public */
export interface TracedRequest {
  readonly arrival: number; // ms from the start of the trace
  readonly input: number; // tokens
  readonly output: number; // tokens
  readonly blocks: readonly number[]; // prefix-block ids in order; equal leading ids are a shared prefix
}
/** @public */
export interface RequestTrace {
  readonly name: string; // "mooncake" or "synthetic"
  readonly blockTokens: number; // tokens that one block id stands for
  readonly requests: readonly TracedRequest[]; // arrivals ascending
  readonly seed: number | null; // of a synthetic trace
}
