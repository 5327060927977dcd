// The boundary to what holds bytes: one arena, its bands, streams and tables behind a handful of calls. Work goes over in
// scripts (`bytes-script.ts`), one call an operation at most. `native/include/ut/backend.h` states the same for C.
import { EnvironmentError } from "../base/errors.js";

/** One band: a grid of pages over the arena that starts at byte 0. @internal */
export interface ByteBand {
  readonly name: string; // for messages
  readonly pageBytes: number; // a multiple of 4
  readonly pages: number; // on the grid
  readonly firstPage: number; // first usable one, at least 1
  readonly units: number; // units a page, at least 1
  readonly ids: number; // ids 0 to ids - 1 of its v2p table; id 0 is never bound
  readonly hostPages: number; // pages of its pool in host memory
  readonly isState: boolean; // ids are state slots, not the page ids of rows
}

/** @internal */
export interface ByteConfig {
  readonly arenaBytes: number;
  readonly bands: readonly ByteBand[]; // chain order
  readonly rows: number; // rows 1 to `rows`
  readonly rowPages: number; // cells a row
  readonly poison: boolean; // the arena opens full of 0x7fc1 16-bit words, else of zeros
  readonly checkReads: boolean; // forwards and sends compare what they read with what was expected
  readonly device: number;
}

/** What a device can do. @internal */
export interface ByteCapabilities {
  readonly name: string;
  readonly memoryBytes: number;
  readonly memoryFreeBytes: number;
  readonly readEnd: boolean; // a barrier waits for metadata reads, not for the forward's end
  readonly concurrentStreams: boolean; // work of different streams overlaps in time
  readonly computeMajor: number; // of a GPU, else 0
  readonly computeMinor: number;
}

/** A unit that was read while it held other bytes than expected. @internal */
export interface ByteFault {
  readonly kind: "forward" | "send" | "unbound"; // unbound: a forward found no page under an id it writes
  readonly handle: number;
  readonly band: number;
  readonly id: number; // 0 for a send
  readonly page: number; // 0 for unbound
  readonly unit: number;
  readonly expected: number; // stamp; for a send lane a of the page's hash
  readonly found: number;
}

/** Numbers that `hashPages` answers for a page. @internal */
export const HASH = { a: 0, b: 1, torn: 2, numbers: 3 } as const;

/** Numbers of a table that `readTable` reads. @internal */
export const TABLE = { v2p: 0, row: 1, forwards: 2 } as const;

/** An opened arena; all but `submit` and `query` wait for everything that was submitted. @internal */
export interface ByteArena {
  /** Queues a script; throws `ByteError` (`UT_INVALID`, nothing was done) for a malformed one. */
  submit(words: Int32Array, count: number): void;
  /** Hashes of pages over masked units, `HASH.numbers` a page. @param masks - ceil(units / 32) words a page */
  hashPages(band: number, pages: Int32Array, masks: Uint32Array): Uint32Array;
  /**
   * Physical token ids of logical ones: v2p[t / units] * units + t % units, 0 for what is not bound or out of range.
   * @param ids - `rows` x `columns` @param out - `rows` x `outColumns`; lanes beyond `columns` become 0
   */
  translate(
    band: number,
    ids: Int32Array | BigInt64Array,
    rows: number,
    columns: number,
    out: Int32Array | BigInt64Array,
    outColumns: number,
  ): void;
  /** Faults since the last call, at most `max` of them, and how many there were. */
  faults(max: number): { readonly count: number; readonly faults: readonly ByteFault[] };
  readBytes(offset: number, bytes: number): Uint8Array;
  readTable(table: number, index: number, count: number): Int32Array;
  /** Whether a handle's work is over; for tests and figures, never for a decision. */
  query(handle: number): boolean;
  /** Another geometry; all or nothing. */
  resize(config: ByteConfig): void;
  close(): void;
}

/** What opens arenas. @internal */
export interface ByteBackend {
  readonly name: string; // simulated, host, cuda
  deviceCount(): number;
  capabilities(device: number): ByteCapabilities;
  open(config: ByteConfig): ByteArena;
}

/** @internal */
export type ByteErrorCode = "UT_INVALID" | "UT_NO_MEMORY" | "UT_UNAVAILABLE" | "UT_LOST";

/** A call that failed; the message is one line. @internal */
export class ByteError extends Error {
  override readonly name = "ByteError";
  readonly code: ByteErrorCode;

  constructor(code: ByteErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a failed call means to a command: the machine lacks a device; anything but a `ByteError` stays what it is. @internal */
export function deviceProblem(device: string, error: unknown): unknown {
  if (!(error instanceof ByteError)) return error;
  const message = `device ${device}: ${error.message}`;
  return new EnvironmentError("device_unavailable", message, {}, error);
}
