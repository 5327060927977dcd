// Whether two names lead to one file.
import type { Stats } from "node:fs";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../base/errors.js";

/** Also of names that lead nowhere yet, where they are one name. @internal */
export function isSameFile(left: string, right: string): boolean {
  if (resolve(left) === resolve(right)) return true;
  const [one, other] = [statsOf(left), statsOf(right)];
  return one !== null && one.ino === other?.ino && one.dev === other.dev;
}

/** Refuses outputs that are also read. Throws `UsageError`. @internal */
export function refuseOverInputs(
  outputs: readonly (readonly [flag: string, file: string | undefined])[],
  inputs: readonly (string | undefined)[],
): void {
  for (const [flag, file] of outputs) {
    if (file === undefined || file === "-") continue;
    if (inputs.some((input) => input !== undefined && isSameFile(input, file)))
      throw new UsageError(`${flag} ${file} is read as well: give it a file of its own`);
  }
}

/** Null where the name leads to nothing that can be reached: who opens it tells why. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
