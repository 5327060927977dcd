// The operations of a trace, their arguments and their results, as types only. The operation table of `src/trace`
// is checked against these types, so that schema, player and type cannot drift apart.
import type { Effect } from "./effects.js";
import type { Empty, KvOk } from "./results.js";
import type { OperationError } from "./refusals.js";
import type { StageConfig } from "./run-config.js";
import type { Demand, Extents, ForwardMode, Key, StatePurpose } from "./values.js";

export type * from "./results.js";
export type * from "./run-config.js";
export type * from "./values.js";
export {
  INVALID_RULES,
  REFUSAL_CODES,
  type InvalidRule,
  type OperationError,
  type RefusalCode,
} from "./refusals.js";

/** @public */
export interface StatePlace {
  readonly req: string;
  readonly purpose: StatePurpose;
}
/** @public */
export interface KeyPlace {
  readonly key: Key;
  readonly len: number;
}
/** One request's part of `tokens.extend`: token positions `[from, to)`. @public */
export interface ExtendEntry {
  readonly req: string;
  readonly from: number; // tokens, equals the allocated length
  readonly to: number; // tokens, exclusive
  readonly tail?: number; // tokens whose window pages are wanted
}
/** @public */
export interface DecodeEntry {
  readonly req: string;
  readonly len: number; // tokens, the allocated length plus 1
}
/** @public */
export interface ForwardEntry {
  readonly req: string;
  readonly from: number;
  readonly to: number;
  readonly track?: number; // tokens
}
/** @public */
export interface QueueEntry {
  readonly req: string;
  readonly key?: Key;
  readonly input: number; // tokens
  readonly max_new: number; // tokens
}
/** Arguments of every operation, domain `kv`. @public */
export interface KvArgs {
  readonly boot: Empty;
  readonly "arena.resize": {
    readonly arena_bytes: number;
    readonly chunk_bytes?: number;
    readonly fail_chunk?: number;
  };
  readonly "row.alloc": { readonly reqs: readonly string[] };
  readonly "row.free": { readonly req: string };
  readonly "state.alloc": {
    readonly req: string;
    readonly count: number;
    readonly purpose: StatePurpose;
  };
  readonly "state.free": StatePlace;
  readonly "state.copy": { readonly from: StatePlace | KeyPlace; readonly to: StatePlace };
  readonly "state.donate": { readonly req: string; readonly len: number };
  readonly "tokens.extend": { readonly batch: readonly ExtendEntry[] };
  readonly "tokens.decode": { readonly batch: readonly DecodeEntry[] };
  readonly "tokens.free": {
    readonly req: string;
    readonly from: number;
    readonly to: number;
    readonly bands: "all" | "full" | readonly string[];
  };
  readonly "group.begin": Empty;
  readonly "group.end": Empty;
  readonly "window.retire": { readonly req: string; readonly len: number };
  readonly "request.finish": {
    readonly req: string;
    readonly len: number;
    readonly insert: boolean;
    readonly key?: Key;
  };
  readonly "request.retract": { readonly req: string; readonly backup?: string };
  readonly "request.restore": { readonly req: string; readonly copy: string };
  readonly "forward.launch": {
    readonly step: string;
    readonly batch: readonly ForwardEntry[];
    readonly mode: ForwardMode;
  };
  readonly "forward.record": { readonly step: string; readonly writes: "known" | "unknown" };
  readonly "forward.barrier": { readonly step: string };
  readonly "forward.process": { readonly step: string };
  readonly "event.fire": { readonly event: string; readonly rank: number };
  readonly "chain.flush": Empty;
  readonly "chain.relieve": { readonly demand: Demand };
  readonly "host.backup": { readonly copy: string; readonly key: Key; readonly len: number };
  readonly "host.backup_done": { readonly copy: string; readonly outcome: "ok" | "failed" };
  readonly "host.load_reserve": {
    readonly load: string;
    readonly key?: Key;
    readonly len?: number;
    readonly demand?: Demand;
  };
  readonly "host.load_bind": {
    readonly load: string;
    readonly req?: string;
    readonly from?: number;
  };
  readonly "host.load_submit": { readonly load: string; readonly copy: string };
  readonly "host.load_cancel": { readonly load: string };
  readonly "host.load_done": { readonly copy: string; readonly outcome: "ok" | "failed" };
  readonly "host.evict": { readonly demand: Demand };
  readonly "net.send": {
    readonly transfer: string;
    readonly req: string;
    readonly from: number;
    readonly to: number;
    readonly state?: StatePurpose;
    readonly held?: boolean;
    readonly writers?: readonly string[];
  };
  readonly "net.receive": {
    readonly transfer: string;
    readonly req: string;
    readonly from: number;
    readonly to: number;
    readonly tail?: number;
    readonly state?: number;
    readonly writers?: readonly string[];
  };
  readonly "net.publish": { readonly transfer: string; readonly deferred?: boolean };
  readonly "net.stall": { readonly transfer: string };
  readonly "net.end": {
    readonly transfer: string;
    readonly writer?: string;
    readonly outcome: "ok" | "failed" | "timeout";
  };
  readonly "tree.match": { readonly key: Key; readonly req?: string };
  readonly "tree.insert": { readonly req: string; readonly key: Key; readonly len: number };
  readonly "tree.lock": { readonly key: Key; readonly len: number; readonly req: string };
  readonly "tree.unlock": { readonly key: Key; readonly len: number; readonly req: string };
  readonly "tree.evict": {
    readonly demand?: Demand;
    readonly units?: Readonly<Record<string, number | "all">>;
  };
  readonly "admit.pass": {
    readonly queue: readonly QueueEntry[];
    readonly chunk?: number;
    readonly reserve?: Demand;
  };
  readonly "ask.plan": { readonly demand: Demand };
  readonly "ask.fits": { readonly demand: Demand };
  readonly "ask.fits_after_frees": {
    readonly demand: Demand;
    readonly frees: Demand | "evictable";
  };
  readonly "ask.prealloc": { readonly demand: Demand; readonly held: Demand };
  readonly "ask.max_new_tokens": {
    readonly input: number;
    readonly max_new: number;
    readonly chunk?: number;
  };
  readonly "ask.translate": {
    readonly virtual?: Extents;
    readonly req?: string;
    readonly from?: number;
    readonly to?: number;
  };
  readonly "ask.estimates": { readonly inside?: string };
  readonly "stages.install": { readonly stages: readonly StageConfig[]; readonly self: number };
  readonly "stages.digest": { readonly iteration: number; readonly peer?: string };
  readonly "contents.discard": Empty;
  readonly "check.idle": Empty;
}

/** Arguments of the operations of domain `heap`. @public */
export interface HeapArgs {
  readonly "heap.alloc": {
    readonly id: string;
    readonly size_bytes: number;
    readonly align_bytes?: number;
    readonly stream?: string;
    readonly pool?: string;
  };
  readonly "heap.free": { readonly id: string; readonly stream?: string };
  readonly "heap.realloc": { readonly id: string; readonly size_bytes: number };
  readonly "heap.copy": { readonly from: string; readonly to: string; readonly bytes: number };
  readonly "heap.release": { readonly pool?: string };
  readonly "heap.coalesce": { readonly pool?: string };
  readonly "pool.make": {
    readonly pool: string;
    readonly type: string;
    readonly args?: readonly (string | number)[];
  };
}
/** @public */
export interface HeapOk {
  readonly "heap.alloc": { readonly address_offset?: number };
  readonly "heap.free": Empty;
  readonly "heap.realloc": { readonly address_offset?: number };
  readonly "heap.copy": Empty;
  readonly "heap.release": Empty;
  readonly "heap.coalesce": Empty;
  readonly "pool.make": Empty;
}

/** @public */
export type KvOperationName = keyof KvArgs;
/** @public */
export type HeapOperationName = keyof HeapArgs;
/** @public */
export type OperationName = KvOperationName | HeapOperationName;
/** @public */
export type OperationArgs = KvArgs & HeapArgs;
/** @public */
export type OperationOk = KvOk & HeapOk;
/** @public */
export type Domain = "kv" | "heap";

/** One operation of one kind. @public */
export interface OperationOf<K extends OperationName> {
  readonly op: K;
  readonly args: OperationArgs[K];
}
/** Any operation; `op` tells which. @public */
export type Operation = { [K in OperationName]: OperationOf<K> }[OperationName];
/** Any operation of domain `kv`. @public */
export type KvOperation = { [K in KvOperationName]: OperationOf<K> }[KvOperationName];

/** A component's hash after the operation, 16 hex digits, by component; only changed ones. @public */
export type Digests = Readonly<Record<string, string>>;

/** The outcome of one operation: exactly one of `ok` and `err`; empty `fx` and `digest` are left out. `message` is a
 * remark on a granted operation, one line for people, never compared (a refusal has its own). @public */
export interface Answer<K extends OperationName = OperationName> {
  readonly ok?: OperationOk[K];
  readonly err?: OperationError;
  readonly fx?: readonly Effect[];
  readonly digest?: Digests;
  readonly message?: string;
}

/** Components after the bands, in the order in which digests are written and folded. @public */
export const FIXED_COMPONENTS = [
  "chain",
  "forwards",
  "ledger",
  "rows",
  "tree",
  "host",
  "net",
] as const;
