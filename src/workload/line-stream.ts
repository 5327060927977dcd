// Lines of a text file, packed or not, streamed: memory does not grow with the file.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { InputError } from "../base/errors.js";
import { unreadable } from "./json-file.js";

const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;

/**
 * Gives each line with its 1-based number to `take` until it answers false; line ends are LF or CRLF, and a last line
 * without one counts. Throws `InputError` for a file that cannot be read or unpacked, or a line over 64 Mi
 * characters. @internal
 */
export async function eachLine(
  file: string,
  take: (line: string, number: number) => boolean,
): Promise<void> {
  const source = createReadStream(file);
  const gunzip = file.endsWith(".gz") ? createGunzip() : null;
  const splitter = new LineSplitter(file, take);
  const sink = (chunks: AsyncIterable<Buffer>): Promise<void> => splitter.drink(chunks);
  try {
    if (gunzip === null) await pipeline(source, sink);
    else await pipeline(source, gunzip, sink);
  } catch (error) {
    // leaving early closes the pipes, which is no failure
    if (splitter.isDone) return;
    if (error instanceof InputError) throw error;
    throw new InputError("input_unreadable", reason(error), { file }, error);
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("Z_") ? "is not a whole gzip file" : unreadable(error);
}

class LineSplitter {
  readonly #file: string;
  readonly #take: (line: string, number: number) => boolean;
  readonly #decoder = new TextDecoder("utf-8");
  #rest = "";
  #number = 0;
  isDone = false; // `take` asked for no more

  constructor(file: string, take: (line: string, number: number) => boolean) {
    this.#file = file;
    this.#take = take;
  }

  async drink(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) {
      const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
      this.#rest = lines.pop() ?? "";
      if (this.#rest.length > LINE_CHARACTERS_MAX) {
        const message = `line longer than ${String(LINE_CHARACTERS_MAX)} characters`;
        throw new InputError("input_format", message, { file: this.#file, line: this.#number + 1 });
      }
      for (const line of lines) if (!this.#give(line)) return;
    }
    const last = this.#rest + this.#decoder.decode();
    if (last !== "") this.#give(last);
  }

  #give(line: string): boolean {
    this.#number += 1;
    if (!this.#take(line.endsWith("\r") ? line.slice(0, -1) : line, this.#number))
      this.isDone = true;
    return !this.isDone;
  }
}
