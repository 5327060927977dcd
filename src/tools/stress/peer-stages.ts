// The other pipeline stages of a run: allocators of other geometries that get the same operations. What they decide has to
// be the same, though pages lie elsewhere and other steps make room for them.
import { canonicalJson } from "../../base/canonical-json.js";
import { InputError } from "../../base/errors.js";
import { countOf } from "../../base/extents.js";
import type { Answer, DirectConfig, Extents, KvOperation } from "../../base/operations.js";
import { KVStorage } from "../../kv/storage.js";
import { isQuestion } from "../laws.js";

/** Follows a run from its first operation on. @internal */
export class PeerStages {
  readonly #config: DirectConfig;
  #peers: { readonly stage: number; readonly storage: KVStorage }[] = [];
  /** Nothing was taken yet, so that an allocator that begins now has the same history. */
  #isFresh = true;

  constructor(config: DirectConfig) {
    this.#config = config;
  }

  /** Gives the peers the operation that the run just answered; what they decide otherwise, or null. */
  follow(operation: KvOperation, answer: Answer): string | null {
    if (operation.op === "stages.install" && answer.ok !== undefined) {
      this.#install(operation.args);
      this.#isFresh = false;
      return null;
    }
    const isKept = operation.op === "boot" || isQuestion(operation.op);
    if (answer.ok !== undefined && !isKept) this.#isFresh = false;
    if (this.#peers.length === 0) return null;
    const own = decisionOf(operation, answer);
    for (const { stage, storage } of this.#peers) {
      const other = this.#decide(storage, operation);
      if (other === own) continue;
      this.#peers = []; // from here on they differ
      return `stage ${stage} decides otherwise: ${other} instead of ${own}`;
    }
    return null;
  }

  #install({ stages, self }: Extract<KvOperation, { op: "stages.install" }>["args"]): void {
    this.#peers = [];
    if (!this.#isFresh) return;
    for (const [stage, { arena_bytes, sub_pools }] of stages.entries()) {
      if (stage === self) continue;
      const config = { ...this.#config, arena_bytes, sub_pools };
      const storage = new KVStorage(config, { digestDepth: null });
      storage.apply({ op: "boot", args: {} });
      storage.apply({ op: "stages.install", args: { stages, self: stage } });
      this.#peers.push({ stage, storage });
    }
  }

  #decide(storage: KVStorage, operation: KvOperation): string {
    try {
      return decisionOf(operation, storage.apply(operation));
    } catch (error) {
      if (error instanceof InputError) throw error;
      return `breaks (${error instanceof Error ? error.message : String(error)})`;
    }
  }
}

/** Fields that tell how one stage serves what all of them grant, what of its pages still pends, and ids of its own grid. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "step",
  "spans",
  "moves",
  "epoch",
  "reread",
  "released",
  "slot",
  "replacement",
]);

/** What of an answer is the same on every stage: all but ids, places, moves and the steps that make room. */
function decisionOf({ op }: KvOperation, { ok, err }: Answer): string {
  if (err !== undefined) return canonicalJson({ ...err, message: undefined });
  if (op === "ask.plan") return (ok as { readonly step: string }).step === "none" ? "no" : "yes"; // what it answers
  if (op === "chain.flush" || op === "ask.translate") return "yes"; // nothing but places
  return canonicalJson(counted(ok));
}

/** A value with the lengths of lists of ids in their place: which ids a stage has depends on its grid. */
function counted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isExtents(value)) return countOf(value);
  if (Array.isArray(value)) return value.map(counted);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN_FIELDS.has(key))
      .map(([key, member]) => [key, counted(member)]),
  );
}

function isExtents(value: object): value is Extents {
  return (
    Array.isArray(value) &&
    value.every((item: unknown) => Array.isArray(item) && typeof item[0] === "number")
  );
}
