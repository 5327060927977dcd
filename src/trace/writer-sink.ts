// Where a writer's bytes go: a file written beside its final name and renamed, optionally packed, or a descriptor.
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { gzipSync } from "node:zlib";
import { EnvironmentError } from "../base/errors.js";

/** @internal */
export interface ByteSink {
  /** Hands bytes over; false when nobody reads any more. Throws `EnvironmentError`. */
  write(bytes: Uint8Array): boolean;
  /** Finishes: the file gets its name. */
  commit(): void;
  /** Finishes under a name of its own beside the final one and gives that; null where there are no names. */
  commitPartial(): string | null;
  /** Gives up; leaves the file under the final name as it was. */
  abort(): void;
}

/** Opens an output by its suffix, or a descriptor for `-`. Throws `EnvironmentError`. @internal */
export function openSink(path: string, stdoutFd: number): ByteSink {
  if (path === "-") return new DescriptorSink("standard output", stdoutFd, false);
  if (path.endsWith(".zst")) {
    throw unwritable(path, ".zst is read but not written: use .gz, or no compression");
  }
  const file = isSpecial(path) ? openSpecial(path) : new FileSink(path);
  return path.endsWith(".gz") ? new GzipSink(file) : file;
}

function unwritable(path: string, reason: string, cause?: unknown): EnvironmentError {
  const place = { file: path };
  return new EnvironmentError("output_unwritable", `cannot be written: ${reason}`, place, cause);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is no folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  EISDIR: "is a directory",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
};

function failure(path: string, error: unknown): EnvironmentError {
  const { code } = error as { code?: string };
  return unwritable(path, REASONS[code ?? ""] ?? code ?? String(error), error);
}

/** Writes all bytes, waiting where the descriptor is slow. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(fd, bytes, offset, bytes.length - offset);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      // a pipe that is full: wait a moment for its reader
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

/** A device or a pipe (such as /dev/null) cannot be replaced by a file: it is written directly. */
function isSpecial(path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && !stat.isFile() && !stat.isDirectory();
  } catch {
    return false; // opening it as a file says what is wrong
  }
}

function openSpecial(path: string): DescriptorSink {
  try {
    return new DescriptorSink(path, openSync(path, "w"), true);
  } catch (error) {
    throw failure(path, error);
  }
}

class DescriptorSink implements ByteSink {
  readonly #name: string;
  readonly #fd: number;
  #isOwned: boolean;

  constructor(name: string, fd: number, isOwned: boolean) {
    this.#name = name;
    this.#fd = fd;
    this.#isOwned = isOwned;
  }
  write(bytes: Uint8Array): boolean {
    try {
      writeAll(this.#fd, bytes);
      return true;
    } catch (error) {
      const { code } = error as { code?: string };
      // a reader that has gone ends the work quietly
      if (code === "EPIPE" || (code === "EBADF" && !this.#isOwned)) return false;
      this.abort();
      throw failure(this.#name, error);
    }
  }
  commit(): void {
    // standard output belongs to the process
    if (this.#isOwned) closeSync(this.#fd);
    this.#isOwned = false;
  }
  commitPartial(): null {
    this.commit();
    return null;
  }
  abort(): void {
    this.commit(); // what has been written stays written
  }
}

class FileSink implements ByteSink {
  readonly #path: string;
  readonly #target: string;
  readonly #temporary: string;
  #fd: number | null;

  constructor(path: string) {
    this.#path = path;
    // the file that a link leads to is replaced, not the link
    this.#target = existsSync(path) && isLink(path) ? realpathSync(path) : path;
    if (existsSync(path) && statSync(path).isDirectory()) throw unwritable(path, "is a directory");
    this.#temporary = freeName(this.#target);
    try {
      this.#fd = openSync(this.#temporary, "wx");
    } catch (error) {
      throw failure(path, error);
    }
  }

  write(bytes: Uint8Array): boolean {
    if (this.#fd === null) return false;
    try {
      writeAll(this.#fd, bytes);
      return true;
    } catch (error) {
      this.abort();
      throw failure(this.#path, error);
    }
  }

  commit(): void {
    this.#finishAs(this.#target);
  }

  commitPartial(): string {
    const beside = `${this.#target}.partial`;
    this.#finishAs(beside);
    return beside;
  }

  #finishAs(name: string): void {
    if (this.#fd === null) return;
    try {
      closeSync(this.#fd);
      this.#fd = null;
      renameSync(this.#temporary, name);
    } catch (error) {
      this.abort();
      rmSync(this.#temporary, { force: true });
      throw failure(this.#path, error);
    }
  }

  abort(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    this.#fd = null;
    closeSync(fd);
    rmSync(this.#temporary, { force: true });
  }
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

/** A name beside the final one that no other writer uses. */
function freeName(path: string): string {
  for (let i = 0; ; i++) {
    const name = `${path}.${process.pid}.${i}.partial`;
    if (!existsSync(name)) return name;
  }
}

/** One gzip member a batch, which any reader joins; the header tells no time and no system. */
class GzipSink implements ByteSink {
  readonly #inner: ByteSink;

  constructor(inner: ByteSink) {
    this.#inner = inner;
  }
  write(bytes: Uint8Array): boolean {
    const packed = gzipSync(bytes, { level: 1 });
    packed[9] = 255; // operating system: unknown
    return this.#inner.write(packed);
  }
  commit(): void {
    this.#inner.commit();
  }
  commitPartial(): string | null {
    return this.#inner.commitPartial();
  }
  abort(): void {
    this.#inner.abort();
  }
}
