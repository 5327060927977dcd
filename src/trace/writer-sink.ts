// Where a writer's bytes go: a file written beside its final name and renamed, optionally packed, or a descriptor.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { EnvironmentError } from "../base/errors.js";
import type { EarlierFile } from "./writer-target.js";
import { zlib } from "./zlib.js";
import { earlierFile, partialName, targetOf, temporaryName } from "./writer-target.js";

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
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links lead in a circle",
};

/** Why the system did not let something be written, in words. @internal */
export function writeReason(error: unknown): string {
  const { code } = error as { code?: string };
  return REASONS[code ?? ""] ?? code ?? String(error);
}

function failure(path: string, error: unknown): EnvironmentError {
  return unwritable(path, writeReason(error), error);
}

/** Writes all bytes, waiting where the descriptor is slow. Throws what the system says. @internal */
export function writeAll(fd: number, bytes: Uint8Array): void {
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
    try {
      // the file that a link leads to is replaced, not the link
      this.#target = targetOf(path);
      const earlier = earlierFile(this.#target);
      if (earlier?.isDirectory === true) throw unwritable(path, "is a directory");
      this.#temporary = temporaryName(this.#target);
      this.#fd = openSync(this.#temporary, "wx", earlier?.mode ?? 0o666);
      if (earlier !== null) keepOwnership(this.#fd, earlier);
    } catch (error) {
      throw error instanceof EnvironmentError ? error : failure(path, error);
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
    const beside = partialName(this.#target);
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

/** Whoever could read or write the earlier file can do so with the new one, and nobody else. */
function keepOwnership(fd: number, { mode, uid, gid }: EarlierFile): void {
  let kept = mode;
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // Only root gives files away. What was a right of that group is none of another group.
    if (fstatSync(fd).gid !== gid) kept &= 0o707 | ((mode & 0o007) << 3);
  }
  fchmodSync(fd, kept);
}

/** One gzip member a batch, which any reader joins; the header tells no time and no system. */
class GzipSink implements ByteSink {
  readonly #inner: ByteSink;

  constructor(inner: ByteSink) {
    this.#inner = inner;
  }
  write(bytes: Uint8Array): boolean {
    const packed = zlib().gzipSync(bytes, { level: 1 });
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
