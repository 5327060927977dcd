// Where saved cases stand: names in a folder, and what is under a name already.
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { byCodeUnit } from "../base/canonical-json.js";
import { EnvironmentError } from "../base/errors.js";
import { unreadable } from "../trace/reader-input.js";
import { openSink, writeReason } from "../trace/writer-sink.js";

/** A file that may hold a case. @internal */
export interface CasePath {
  readonly path: string;
  readonly at: number; // last written, milliseconds
}

/** What stands under a name; null: nothing. @internal */
export function fileKind(path: string): "file" | "folder" | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() ? "folder" : "file";
}

/** The JSON files of a folder whose names begin so, in name order. Throws `InputError`. @internal */
export function caseFiles(folder: string, beginning: string): readonly CasePath[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json") && name.startsWith(beginning))
      .sort(byCodeUnit)
      .map((name) => join(folder, name))
      .flatMap((path) => {
        const stat = statSync(path, { throwIfNoEntry: false }); // undefined: somebody took it away meanwhile
        return stat === undefined ? [] : [{ path, at: stat.mtimeMs }];
      });
  } catch (error) {
    throw unreadable(folder, error);
  }
}

/** Takes a file away, where there is one. @internal */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** Makes a folder, its parents too, where there is none. Throws `EnvironmentError`. @internal */
export function makeFolder(path: string): void {
  try {
    // One by one: asked for all at once, Node tries for ever below a folder that takes none, such as /proc.
    const missing: string[] = [];
    for (let at = resolve(path); fileKind(at) === null && at !== dirname(at); at = dirname(at))
      missing.push(at);
    for (const folder of missing.reverse()) makeOne(folder);
  } catch (error) {
    // what it would stand in is there
    const isRefused = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw notMade(path, isRefused ? "no folder can be made there" : writeReason(error), error);
  }
  if (fileKind(path) !== "folder") throw notMade(path, "there is a file of this name");
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // another process may have made it meanwhile
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function notMade(path: string, reason: string, cause?: unknown): EnvironmentError {
  const place = { file: path };
  return new EnvironmentError("output_unwritable", `cannot be made: ${reason}`, place, cause);
}

/** Gives a file another name, in place of what has that name. Throws `EnvironmentError`. @internal */
export function renameFile(path: string, name: string): void {
  try {
    renameSync(path, name);
  } catch (error) {
    const message = `cannot be renamed to ${name}: ${writeReason(error)}`;
    throw new EnvironmentError("output_unwritable", message, { file: path }, error);
  }
}

/** Writes a file beside its name and renames it: a reader never sees half of it. Throws `EnvironmentError`. @internal */
export function writeWhole(path: string, text: string): void {
  const sink = openSink(path, 1);
  sink.write(Buffer.from(text));
  sink.commit();
}

/** Tells the file under a name from another one that takes its place; null: there is none. @internal */
export function fileStamp(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
}

const LOCK_WAIT_MS = 10;
const LOCK_WAITS = 1000; // for one lock: whoever made it was killed, since work under it takes milliseconds

/** Does short work while no other process does work under the same lock file. Throws `EnvironmentError`. @internal */
export function withLock(path: string, work: () => void): void {
  let seen: string | null = null;
  let waits = 0;
  while (!takesLock(path)) {
    const stamp = fileStamp(path);
    waits = stamp === seen ? waits + 1 : 0;
    seen = stamp;
    if (waits > LOCK_WAITS) removeFile(path);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_WAIT_MS);
  }
  try {
    work();
  } finally {
    removeFile(path);
  }
}

function takesLock(path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    const message = `cannot be written: ${writeReason(error)}`;
    throw new EnvironmentError("output_unwritable", message, { file: path }, error);
  }
}
