// Where saved cases stand: names in a folder, and what is under a name already.
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { byCodeUnit } from "../base/canonical-json.js";

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
