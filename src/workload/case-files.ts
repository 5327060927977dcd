// Where saved cases stand: names in a folder, and what is under a name already.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { byCodeUnit } from "../base/canonical-json.js";
import { EnvironmentError } from "../base/errors.js";
import { openSink } from "../trace/writer-sink.js";

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

/** The JSON files of a folder whose names begin so, in name order. @internal */
export function caseFiles(folder: string, beginning: string): readonly CasePath[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json") && name.startsWith(beginning))
    .sort(byCodeUnit)
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs }));
}

/** Takes a file away, where there is one. @internal */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** Makes a folder, its parents too, where there is none. Throws `EnvironmentError`. @internal */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EnvironmentError("output_unwritable", `${path} cannot be made: ${why}`);
  }
}

/** Writes a file beside its name and renames it: a reader never sees half of it. Throws `EnvironmentError`. @internal */
export function writeWhole(path: string, text: string): void {
  const sink = openSink(path, 1);
  sink.write(Buffer.from(text));
  sink.commit();
}

/** The text of a file, null where it cannot be read. @internal */
export function textIfAny(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
