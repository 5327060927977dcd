// The geometry of an arena along a run: `boot` gives it, a granted resize changes it.
import type { Answer, BootOk, KvArgs } from "../../base/operations.js";
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

  note({ n, op, args }: Pick<OpLine, "n" | "op" | "args">, { ok }: Answer): void {
    if (ok === undefined || (op !== "boot" && op !== "arena.resize")) return;
    if ((this.#known.at(-1)?.from ?? -1) >= n) return; // an operation that is followed again
    const before = this.#known.at(-1)?.geometry.arena_bytes ?? null;
    const asked = op === "boot" ? before : (args as KvArgs["arena.resize"]).arena_bytes;
    const answer = ok as BootOk; // both answer with the bands
    const geometry = geometryOfAnswer(answer, asked, this.#run);
    this.#known.push({ from: n, geometry });
  }

  /** As it is after operation `n`. */
  at(n: number): ArenaGeometry | null {
    return this.#known.findLast(({ from }) => from <= n)?.geometry ?? null;
  }
}
