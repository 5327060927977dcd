// The memory of a run of domain `heap` along its operations: what live objects asked for, how far they reach, what failed.
import type { OpLine, RunLine } from "../../trace/lines.js";
import type { CurvePart, RunCurve } from "./curve.js";
import { HighestEnd } from "./highest-end.js";
import { CurveSampler } from "./sampler.js";

const PARTS: readonly CurvePart[] = [{ name: "failed", unit: "requests", pageBytes: null }];

interface Live {
  readonly pool: string;
  readonly bytes: number;
  readonly from: number | null; // bytes from the pool's base; null: no answer told it
}

/** @internal */
export class HeapRunCurve {
  readonly #run: RunLine;
  readonly #usableBytes: number | null;
  readonly #sampler = new CurveSampler();
  readonly #objects = new Map<string, Live>();
  readonly #pools = new Map<string, HighestEnd>();
  #unplaced = 0; // live objects whose address no answer told
  #liveBytes = 0;
  #failed = 0;
  #operations = 0;

  constructor(run: RunLine) {
    this.#run = run;
    const told = (run.config as unknown as Readonly<Record<string, unknown>>)["arena_bytes"];
    this.#usableBytes = typeof told === "number" && told > 0 ? told : null;
  }

  operation(line: OpLine): void {
    this.#operations += 1;
    if (line.err !== undefined && line.err.code !== "invalid") this.#failed += 1;
    if (line.ok !== undefined) this.#granted(line);
    this.#sampler.add({
      n: line.n,
      liveBytes: this.#liveBytes,
      spanBytes: this.#spanBytes,
      usableBytes: this.#usableBytes,
      parts: [this.#failed],
    });
  }

  /** Null where the run has no operation. */
  result(): RunCurve | null {
    const sampled = this.#sampler.result();
    if (sampled === null) return null;
    const { run, domain } = this.#run;
    return { run, domain, operations: this.#operations, parts: PARTS, parted: null, ...sampled };
  }

  /** Up to the end of the last live object of each pool; null while an object lies nobody knows where. */
  get #spanBytes(): number | null {
    if (this.#unplaced > 0) return null;
    let bytes = 0;
    for (const pool of this.#pools.values()) bytes += pool.end;
    return bytes;
  }

  #granted({ op, args, ok }: OpLine): void {
    const { address_offset: from = null } = ok as { readonly address_offset?: number };
    if (op === "heap.alloc") {
      const { id, size_bytes: bytes, pool = "" } = args;
      this.#dies(id);
      this.#lives(id, { pool, bytes, from });
    } else if (op === "heap.realloc") {
      const { id, size_bytes: bytes } = args;
      const known = this.#objects.get(id);
      this.#dies(id);
      this.#lives(id, { pool: known?.pool ?? "", bytes, from: from ?? known?.from ?? null });
    } else if (op === "heap.free") {
      this.#dies(args.id);
    }
  }

  #lives(id: string, live: Live): void {
    this.#objects.set(id, live);
    this.#liveBytes += live.bytes;
    if (live.from === null) this.#unplaced += 1;
    else this.#poolNamed(live.pool).set(id, live.from + live.bytes);
  }

  #dies(id: string): void {
    const live = this.#objects.get(id);
    if (live === undefined) return;
    this.#objects.delete(id);
    this.#liveBytes -= live.bytes;
    if (live.from === null) this.#unplaced -= 1;
    else this.#poolNamed(live.pool).delete(id);
  }

  #poolNamed(name: string): HighestEnd {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const made = new HighestEnd();
    this.#pools.set(name, made);
    return made;
  }
}
