// A bundle is a trace: the runs that matter, and in its first line, under `x_bundle`, what whoever gets it wants to know.
// Everything that reads traces reads it, and nothing compares that key.
import { InputError } from "../base/errors.js";
import type { HeaderLine, RunLine, TraceLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { createTraceWriter } from "../trace/writer.js";
import type { OnProgress } from "./outcome.js";
import { withoutFolders } from "./bundle-words.js";

const ABOUT_MAX = 32 * 1024 * 1024; // characters of the first line: readers take lines of 64 MiB

/** @public */
export interface BundleOptions {
  readonly trace: string;
  readonly out: string;
  readonly runs: ReadonlySet<string> | null; // those to keep; null: all
  readonly about: Readonly<Record<string, unknown>>; // becomes `x_bundle`
  readonly reader?: ReaderOptions;
  readonly onProgress?: OnProgress;
}

/** @public */
export interface BundleResult {
  readonly runs: number;
  readonly operations: number;
  readonly leftOut: number; // runs
}

/**
 * Writes a bundle. Throws `InputError` for a bad trace and for a run that it lacks, `EnvironmentError`; the file under the
 * final name stays as it was then. @public
 */
export async function writeBundle(options: BundleOptions): Promise<BundleResult> {
  const { trace, out, runs: wanted, about, onProgress } = options;
  const reader = await openTrace(trace, options.reader ?? {});
  const met = new Set<string>();
  const counts = { runs: 0, operations: 0, leftOut: 0 };
  let writer: ReturnType<typeof createTraceWriter> | null = null;
  let isKept = true;
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) break;
      writer ??= createTraceWriter(out);
      for (const line of lines) {
        if (line.kind === "run") {
          isKept = wanted === null || wanted.has(line.run);
          if (isKept) counts.runs += 1;
          else counts.leftOut += 1;
          met.add(line.run);
        }
        if (!isKept) continue;
        if (line.kind === "op") counts.operations += 1;
        writer.line(lineOf(line, about));
      }
      onProgress?.({ runs: counts.runs, operations: counts.operations, run: null });
    }
    const [missing] = [...(wanted ?? [])].filter((run) => !met.has(run));
    if (missing !== undefined) {
      const message = `has no run ${missing}, which the report is about`;
      throw new InputError("input_format", message, { file: trace });
    }
    if (counts.operations === 0) {
      const message = "holds no operation, so nothing was bundled";
      throw new InputError("trace_structure", message, { file: trace });
    }
    writer?.commit();
    return counts;
  } finally {
    writer?.abort(); // after a commit this does nothing
    await reader.close();
  }
}

function lineOf(line: TraceLine, about: Readonly<Record<string, unknown>>): TraceLine {
  if (line.kind === "trace") return bundleHeader(line, about);
  if (line.kind === "run") {
    // what was made from a file of this machine names it without its folders
    const entries = Object.entries(line.source).map(([key, value]) => [
      key,
      typeof value === "string" ? withoutFolders(value) : value,
    ]);
    return { ...line, source: Object.fromEntries(entries) as RunLine["source"] }; // the same keys and kinds of value
  }
  if (line.kind === "op" && line.site !== undefined) {
    return { ...line, site: withoutFolders(line.site) };
  }
  return line;
}

/** The first line of a bundle. Throws `InputError` where readers would not take it. @internal */
export function bundleHeader(
  line: HeaderLine,
  about: Readonly<Record<string, unknown>>,
): HeaderLine {
  if (JSON.stringify(about).length > ABOUT_MAX) {
    const message = "the report is too long for a bundle: at most 32 MiB of JSON";
    throw new InputError("input_format", message);
  }
  const header = { ...line, x_bundle: about };
  return header;
}
