// The run of domain `heap` that an importer writes: an id for each object's lifetime, pools named in the order of their
// making, and a book of what lives at which address. Addresses stay in the book; no line holds one.
import { InputError } from "../base/errors.js";
import type {
  Answer,
  HeapArgs,
  HeapOperationName,
  Operation,
  RunConfig,
} from "../base/operations.js";
import { headerLine } from "../trace/header.js";
import type { OpLine, Producer, RunSourceBlock, TraceLine } from "../trace/lines.js";
import type { LogPlace } from "./import-format.js";
import { ImportTally } from "./import-tally.js";

/** The events of the log that an operation comes from: positions, 0-based. @internal */
export interface EventSpan {
  readonly first: number;
  readonly last: number;
  readonly count: number; // events of the operation; others may stand between them
  readonly atUs: number | null; // microseconds since the log began
}

/** What an allocation asks for. @internal */
export interface HeapRequest {
  readonly size: number; // bytes
  readonly align?: number; // bytes
  readonly stream?: string; // the queue or thread that the log names
  readonly pool?: string | null;
  readonly thread?: string; // who asks, where that is told beside the stream
}

/** What a free tells beside the address. @internal */
export interface HeapRelease {
  readonly size?: number; // bytes; must be those of the allocation
  readonly stream?: string;
  readonly thread?: string;
}

interface LiveObject {
  readonly id: string;
  readonly size: number; // bytes
  readonly thread: string | null;
}

const OK: Answer = { ok: {} };
const REFUSED: Answer = { err: { code: "refused_capacity", limit: "bytes" } };

/** Writes one run. @internal */
export class HeapRun {
  readonly ready: TraceLine[] = [];
  readonly tally: ImportTally;
  readonly #run: string;
  // address → objects, the newest at the end: those without bytes may share an address, with each other and with one
  // that has some; a free means the newest
  readonly #live = new Map<string, LiveObject[]>();
  #liveCount = 0;
  #liveBytes = 0;
  readonly #freed = new Set<string>(); // addresses that are free now and were not
  readonly #pools = new Map<string, string>(); // reference → pool
  readonly #poolNames = new Map<string, string>(); // pool → the program's own name for it
  readonly #poolsByName = new Map<string, string>(); // the newest of that name
  #objects = 0;
  #poolCount = 0;
  #next = 0; // number of the next operation

  /** @param tally - of the whole log, where it has several runs */
  constructor(run: string, tally = new ImportTally()) {
    this.#run = run;
    this.tally = tally;
  }

  /**
   * Opens the run. A heap run carries nothing that differs between two builds of one program: what they differ in is for
   * the operations to say. @param producer - null where the first line is written already
   */
  open(producer: Producer | null, source: RunSourceBlock, arenaBytes: number | null = null): void {
    if (producer !== null) this.ready.push(headerLine(producer));
    // the format takes any object for domain `heap`; the type is that of `kv`
    const config = (arenaBytes === null ? {} : { arena_bytes: arenaBytes }) as unknown as RunConfig;
    this.ready.push({ kind: "run", run: this.#run, domain: "heap", config, source });
  }

  /** Closes the run. */
  close(): void {
    this.ready.push({ kind: "end", run: this.#run, ops: this.#next });
  }

  /** Objects that live now. */
  get live(): number {
    return this.#liveCount;
  }

  /** The pool behind a reference; null where no event made it. */
  pool(reference: string): string | null {
    return this.#pools.get(reference) ?? null;
  }

  /** The pool behind a reference; one that no event made has the next name from its first use on. */
  poolBehind(reference: string): string {
    const known = this.#pools.get(reference);
    if (known !== undefined) return known;
    this.#poolCount += 1;
    const pool = `p${this.#poolCount}`;
    this.#pools.set(reference, pool);
    return pool;
  }

  /** The newest pool that the program calls so; null where there is none. */
  poolCalled(name: string): string | null {
    return this.#poolsByName.get(name) ?? null;
  }

  /** What the program calls a pool; the pool's own name where it has none. */
  nameOf(pool: string): string {
    return this.#poolNames.get(pool) ?? pool;
  }

  /** The newest object that begins at an address; null where none lives there. */
  object(address: string): string | null {
    return this.#live.get(address)?.at(-1)?.id ?? null;
  }

  /** Whether an object lives at an address. */
  isLiveAt(address: string, id: string): boolean {
    return this.#live.get(address)?.some((object) => object.id === id) ?? false;
  }

  /** A reference that lives on under a new meaning gets a new pool: it is another one. */
  makePool(
    reference: string,
    called: string | null,
    type: string,
    args: readonly (string | number)[],
    events: EventSpan,
  ): void {
    this.#poolCount += 1;
    const pool = `p${this.#poolCount}`;
    this.#pools.set(reference, pool);
    if (called !== null) {
      this.#poolNames.set(pool, called);
      this.#poolsByName.set(called, pool);
    }
    this.#op("pool.make", { pool, type, args }, OK, events);
  }

  /** An object begins to live at an address; null: the allocation failed. */
  allocate(
    address: string | null,
    { size, align, stream, pool, thread }: HeapRequest,
    events: EventSpan,
    place: LogPlace,
  ): void {
    this.#objects += 1;
    const id = `o${this.#objects}`;
    const args = {
      ...{ id, size_bytes: size },
      ...(align === undefined ? {} : { align_bytes: align }),
      ...(stream === undefined ? {} : { stream }),
      ...(pool === undefined || pool === null ? {} : { pool }),
    };
    if (address === null) {
      this.tally.count("failed_allocations");
      this.#op("heap.alloc", args, REFUSED, events);
      return;
    }
    if (!this.#enter(address, { id, size, thread: thread ?? stream ?? null })) {
      wrong(`an allocation at ${address}, where an object still lives`, place, "a free address");
    }
    if (this.#freed.delete(address)) this.tally.count("address_reuses");
    this.tally.allocations += 1;
    this.#op("heap.alloc", args, OK, events);
  }

  /** The newest object at an address dies. */
  free(address: string, events: EventSpan, place: LogPlace, told: HeapRelease = {}): void {
    const object = this.#leave(address);
    if (object === null) {
      wrong(`a free of ${address}, where no object lives`, place, "the address of a live object");
    }
    const { size, stream, thread = stream } = told;
    if (size !== undefined && size !== object.size) {
      const what = `a free of ${size} bytes at ${address}, where an object of ${object.size} lives`;
      wrong(what, place, `${object.size} bytes`);
    }
    if (thread !== undefined && object.thread !== null && thread !== object.thread)
      this.tally.count("frees_by_another_thread");
    this.tally.frees += 1;
    const args = { id: object.id, ...(stream === undefined ? {} : { stream }) };
    this.#op("heap.free", args, OK, events);
  }

  /** The newest object at an address gets another size, and perhaps another address; null: in vain. */
  resize(
    address: string,
    to: string | null,
    size: number,
    events: EventSpan,
    place: LogPlace,
    thread: string | null = null,
  ): void {
    const object = this.#leave(address);
    if (object === null) {
      const expected = "the address of a live object";
      wrong(`a reallocation of ${address}, where no object lives`, place, expected);
    }
    const { id } = object;
    const resized = { id, size, thread: thread ?? object.thread };
    if (!this.#enter(to ?? address, to === null ? object : resized)) {
      const what = `a reallocation to ${to ?? address}, where an object still lives`;
      wrong(what, place, "a free address");
    }
    if (to === null) this.tally.count("failed_allocations");
    else if (to === address || this.#freed.delete(to)) this.tally.count("address_reuses");
    this.#op("heap.realloc", { id, size_bytes: size }, to === null ? REFUSED : OK, events);
  }

  copy(from: string, to: string, size: number, events: EventSpan): void {
    this.#op("heap.copy", { from, to, bytes: size }, OK, events);
  }

  release(pool: string | null, events: EventSpan): void {
    this.#op("heap.release", pool === null ? {} : { pool }, OK, events);
  }

  coalesce(pool: string | null, events: EventSpan): void {
    this.#op("heap.coalesce", pool === null ? {} : { pool }, OK, events);
  }

  /** An event that is no operation of the format stays as a remark. */
  mark(text: string): void {
    this.tally.marks += 1;
    this.ready.push({ kind: "mark", n: this.#next, text });
  }

  #enter(address: string, object: LiveObject): boolean {
    const there = this.#live.get(address);
    if (there === undefined) this.#live.set(address, [object]);
    else if (object.size > 0 && there.some(({ size }) => size > 0)) return false;
    else there.push(object);
    this.#liveCount += 1;
    this.#liveBytes += object.size;
    this.tally.peak("peak_objects", this.#liveCount);
    this.tally.peak("peak_bytes", this.#liveBytes);
    return true;
  }

  #leave(address: string): LiveObject | null {
    const there = this.#live.get(address);
    const object = there?.pop();
    if (there === undefined || object === undefined) return null;
    if (there.length === 0) {
      this.#live.delete(address);
      this.#freed.add(address);
    }
    this.#liveCount -= 1;
    this.#liveBytes -= object.size;
    return object;
  }

  #op<K extends HeapOperationName>(
    op: K,
    args: HeapArgs[K],
    answer: Answer,
    { first, last, count, atUs }: EventSpan,
  ): void {
    this.tally.operations += 1;
    this.tally.joined += count - 1;
    const line = {
      kind: "op",
      n: this.#next,
      ...({ op, args } as unknown as Operation), // the parameters hold them together
      ...answer,
      ...(atUs === null ? {} : { at_us: atUs }),
      x_event: first === last ? first : [first, last],
    };
    this.#next += 1;
    this.ready.push(line as OpLine); // an `x_` key is none of the type's
  }
}

function wrong(message: string, place: LogPlace, expected: string): never {
  throw new InputError("input_format", message, { ...place, expected });
}
