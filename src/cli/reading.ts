// Flags of the commands that read traces.
import type { Command } from "commander";
import process from "node:process";
import type { ReaderOptions } from "../trace/reader.js";
import { byteSize } from "./flags.js";
import type { Session } from "./session.js";

/** @internal */
export interface ReadingFlags {
  readonly acceptTruncated?: boolean;
  readonly lenient?: boolean;
  readonly maxLine?: number; // bytes
}

/** Adds `--accept-truncated`, `--lenient`, `--max-line`. @internal */
export function addReadingFlags(command: Command): Command {
  return command
    .option("--accept-truncated", "use the complete part of a truncated trace (exit 6)")
    .option("--lenient", "leave unknown keys out instead of refusing them (exit 6)")
    .option(
      "--max-line <size>",
      "longest line that is read, such as 64m (default: 64m)",
      byteSize("--max-line"),
    );
}

/** What the reader is told. @internal */
export function readerOptions(flags: ReadingFlags, session: Session): ReaderOptions {
  return {
    // made only where it is read: that alone takes milliseconds
    get stdin() {
      return process.stdin;
    },
    signal: session.signal,
    acceptTruncated: flags.acceptTruncated === true,
    lenient: flags.lenient === true,
    ...(flags.maxLine === undefined ? {} : { maxLineBytes: flags.maxLine }),
  };
}
