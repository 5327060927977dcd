// The serving model: a scheduler driven by a request trace (continuous batching, chunked prefill, decode, overlap).
import { InternalError } from "../base/errors.js";
import type { DirectConfig } from "../base/operations.js";
import type { RequestTrace } from "./request-traces.js";
import type { Workload } from "./workload.js";

/** The scheduler's figures. @public */
export interface ServingParameters {
  readonly batch: number; // requests at most
  readonly chunk: number; // prefill tokens a step at most
  readonly decodeTokens: number; // tokens a forward decodes of each request
  readonly stepsPerSecond: number; // logical time: steps a second of arrivals
  readonly retireTokens: number; // a window is retired once this many tokens went out of it
}
/** @public */
export interface ServingOptions {
  readonly trace: RequestTrace;
  readonly config: DirectConfig;
  readonly configName: string; // stands in the run id: `CONFIG/LAYOUT/pPS/TRACE`
  readonly layout: string;
  readonly pageSize: number;
  readonly limit?: number; // requests of the trace that are used
  readonly serving?: Partial<ServingParameters>;
}

/** @public */
export function servingWorkload(options: ServingOptions): Workload {
  throw new InternalError(`servingWorkload is not there yet (${options.configName})`);
}
