// What the counters of a serving workload come to.

/** Whether a serving workload dropped every request, so that a run with it shows nothing. @public */
export function servedNothing(counters: Readonly<Record<string, number>>): boolean {
  return (counters["requests"] ?? 0) > 0 && counters["served"] === 0;
}
