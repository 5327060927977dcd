// Pipes and devices among the files that are otherwise read at once: read ahead, without waiting inside a system call,
// so that a writer that does not come keeps no signal from being handled.
import { InputError } from "../base/errors.js";
import { isReadAgain } from "../trace/reader-input.js";
import { openSource } from "../trace/reader-source.js";
import type { ReadInputs } from "./json-file.js";
import { BYTES_MAX } from "./json-file.js";

/** Reads those of the paths that are a pipe or a device. Throws `InputError`, or the reason of `signal`. @internal */
export async function readInputs(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadInputs> {
  const read = new Map<string, Buffer>();
  for (const path of paths) {
    if (path !== "-" && !isReadAgain(path) && !read.has(path))
      read.set(path, await readAll(path, signal));
  }
  return read;
}

async function readAll(path: string, signal: AbortSignal): Promise<Buffer> {
  const source = openSource(path, { signal });
  let bytes = Buffer.alloc(64 * 1024);
  let length = 0;
  try {
    for (;;) {
      const count = await source.fill(bytes, length);
      length += count;
      if (count === 0) return bytes.subarray(0, length);
      if (length > BYTES_MAX) {
        const message = `is longer than ${String(BYTES_MAX)} bytes, which is the limit`;
        throw new InputError("input_format", message, { file: path });
      }
      if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
    }
  } finally {
    await source.close();
  }
}
