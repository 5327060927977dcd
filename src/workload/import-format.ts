// What every importer of a foreign log is: lines of text in, lines of a trace out, one run in all.
import type { TraceLine } from "../trace/lines.js";
import type { ImportCounts } from "./import-tally.js";

/** Where a line of a log stands, for messages. @internal */
export interface LogPlace {
  readonly file: string;
  readonly line: number; // 1-based
}

/** @internal */
export interface TranslatorOptions {
  readonly time: boolean; // write `at_us`
  readonly arenaBytes: number | null; // stands in the run's configuration
}

/** Follows one log from its first line to its last. @internal */
export interface LogTranslator {
  /** Lines of the trace that are ready; whoever reads them empties the list. */
  readonly ready: TraceLine[];
  /** Takes the next line of the log. Throws `InputError`. */
  take(text: string, place: LogPlace): void;
  /** Ends the run. Throws `InputError` for a log without an event. */
  finish(file: string): void;
  /** What became of the events, once finished. */
  counts(): ImportCounts;
}

/** One format of foreign logs. @internal */
export interface ImportFormat {
  readonly name: string; // the word in front of the colon
  readonly about: string; // in a few words, for help
  readonly isRefused?: boolean; // known, but nothing can be made of it; opening says why
  /** Whether this is how the first line of such a log looks (comments are passed over, and behind a lone `{` stands what the
   * line after it begins with). */
  recognises(firstLine: string): boolean;
  /** The lines of a log that are no events: comments. */
  isComment(text: string): boolean;
  open(options: TranslatorOptions): LogTranslator;
}
