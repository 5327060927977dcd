// What carries the lines of the protocol: a child process or a worker thread. A transport knows lines, not messages.

/** What a transport tells its owner. Nothing is told after `onEnd`. @internal */
export interface TransportListener {
  /** Whole lines in order, without line feeds; all that one read brought. */
  onLines(lines: readonly string[]): void;
  /** A line grew past the limit; nothing of it was kept. */
  onLineTooLong(): void;
  /** The other side is gone and every line it wrote was delivered; `reason` says how it ended, in a few words. */
  onEnd(reason: string, hasStarted: boolean): void;
}

/** @internal */
export interface Transport {
  /** Starts the other side. Called once, before all else; failures arrive as `onEnd`. */
  start(listener: TransportListener): void;
  /** Sends whole lines, each ended by a line feed. Lost in silence when the other side is gone: `onEnd` tells. */
  write(text: string): void;
  /** Ends the other side, `finish` after a moment to end by itself, and resolves when it is gone. May be repeated. */
  stop(manner: "finish" | "kill"): Promise<void>;
  /** The last 4 KiB of what the other side wrote as its log. */
  logTail(): string;
}

/** Keeps the last bytes of a log. @internal */
export class LogTail {
  static readonly BYTES_MAX = 4096;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > 4 * LogTail.BYTES_MAX) this.#trim();
  }

  /** The tail as text; a character cut in two at its start is left out. */
  text(): string {
    this.#trim();
    return Buffer.concat(this.#chunks)
      .toString("utf8")
      .replace(/^\ufffd+/, "");
  }

  #trim(): void {
    const tail = Buffer.concat(this.#chunks).subarray(-LogTail.BYTES_MAX);
    this.#chunks = [Buffer.from(tail)]; // a copy, so that the large chunk can go
    this.#sizeBytes = tail.length;
  }
}
