// The memory in use while a run is replayed, from what was asked and answered: pages by band, or bytes of a heap.
import type {
  Answer,
  BootOk,
  DirectConfig,
  KvOperation,
  Operation,
  RunConfig,
} from "../../base/operations.js";
import { deriveConfig, isModelConfig } from "../../kv/build.js";
import { RunAuditor } from "../audit/auditor.js";
import type { BandPeak, HeapPeak } from "./outcome.js";

/** Peaks of bands over all runs of a value. @internal */
export class BandUse {
  readonly #peaks = new Map<string, { pages: number; bytes: number }>();
  #auditor: RunAuditor | null = null;
  #pageBytes = new Map<string, number>();
  #config: RunConfig | null = null;

  /** Another run begins. */
  open(config: RunConfig): void {
    this.#config = config;
    this.#auditor = null;
  }

  follow(n: number, operation: KvOperation, answer: Answer): void {
    if (operation.op === "boot" && answer.ok !== undefined && this.#config !== null)
      this.#boot(this.#config, answer.ok as BootOk); // of a boot
    if (this.#auditor === null) return;
    this.#auditor.line(n, operation, answer);
    for (const [band, pages] of this.#auditor.livePages()) this.#reach(band, pages);
  }

  get peaks(): readonly BandPeak[] {
    return [...this.#peaks].map(([band, { pages, bytes }]) => ({ band, pages, bytes }));
  }

  #boot(config: RunConfig, boot: BootOk): void {
    const direct = directOf(config);
    if (direct === null) return;
    this.#auditor = new RunAuditor(direct, boot);
    this.#pageBytes = new Map(
      Object.entries(boot.bands).map(([band, { page_bytes: bytes }]) => [band, bytes]),
    );
  }

  #reach(band: string, pages: number): void {
    const bytes = pages * (this.#pageBytes.get(band) ?? 0);
    const known = this.#peaks.get(band);
    if (known === undefined) this.#peaks.set(band, { pages, bytes });
    else {
      known.pages = Math.max(known.pages, pages);
      known.bytes = Math.max(known.bytes, bytes);
    }
  }
}

function directOf(config: RunConfig): DirectConfig | null {
  if (!isModelConfig(config)) return config;
  const derived = deriveConfig(config);
  return "refusal" in derived ? null : derived.derived;
}

interface HeapObject {
  readonly bytes: number;
  readonly end: number;
}

/** Live objects of a heap, by what was granted. @internal */
export class HeapUse {
  readonly #objects = new Map<string, HeapObject>();
  readonly #refused = new Set<string>(); // objects that were never allocated
  #requested = 0;
  #peakRequested = 0;
  #peakEnd = 0;

  /** Another run begins. */
  open(): void {
    this.#objects.clear();
    this.#refused.clear();
    this.#requested = 0;
  }

  /** Whether the operation is about an object whose allocation was refused. */
  isLeft({ op, args }: Operation): boolean {
    if (op === "heap.alloc") return false;
    const { id, from, to } = args as { readonly id?: string; from?: unknown; to?: unknown };
    const isLeft = [id, from, to].some(
      (name) => typeof name === "string" && this.#refused.has(name),
    );
    if (isLeft && op === "heap.free" && id !== undefined) this.#refused.delete(id);
    return isLeft;
  }

  follow({ op, args }: Operation, { ok, err }: Answer): void {
    const { id, size_bytes: bytes } = args as { readonly id?: string; size_bytes?: number };
    if (id === undefined) return;
    if (op === "heap.alloc" && err !== undefined && err.code !== "invalid") this.#refused.add(id);
    if (ok === undefined) return;
    if (op === "heap.free") this.#drop(id);
    if ((op !== "heap.alloc" && op !== "heap.realloc") || bytes === undefined) return;
    this.#drop(id);
    const { address_offset: offset } = ok as { readonly address_offset?: number };
    const end = offset === undefined ? 0 : offset + bytes;
    this.#objects.set(id, { bytes, end });
    this.#requested += bytes;
    this.#peakRequested = Math.max(this.#peakRequested, this.#requested);
    this.#peakEnd = Math.max(this.#peakEnd, end);
  }

  get peak(): HeapPeak {
    return { requestedBytes: this.#peakRequested, endBytes: this.#peakEnd };
  }

  #drop(id: string): void {
    this.#requested -= this.#objects.get(id)?.bytes ?? 0;
    this.#objects.delete(id);
  }
}
