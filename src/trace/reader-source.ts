// Where a reader's bytes come from: a plain file (read synchronously, which is several times faster), or a stream
// (gzip, zstd, standard input).
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import * as zlib from "node:zlib";
import { EnvironmentError, InputError } from "../base/errors.js";

/** Bytes in order. @internal */
export interface ByteSource {
  /** Fills `target` from `offset` on; the number of bytes written, 0 at the end. */
  fill(target: Buffer, offset: number): number | Promise<number>;
  /** At the end: whether a packed file stops inside its packing, so that more should have come. */
  readonly isCut: boolean;
  close(): Promise<void>;
}

/** Opens a path by its suffix, or the given stream for `-`. Throws `InputError`, `EnvironmentError`. @internal */
export function openSource(path: string, stdin: NodeJS.ReadableStream | undefined): ByteSource {
  if (path === "-") {
    if (stdin === undefined)
      throw new InputError("input_unreadable", "no standard input", { file: path });
    return new StreamSource(path, stdin);
  }
  const fd = openFile(path);
  if (path.endsWith(".gz") || path.endsWith(".gz.partial")) {
    return new StreamSource(path, unpacked(path, fd, zlib.createGunzip({ chunkSize: 1 << 18 })));
  }
  if (path.endsWith(".zst")) return new StreamSource(path, unpacked(path, fd, zstd(path, fd)));
  return new FileSource(path, fd);
}

function openFile(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    throw unreadable(path, error);
  }
  if (!fstatSync(fd).isDirectory()) return fd;
  closeSync(fd);
  throw new InputError("input_unreadable", "is a directory, expected a file", { file: path });
}

function zstd(path: string, fd: number): NodeJS.ReadWriteStream {
  // Node 22.15 and later; the types are those of Node 20
  const create = (zlib as unknown as Record<string, unknown>)["createZstdDecompress"];
  if (typeof create === "function") return (create as () => NodeJS.ReadWriteStream)();
  closeSync(fd);
  const message =
    "this Node cannot read .zst: decompress the file first, or use Node 22.15 or later";
  throw new EnvironmentError("environment", message, { file: path });
}

function unpacked(
  path: string,
  fd: number,
  decoder: NodeJS.ReadWriteStream,
): NodeJS.ReadableStream {
  const raw = createReadStream(path, { fd, highWaterMark: 1 << 18 });
  raw.on("error", (error) =>
    (decoder as unknown as { destroy(cause: Error): void }).destroy(error),
  );
  decoder.on("close", () => raw.destroy());
  return raw.pipe(decoder);
}

/** An input that cannot be opened or read, as one clear line. @internal */
export function unreadable(path: string, error: unknown): InputError {
  const { code } = error as { code?: string };
  return new InputError("input_unreadable", reasonOf(code, error), { file: path }, error);
}

function reasonOf(code: string | undefined, error: unknown): string {
  switch (code) {
    case "ENOENT":
      return "no such file";
    case "EACCES":
    case "EPERM":
      return "may not be read (permission denied)";
    case "EISDIR":
      return "is a directory, expected a file";
    case "Z_DATA_ERROR":
    case "Z_BUF_ERROR":
    case "Z_NEED_DICT":
      return "is no readable gzip file";
    default:
      return `cannot be read (${code ?? String(error)})`;
  }
}

class FileSource implements ByteSource {
  readonly isCut = false;
  readonly #path: string;
  #fd: number | null;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  fill(target: Buffer, offset: number): number {
    if (this.#fd === null) return 0;
    try {
      return readSync(this.#fd, target, offset, target.length - offset, null);
    } catch (error) {
      throw unreadable(this.#path, error);
    }
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
class StreamSource implements ByteSource {
  readonly #path: string;
  readonly #stream: NodeJS.ReadableStream;
  readonly #queue: Buffer[] = [];
  #error: unknown = null;
  #isOver = false;
  #wake: (() => void) | null = null;
  isCut = false;

  constructor(path: string, stream: NodeJS.ReadableStream) {
    this.#path = path;
    this.#stream = stream;
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

  async fill(target: Buffer, offset: number): Promise<number> {
    while (this.#queue.length === 0) {
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
    (this.#stream as unknown as { destroy?(): void }).destroy?.();
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
