// Names a trace by what is in it, for reports. Only the first 16 MiB are read, so that a verdict on a long trace does
// not wait for its end; they are read and hashed beside whatever else goes on.
import { webcrypto } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";

const BYTES_MAX = 16 * 1024 * 1024;

/**
 * `sha256 …` with 16 digits, of the whole file or of its first 16 MiB; null for what can be read only once (standard
 * input, pipes, devices) and for what cannot be read. Never rejects. @internal
 */
export async function traceHash(path: string): Promise<string | null> {
  if (path === "-") return null;
  try {
    if (!(await stat(path)).isFile()) return null; // not even opened: a pipe's writer would notice
    const { hex, isWhole } = await hashFile(path);
    return isWhole ? `sha256 ${hex}` : `sha256 of its first 16 MiB ${hex}`;
  } catch {
    return null; // the reader tells why it cannot be read
  }
}

async function hashFile(path: string): Promise<{ hex: string; isWhole: boolean }> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.allocUnsafe(Math.min(size, BYTES_MAX) + 1); // one more: whether anything follows
    const got = await fill(file, bytes);
    const digest = await webcrypto.subtle.digest(
      "SHA-256",
      bytes.subarray(0, Math.min(got, BYTES_MAX)),
    );
    return { hex: Buffer.from(digest).toString("hex").slice(0, 16), isWhole: got <= BYTES_MAX };
  } finally {
    await file.close();
  }
}

async function fill(file: FileHandle, bytes: Buffer): Promise<number> {
  let held = 0;
  while (held < bytes.length) {
    const { bytesRead } = await file.read(bytes, held, bytes.length - held, held);
    if (bytesRead === 0) break;
    held += bytesRead;
  }
  return held;
}
