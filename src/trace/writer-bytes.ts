// Writes any file as traces are written: beside the final name, renamed when complete, packed where it ends in .gz.
import type { ByteSink } from "./writer-sink.js";
import { openSink } from "./writer-sink.js";

const BATCH_LENGTH = 64 * 1024; // UTF-16 units

/** An output that is no trace. After `commit` or `abort` only these may be called again. @public */
export class ByteWriter {
  bytes = 0; // handed over so far, before packing
  closed = false; // nobody reads any more (closed pipe): stop producing, this is no error
  readonly #sink: ByteSink;
  #text = "";
  #isOver = false;

  /** Throws `EnvironmentError` (`output_unwritable`). `stdoutFd`: what `-` writes to. */
  constructor(path: string, stdoutFd = 1) {
    this.#sink = openSink(path, stdoutFd);
  }

  /** Text, which is gathered. */
  text(text: string): void {
    this.#text += text;
    if (this.#text.length >= BATCH_LENGTH) this.#flush();
  }

  /** Bytes, written at once. */
  raw(bytes: Uint8Array): void {
    this.#flush();
    this.#write(bytes);
  }

  /** Finishes the file and gives it its name. Throws `EnvironmentError`. */
  commit(): void {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    this.#sink.commit();
  }

  /** Gives up: the file under the final name stays as it was. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#text = "";
    this.#sink.abort();
  }

  #flush(): void {
    if (this.#text === "") return;
    const bytes = Buffer.from(this.#text, "utf8");
    this.#text = "";
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.bytes += bytes.length;
    if (this.closed) return;
    try {
      if (!this.#sink.write(bytes)) this.closed = true;
    } catch (error) {
      this.#isOver = true; // the sink has given up
      throw error;
    }
  }
}
