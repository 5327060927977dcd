// Operations that a conformance check sends: legal ones from a seed, made from what the implementation answers and
// without a look at its answers, so that they can be sent ahead of them.
import type { DirectConfig, Domain, Operation } from "../../base/operations.js";
import { Prng } from "../../base/prng.js";

/** @internal */
export interface OperationSource {
  /** The next operation; null where the implementation answers none that could come. */
  next(): Operation | null;
}

/** Operations of a domain that use only `ops`; `boot` first in `kv`. @internal */
export function operationSource(
  domain: Domain,
  ops: ReadonlySet<string>,
  config: DirectConfig,
): OperationSource {
  return domain === "heap" ? new HeapSource(ops) : new KvSource(ops, config);
}

/** The first `count` operations of a source. @internal */
export function taken(source: OperationSource, count: number): Operation[] {
  const operations: Operation[] = [];
  while (operations.length < count) {
    const operation = source.next();
    if (operation === null) break;
    operations.push(operation);
  }
  return operations;
}

const LIVE_MAX = 24; // objects at once

class HeapSource implements OperationSource {
  readonly #ops: ReadonlySet<string>;
  readonly #prng = new Prng(1, 1);
  readonly #live: string[] = [];
  #made = 0;

  constructor(ops: ReadonlySet<string>) {
    this.#ops = ops;
  }

  next(): Operation | null {
    if (!this.#ops.has("heap.alloc")) return null;
    const draw = this.#prng.below(8);
    const isFull = this.#live.length >= LIVE_MAX;
    if (this.#live.length > 0 && (isFull || draw >= 5) && this.#ops.has("heap.free")) {
      const index = this.#prng.below(this.#live.length);
      const [id = ""] = this.#live.splice(index, 1);
      return { op: "heap.free", args: { id } };
    }
    if (this.#live.length > 0 && draw === 4 && this.#ops.has("heap.realloc")) {
      const id = this.#prng.pick(this.#live);
      return { op: "heap.realloc", args: { id, size_bytes: this.#size() } };
    }
    this.#made += 1;
    const id = `a${this.#made}`;
    this.#live.push(id);
    return { op: "heap.alloc", args: { id, size_bytes: this.#size() } };
  }

  #size(): number {
    return 1 + this.#prng.below(2000);
  }
}

interface OpenRequest {
  readonly req: string;
  len: number; // tokens
  hasState: boolean;
}

class KvSource implements OperationSource {
  readonly #ops: ReadonlySet<string>;
  readonly #config: DirectConfig;
  readonly #prng = new Prng(1, 1);
  readonly #requests: OpenRequest[] = [];
  readonly #due: Operation[] = [{ op: "boot", args: {} }];
  #made = 0;

  constructor(ops: ReadonlySet<string>, config: DirectConfig) {
    this.#ops = ops;
    this.#config = config;
  }

  next(): Operation | null {
    const due = this.#due.shift();
    if (due !== undefined) return due;
    for (let attempt = 0; attempt < 20; attempt++) {
      const drawn = this.#draw();
      if (drawn !== null) return drawn;
    }
    return this.#question() ?? this.#open();
  }

  #draw(): Operation | null {
    const most = Math.min(4, this.#config.rows - 1);
    const draw = this.#prng.below(12);
    if (draw < 2) return this.#requests.length < most ? this.#open() : this.#end();
    if (draw === 2) return this.#end();
    if (draw < 6) return this.#extend();
    if (draw < 8) return this.#decode();
    if (draw === 8) return this.#state();
    if (draw === 9) return this.#retire();
    if (draw === 10 && this.#ops.has("chain.flush")) return { op: "chain.flush", args: {} };
    return this.#question();
  }

  #open(): Operation | null {
    if (!this.#ops.has("row.alloc")) return null;
    this.#made += 1;
    const req = `r${this.#made}`;
    this.#requests.push({ req, len: 0, hasState: false });
    return { op: "row.alloc", args: { reqs: [req] } };
  }

  // A request that holds nothing closes with row.free, any other with request.finish.
  #end(): Operation | null {
    const index = this.#prng.below(Math.max(1, this.#requests.length));
    const request = this.#requests[index];
    if (request === undefined) return null;
    const { req, len, hasState } = request;
    const isEmpty = len === 0 && !hasState;
    const op = isEmpty && this.#ops.has("row.free") ? "row.free" : "request.finish";
    if (!this.#ops.has(op)) return null;
    this.#requests.splice(index, 1);
    return op === "row.free" ? { op, args: { req } } : { op, args: { req, len, insert: false } };
  }

  #extend(): Operation | null {
    const request = this.#some();
    if (request === null || !this.#canHold("tokens.extend")) return null;
    const { req, len } = request;
    const to = Math.min(this.#config.row_tokens, len + 1 + this.#prng.below(24));
    if (to === len) return null;
    request.len = to;
    return { op: "tokens.extend", args: { batch: [{ req, from: len, to }] } };
  }

  #decode(): Operation | null {
    const request = this.#some();
    if (request === null || request.len === 0 || !this.#canHold("tokens.decode")) return null;
    if (request.len >= this.#config.row_tokens) return null;
    request.len += 1;
    return { op: "tokens.decode", args: { batch: [{ req: request.req, len: request.len }] } };
  }

  #state(): Operation | null {
    const request = this.#some();
    const hasBand = this.#config.sub_pools.some(({ kind }) => kind === "state");
    if (request === null || !hasBand || request.hasState || !this.#canHold("state.alloc"))
      return null;
    request.hasState = true;
    return { op: "state.alloc", args: { req: request.req, count: 1, purpose: "main" } };
  }

  #retire(): Operation | null {
    const request = this.#some();
    const hasWindow = this.#config.sub_pools.some(({ window }) => window !== undefined);
    if (request === null || !hasWindow || !this.#ops.has("window.retire")) return null;
    return { op: "window.retire", args: { req: request.req, len: request.len } };
  }

  #question(): Operation | null {
    const asked = questions(this.#ops, 1 + this.#prng.below(8));
    return asked.length === 0 ? null : this.#prng.pick(asked);
  }

  // What a request holds must be given back at its end.
  #canHold(op: string): boolean {
    return this.#ops.has(op) && this.#ops.has("request.finish");
  }

  #some(): OpenRequest | null {
    return this.#requests.length === 0 ? null : this.#prng.pick(this.#requests);
  }
}

/** Questions that need no name, for a demand of `pages`. @internal */
export function questions(ops: ReadonlySet<string>, pages: number): Operation[] {
  const demand = { full: pages };
  const all: readonly Operation[] = [
    { op: "ask.fits", args: { demand } },
    { op: "ask.plan", args: { demand } },
    { op: "ask.fits_after_frees", args: { demand, frees: demand } },
    { op: "ask.prealloc", args: { demand, held: demand } },
    { op: "ask.max_new_tokens", args: { input: pages, max_new: 16 } },
    { op: "ask.estimates", args: {} },
  ];
  return all.filter(({ op }) => ops.has(op));
}

/** Operations that an allocator refuses whatever it holds; `serial` gives names that nobody used before. @internal */
export function hopeless(
  domain: Domain,
  ops: ReadonlySet<string>,
  config: DirectConfig,
  serial: number,
): Operation[] {
  const nobody = `nobody${serial}`;
  const req = `r${nobody}`;
  const huge = 2 ** 45; // bytes
  const heap: readonly Operation[] = [
    { op: "heap.alloc", args: { id: `${nobody}.huge`, size_bytes: huge } },
    { op: "heap.free", args: { id: nobody } },
    { op: "heap.realloc", args: { id: nobody, size_bytes: 16 } },
  ];
  // a configuration of domain heap has no rows
  const rows = domain === "heap" ? 0 : config.rows;
  const reqs = Array.from({ length: rows + 1 }, (_, index) => `${req}.${index}`);
  const kv: readonly Operation[] = [
    { op: "row.alloc", args: { reqs } },
    { op: "row.free", args: { req } },
    { op: "tokens.extend", args: { batch: [{ req, from: 0, to: 1 }] } },
    { op: "request.finish", args: { req, len: 0, insert: false } },
  ];
  return (domain === "heap" ? heap : kv).filter(({ op }) => ops.has(op));
}
