// Which file an output name means, what it was before, and the names beside it that a writer uses until it is whole.
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const NAME_BYTES_MAX = 255; // of one file, on every usual file system
const LINKS_MAX = 40; // as many as the system follows
const PARTIAL = ".partial";

/** What stands under a name already. @internal */
export interface EarlierFile {
  readonly isDirectory: boolean;
  readonly mode: number; // permission bits
  readonly uid: number;
  readonly gid: number;
}

/**
 * The file that is written where a name is given: the one that links lead to, though it may not exist yet. Throws the
 * system's error where the name is too long, a folder is missing or links lead in a circle. @internal
 */
export function targetOf(path: string): string {
  let target = path;
  for (let links = 0; isLink(target); links++) {
    if (links === LINKS_MAX) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
    target = resolve(realpathSync(dirname(target)), readlinkSync(target));
  }
  return target;
}

/** The file under a name, null for none. @internal */
export function earlierFile(target: string): EarlierFile | null {
  const stat = statSync(target, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const { mode, uid, gid } = stat;
  return { isDirectory: stat.isDirectory(), mode: mode & 0o777, uid, gid };
}

/** A name beside the final one that no other writer uses; short where the final one leaves no room. @internal */
export function temporaryName(target: string): string {
  for (let i = 0; ; i++) {
    const ending = `.${process.pid}.${i}${PARTIAL}`;
    const name = `${basename(target)}${ending}`;
    const isLong = Buffer.byteLength(name) > NAME_BYTES_MAX;
    const path = join(dirname(target), isLong ? `.unified-trace${ending}` : name);
    if (!existsSync(path)) return path;
  }
}

/**
 * The name beside the final one of what is not whole. It keeps the ending that tells how the file is packed, so that it
 * can be read; a name that leaves no room for more is cut in front of that. @internal
 */
export function partialName(target: string): string {
  const name = basename(target);
  const ending = `${/(?:\.jsonl?)?(?:\.gz)?$/.exec(name)?.[0] ?? ""}${PARTIAL}`;
  let stem = name.slice(0, name.length - (ending.length - PARTIAL.length));
  while (stem !== "" && Buffer.byteLength(stem + ending) > NAME_BYTES_MAX) {
    stem = stem.replace(/.$/su, "");
  }
  return join(dirname(target), stem + ending);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
