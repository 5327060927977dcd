// Names a trace by what is in it, for reports. Only the first 1 MiB are read, so that a verdict on a long trace does not
// wait for its end.
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";

const BYTES_MAX = 1024 * 1024;

/**
 * `sha256 …` with 16 digits, of the whole file or of its first 1 MiB; null for what can be read only once (standard
 * input, pipes, devices) and for what cannot be read. @internal
 */
export function traceHash(path: string): string | null {
  if (path === "-") return null;
  try {
    if (!statSync(path).isFile()) return null; // not even opened: a pipe's writer would notice
    const { hex, isWhole } = hashFile(path);
    return isWhole ? `sha256 ${hex}` : `sha256 of its first 1 MiB ${hex}`;
  } catch {
    return null; // the reader tells why it cannot be read
  }
}

function hashFile(path: string): { hex: string; isWhole: boolean } {
  const file = openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafe(64 * 1024);
    let left = BYTES_MAX;
    for (;;) {
      const count = readSync(file, buffer, 0, buffer.length, null);
      if (count === 0 || left === 0)
        return { hex: hash.digest("hex").slice(0, 16), isWhole: count === 0 };
      const used = Math.min(count, left);
      hash.update(buffer.subarray(0, used));
      left -= used;
    }
  } finally {
    closeSync(file);
  }
}
