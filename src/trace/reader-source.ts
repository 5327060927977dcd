// Where a reader's bytes come from: a plain file (read synchronously, which is several times faster), or a stream
// (gzip, zstd, standard input, pipes and devices).
import { closeSync, readSync } from "node:fs";
import { EnvironmentError, InputError } from "../base/errors.js";
import type { InputFile } from "./reader-input.js";
import { openInput, streamOf, unreadable } from "./reader-input.js";
import { zlib } from "./zlib.js";

/** Bytes in order. @internal */
export interface ByteSource {
  /** Fills `target` from `offset` on; the number of bytes written, 0 at the end. */
  fill(target: Buffer, offset: number): number | Promise<number>;
  /** At the end: whether a packed file stops inside its packing, so that more should have come. */
  readonly isCut: boolean;
  close(): Promise<void>;
}

/** What "-" reads, and what ends a wait for bytes. @internal */
export interface SourceOptions {
  readonly stdin?: NodeJS.ReadableStream | undefined;
  readonly signal?: AbortSignal | undefined; // aborted: `fill` throws its reason
  readonly start?: number | undefined; // bytes, after unpacking, that are passed over
  readonly isTorn?: boolean | undefined; // a packed file is unpacked in small pieces: up to where it is damaged
}

/** Opens a path by its suffix, or the given stream for `-`. Throws `InputError`, `EnvironmentError`. @internal */
export function openSource(path: string, options: SourceOptions = {}): ByteSource {
  const { start = 0 } = options;
  const source = openWhole(path, options);
  return start === 0 || source.pass(start) ? source : new LateSource(source, start);
}

const FIRST_PIECE = 1 << 16; // bytes; whoever stops after a few lines does not wait for the memory of a whole buffer
const TORN_PIECE = 1024; // what comes of the piece with the damage in it is lost

function openWhole(path: string, { stdin, signal, isTorn }: SourceOptions): ByteSource & Passing {
  if (path === "-") {
    if (stdin === undefined)
      throw new InputError("input_unreadable", "no standard input", { file: path });
    return new StreamSource(path, stdin, signal);
  }
  const input = openInput(path);
  if (path.endsWith(".gz") || path.endsWith(".gz.partial")) {
    const decoder = zlib().createGunzip({ chunkSize: 1 << 18 });
    const piece = isTorn === true ? TORN_PIECE : undefined;
    return new StreamSource(path, unpacked(input, decoder, piece), signal);
  }
  if (path.endsWith(".zst")) return new StreamSource(path, unpacked(input, zstd(input)), signal);
  if (input.kind === "file") return new FileSource(path, input.fd);
  return new StreamSource(path, streamOf(input), signal);
}

/** What knows how to begin later. */
interface Passing {
  /** Passes over the first bytes; false where they must be read. */
  pass(bytes: number): boolean;
}

/** Begins behind bytes that must be read to be passed over. */
class LateSource implements ByteSource {
  readonly #inner: ByteSource;
  #left: number; // bytes to pass over

  constructor(inner: ByteSource, bytes: number) {
    this.#inner = inner;
    this.#left = bytes;
  }
  get isCut(): boolean {
    return this.#inner.isCut;
  }
  async fill(target: Buffer, offset: number): Promise<number> {
    for (;;) {
      const count = await this.#inner.fill(target, offset);
      if (count === 0 || this.#left === 0) return count;
      const passed = Math.min(count, this.#left);
      this.#left -= passed;
      if (passed === count) continue;
      target.copyWithin(offset, offset + passed, offset + count);
      return count - passed;
    }
  }
  async close(): Promise<void> {
    await this.#inner.close();
  }
}

function zstd({ path, fd }: InputFile): NodeJS.ReadWriteStream {
  // Node 22.15 and later; the types are those of Node 20
  const create = (zlib() as unknown as Record<string, unknown>)["createZstdDecompress"];
  if (typeof create === "function") return (create as () => NodeJS.ReadWriteStream)();
  closeSync(fd);
  const message =
    "this Node cannot read .zst: decompress the file first, or use Node 22.15 or later";
  throw new EnvironmentError("environment", message, { file: path });
}

function unpacked(
  input: InputFile,
  decoder: NodeJS.ReadWriteStream,
  pieceBytes?: number,
): NodeJS.ReadableStream {
  const raw = streamOf(input, pieceBytes);
  raw.on("error", (error: Error) => {
    destroy(decoder, error);
  });
  decoder.on("close", () => {
    destroy(raw);
  });
  return raw.pipe(decoder);
}

/** Every stream of Node has the method; the type of all streams does not. */
function destroy(stream: NodeJS.ReadableStream | NodeJS.ReadWriteStream, cause?: Error): void {
  (stream as unknown as { destroy?(cause?: Error): void }).destroy?.(cause);
}

class FileSource implements ByteSource, Passing {
  readonly isCut = false;
  #position: number | null = null; // null: where the system is
  #piece = FIRST_PIECE; // most bytes of the next read; doubles
  readonly #path: string;
  #fd: number | null;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  fill(target: Buffer, offset: number): number {
    if (this.#fd === null) return 0;
    try {
      const bytes = Math.min(target.length - offset, this.#piece);
      if (bytes === this.#piece) this.#piece *= 2;
      const count = readSync(this.#fd, target, offset, bytes, this.#position);
      if (this.#position !== null) this.#position += count;
      return count;
    } catch (error) {
      throw unreadable(this.#path, error);
    }
  }

  pass(bytes: number): boolean {
    this.#position = bytes;
    return true;
  }

  close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = null;
    if (fd !== null) closeSync(fd);
    return Promise.resolve();
  }
}

const QUEUE_CHUNKS = 4; // a faster stream waits

// Chunks are queued by hand: an iterator would drop those that came before an error.
class StreamSource implements ByteSource, Passing {
  readonly #path: string;
  readonly #stream: NodeJS.ReadableStream;
  readonly #queue: Buffer[] = [];
  #error: unknown = null;
  #isOver = false;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    this.#rouse();
  };
  isCut = false;

  constructor(path: string, stream: NodeJS.ReadableStream, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#stream = stream;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
    stream.on("data", (chunk: string | Buffer) => {
      this.#queue.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      if (this.#queue.length >= QUEUE_CHUNKS) stream.pause();
      this.#rouse();
    });
    stream.on("error", (error: unknown) => {
      this.#error ??= error;
      this.#finish();
    });
    stream.on("end", () => {
      this.#finish();
    });
    stream.on("close", () => {
      this.#finish();
    });
  }

  pass(): boolean {
    return false;
  }

  async fill(target: Buffer, offset: number): Promise<number> {
    for (;;) {
      this.#signal?.throwIfAborted();
      if (this.#queue.length > 0) break;
      if (this.#isOver) return this.#end();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#stream.resume();
      });
    }
    const chunk = this.#queue[0]!; // the loop saw one
    const count = chunk.copy(target, offset);
    if (count === chunk.length) this.#queue.shift();
    else this.#queue[0] = chunk.subarray(count);
    return count;
  }

  close(): Promise<void> {
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    destroy(this.#stream);
    return Promise.resolve();
  }

  // A packed stream that stops inside is a file cut short; what came before it is whole.
  #end(): number {
    if (this.#error === null) return 0;
    if ((this.#error as { code?: string }).code !== "Z_BUF_ERROR") {
      throw unreadable(this.#path, this.#error);
    }
    this.isCut = true;
    return 0;
  }

  #finish(): void {
    this.#isOver = true;
    this.#rouse();
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
