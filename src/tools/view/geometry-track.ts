// The geometry of an arena along a run: `boot` gives it, a granted resize changes it.
import type { Answer, BootOk, KvArgs } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { OpLine, RunLine } from "../../trace/lines.js";
import {
  type ArenaGeometry,
  directConfigOf,
  geometryOfAnswer,
  geometryOfConfig,
} from "./geometry.js";

/** Follows the operations of one run in order. Null where neither the configuration nor an answer tells a geometry.
 * @internal */
export class GeometryTrack {
  readonly #run: RunLine;
  readonly #known: { readonly from: number; readonly geometry: ArenaGeometry }[] = [];

  constructor(run: RunLine) {
    this.#run = run;
    const config = directConfigOf(run);
    if (config !== null && run.domain === "kv")
      this.#known.push({ from: -1, geometry: geometryOfConfig(config) });
  }

  note(line: Pick<OpLine, "n" | "op" | "args">, answer: Answer): void {
    if ((this.#known.at(-1)?.from ?? -1) >= line.n) return; // an operation that is followed again
    const before = this.#known.at(-1)?.geometry ?? null;
    const geometry = geometryAfter(this.#run, before, line, answer);
    if (geometry !== null && geometry !== before) this.#known.push({ from: line.n, geometry });
  }

  /** As it is after operation `n`. */
  at(n: number): ArenaGeometry | null {
    return this.#known.findLast(({ from }) => from <= n)?.geometry ?? null;
  }
}

/** The geometry after an operation: `before`, unless it is a granted `boot` or resize. @internal */
export function geometryAfter(
  run: RunLine,
  before: ArenaGeometry | null,
  { op, args }: Pick<OpLine, "op" | "args">,
  { ok }: Answer,
): ArenaGeometry | null {
  if (ok === undefined || (op !== "boot" && op !== "arena.resize")) return before;
  const known = before?.arena_bytes ?? null;
  const asked = op === "boot" ? known : (args as KvArgs["arena.resize"]).arena_bytes;
  return geometryOfAnswer(ok as BootOk, asked, run); // both answer with the bands
}

/** The arena of a run that begins with a state: as configured, or as a resize before it left it. @internal */
export function geometryOfState(run: RunLine, state: State): ArenaGeometry | null {
  const config = directConfigOf(run);
  const more = state.forwards["x_more"] as { readonly arena_bytes?: unknown } | undefined;
  const bytes = more?.arena_bytes;
  if (config === null) return null;
  return geometryOfConfig(config, typeof bytes === "number" ? bytes : config.arena_bytes);
}
