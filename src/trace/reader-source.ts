// Where a reader's bytes come from: a plain file (read synchronously, which is several times faster), or a stream
// (gzip, zstd, standard input).
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import * as zlib from "node:zlib";
import { EnvironmentError, InputError } from "../base/errors.js";

/** Bytes in order. @internal */
export interface ByteSource {
  /** Fills `target` from `offset` on; the number of bytes written, 0 at the end. */
  fill(target: Buffer, offset: number): number | Promise<number>;
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
    // without a final flush a cut file ends early instead of losing its last chunk to an error
    const finishFlush = zlib.constants.Z_SYNC_FLUSH;
    return new StreamSource(
      path,
      unpacked(path, fd, zlib.createGunzip({ finishFlush, chunkSize: 1 << 18 })),
    );
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

class StreamSource implements ByteSource {
  readonly #path: string;
  readonly #stream: NodeJS.ReadableStream;
  readonly #chunks: AsyncIterator<string | Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(path: string, stream: NodeJS.ReadableStream) {
    this.#path = path;
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async fill(target: Buffer, offset: number): Promise<number> {
    while (this.#chunk.length === 0) {
      let step: IteratorResult<string | Buffer, unknown>;
      try {
        step = await this.#chunks.next();
      } catch (error) {
        throw unreadable(this.#path, error);
      }
      if (step.done === true) return 0;
      this.#chunk = typeof step.value === "string" ? Buffer.from(step.value) : step.value;
    }
    const count = this.#chunk.copy(target, offset);
    this.#chunk = this.#chunk.subarray(count);
    return count;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
    (this.#stream as unknown as { destroy?(): void }).destroy?.();
  }
}
