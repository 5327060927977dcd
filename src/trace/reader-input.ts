// Opens inputs of any kind without ever waiting inside a system call: a pipe whose writer is slow, or does not come at
// all, must not keep signals from being handled.
import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { isatty, ReadStream } from "node:tty";
import { InputError } from "../base/errors.js";

/** An open input. @internal */
export interface InputFile {
  readonly path: string;
  readonly fd: number;
  readonly kind: "file" | "pipe" | "terminal" | "device";
}

/** Opens a path; it never waits for a pipe's writer. Throws `InputError`. @internal */
export function openInput(path: string): InputFile {
  let fd: number;
  try {
    // not there on every system; it means nothing for a plain file
    fd = openSync(path, constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0));
  } catch (error) {
    throw unreadable(path, error);
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { path, fd, kind: "file" };
  if (stat.isDirectory()) {
    closeSync(fd);
    throw new InputError("input_unreadable", "is a directory, expected a file", { file: path });
  }
  if (stat.isFIFO() || stat.isSocket()) return { path, fd, kind: "pipe" };
  return { path, fd, kind: isatty(fd) ? "terminal" : "device" };
}

/** Whether a path can be read twice, or not at all: it is no pipe and no device. @internal */
export function isReadAgain(path: string): boolean {
  if (path === "-") return false;
  try {
    const stat = statSync(path);
    return stat.isFile() || stat.isDirectory();
  } catch {
    return true; // opening it says what is wrong
  }
}

/**
 * The bytes of an open input as a stream, which closes it. Only `device` and `file` may occupy a thread.
 * @param pieceBytes - most bytes at once of a file
 * @internal
 */
export function streamOf(
  { path, fd, kind }: InputFile,
  pieceBytes: number = 1 << 18,
): NodeJS.ReadableStream {
  switch (kind) {
    case "pipe":
      return new Socket({ fd, readable: true, writable: false });
    case "terminal":
      return new ReadStream(fd);
    case "file":
    case "device":
      return createReadStream(path, { fd, highWaterMark: pieceBytes });
  }
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
    case "ENXIO":
      return "cannot be opened: it is a socket, or a device that is not there";
    case "Z_DATA_ERROR":
    case "Z_BUF_ERROR":
    case "Z_NEED_DICT":
      return "is no readable gzip file";
    default:
      return `cannot be read (${code ?? String(error)})`;
  }
}
