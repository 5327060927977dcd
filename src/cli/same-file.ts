// Whether two names lead to one file.
import type { Stats } from "node:fs";
import { statSync } from "node:fs";
import { resolve } from "node:path";

/** Also of names that lead nowhere yet, where they are one name. @internal */
export function isSameFile(left: string, right: string): boolean {
  if (resolve(left) === resolve(right)) return true;
  const [one, other] = [statsOf(left), statsOf(right)];
  return one !== null && one.ino === other?.ino && one.dev === other.dev;
}

/** Null where the name leads to nothing that can be reached: who opens it tells why. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
