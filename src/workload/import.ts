// Foreign logs by the word in front of the colon (`umpire:FILE`), or by what their first line looks like.
import { InputError, UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import { isReadAgain } from "../trace/reader-input.js";
import type { ImportFormat } from "./import-format.js";
import { LogReader } from "./import-reader.js";
import type { ImportOptions, ImportReader } from "./import-reader.js";
import { ANDROID } from "./import-android.js";
import { MALLOC_CSV, RMM } from "./import-csv-logs.js";
import { MINIMALLOC } from "./import-minimalloc.js";
import { PYTORCH, PYTORCH_ET } from "./import-pytorch.js";
import { UMPIRE } from "./import-umpire.js";
import { LineStream } from "./line-stream.js";

export type { ImportOptions, ImportReader } from "./import-reader.js";
export type { ImportCounts } from "./import-tally.js";

// A new format is one entry here and a file of its own.
const FORMATS: readonly ImportFormat[] = [
  UMPIRE,
  ANDROID,
  RMM,
  PYTORCH,
  MINIMALLOC,
  MALLOC_CSV,
  PYTORCH_ET,
];
const SERVED = FORMATS.filter(({ isRefused }) => isRefused !== true);
const FIRST_LINE_BYTES = 1 << 20; // a longer first line is none of a known log
const COMMENTS_MAX = 1000; // lines passed over in search of the first one

/** Formats that can be imported, each with a few words about it. @public */
export const IMPORT_FORMATS: readonly { readonly name: string; readonly about: string }[] =
  SERVED.map(({ name, about }) => ({ name, about }));

/** A log and its format. @internal */
export interface ForeignLog {
  readonly format: string;
  readonly file: string;
}

/** `FORMAT:FILE` taken apart; null where no known format stands in front. @internal */
export function namedLog(spec: string): ForeignLog | null {
  const colon = spec.indexOf(":");
  const format = spec.slice(0, Math.max(0, colon));
  if (!FORMATS.some(({ name }) => name === format)) return null;
  const file = spec.slice(colon + 1);
  if (file === "") throw new UsageError(`${spec}: expected a file behind it, ${format}:FILE`);
  return { format, file };
}

/** The file of a spec, without the format that may stand in front of it. @internal */
export function fileOfSpec(spec: string): string {
  return namedLog(spec)?.file ?? spec;
}

/**
 * The log that a spec names: `FORMAT:FILE`, or a file whose first line is one of a known format. Null for anything else,
 * and for what can be read only once. @internal
 */
export async function foreignLog(spec: string): Promise<ForeignLog | null> {
  const named = namedLog(spec);
  if (named !== null || spec === "-" || !isReadAgain(spec)) return named;
  const first = await firstLine(spec);
  const format = first === null ? undefined : FORMATS.find((one) => one.recognises(first));
  return format === undefined ? null : { format: format.name, file: spec };
}

/**
 * Opens a log: `FORMAT:FILE`, or a file that is recognised. Throws `UsageError` for an unknown format, `InputError` for
 * a file that is no log of a known one. @public
 */
export async function openImport(spec: string, options: ImportOptions = {}): Promise<ImportReader> {
  const log = await foreignLog(spec);
  if (log !== null) return openLog(log, options);
  await refuseRequests(spec);
  const known = SERVED.map(({ name }) => name);
  const word = /^([\w-]+):(?![/\\])./.exec(spec)?.[1];
  if (word !== undefined && !(await exists(spec))) {
    const nearest = nearestWord(word, known);
    const meant = nearest === null ? `known: ${known.join(", ")}` : `did you mean ${nearest}?`;
    throw new UsageError(`unknown format of logs "${word}"; ${meant}`);
  }
  if (spec === "-") {
    throw new UsageError(`-: name the format of standard input, such as ${known[0] ?? ""}:-`);
  }
  const expected = `a log of a known format (${known.join(", ")})`;
  throw new InputError("input_format", `the first line is none of ${expected}`, {
    file: spec,
    expected,
  });
}

/** Says what serves a trace of requests, which is no log of an allocator. */
async function refuseRequests(spec: string): Promise<void> {
  const word = /^([\w-]+):/.exec(spec)?.[1];
  if (word === undefined) return;
  const { REQUEST_TRACES } = await import("./request-traces.js");
  if (!REQUEST_TRACES.includes(word)) return;
  const how = `record or run --workload ${spec} serves it`;
  throw new UsageError(`${word} is a trace of requests and no allocator's log: ${how}`);
}

/** Opens a log whose format is known. @internal */
export function openLog(log: ForeignLog, options: ImportOptions): ImportReader {
  const format = FORMATS.find(({ name }) => name === log.format);
  if (format === undefined) throw new UsageError(`unknown format of logs "${log.format}"`);
  return new LogReader(log.file, format, options);
}

// Null where there is none, or where the file cannot be read: whoever opens it next says why.
async function firstLine(file: string): Promise<string | null> {
  let lines: LineStream | null = null;
  try {
    lines = new LineStream(file, { maxLineBytes: FIRST_LINE_BYTES });
    let passed = 0;
    let head = "";
    do {
      for (let line = lines.next(); line !== null; line = lines.next()) {
        const { text } = line;
        if (head !== "") return `${head} ${text}`;
        if (text.trim() === "{")
          head = text; // what it is stands in the next line
        else if (!FORMATS.some((format) => format.isComment(text))) return text;
        passed += 1;
        if (passed > COMMENTS_MAX) return null;
      }
    } while (await lines.more());
    return null;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  } finally {
    await lines?.close();
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await new LineStream(file).close();
    return true;
  } catch {
    return false;
  }
}
