// An implementation behind the protocol: lines in, lines out. All operations that one read brought are applied
// together and answered in one write.
import type { Writable } from "node:stream";
import { EXIT } from "../base/exit-codes.js";
import type { Adapter } from "./adapter.js";
import { LineSplitter } from "./line-splitter.js";
import { LINE_BYTES_MAX } from "./protocol.js";
import { RequestChecks } from "./request-checks.js";
import { type ServeResult, ServeSession } from "./serve-session.js";

/** @public */
export interface ServeOptions {
  /** Bytes from the tool. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Lines to the tool; not ended. */
  readonly output: Writable;
  /** Makes what is served; called once, at the hello. It is disposed of at the end. */
  readonly makeImplementation: () => Adapter | Promise<Adapter>;
  /** Whether configurations and arguments are checked against the operation table. Default true. */
  readonly checksArguments?: boolean;
}

/** Serves until the input ends or a line is bad. A reader that went away ends it quietly. @public */
export async function serveProtocol(options: ServeOptions): Promise<ServeResult> {
  const { input, output, makeImplementation } = options;
  const checks = options.checksArguments === false ? null : new RequestChecks();
  const session = new ServeSession(makeImplementation, checks);
  const splitter = new LineSplitter(LINE_BYTES_MAX);
  const reader = { isGone: false };
  const onClosed = (): void => {
    reader.isGone = true;
  };
  output.on("error", onClosed);
  output.on("close", onClosed);
  try {
    for await (const chunk of input) {
      const lines = splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      const text = splitter.isOverlong
        ? session.refuse(EXIT.badFile, "a line is longer than 64 MiB")
        : await session.takeLines(lines);
      if (text !== "" && !reader.isGone) await written(output, text);
      if (session.result !== null) return session.result;
      if (reader.isGone) return { exitCode: EXIT.ok, message: null };
    }
    const rest = splitter.rest().trim();
    if (rest === "") return { exitCode: EXIT.ok, message: null };
    await written(output, session.refuse(EXIT.badFile, "the input ends in the middle of a line"));
    return session.result ?? { exitCode: EXIT.badFile, message: null };
  } finally {
    await session.dispose();
    output.off("close", onClosed); // the error listener stays: a late EPIPE must not end the process
  }
}

// Resolves when the stream took the text, or can take no more.
function written(output: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed) resolve();
    else {
      output.write(text, () => {
        resolve();
      });
    }
  });
}
