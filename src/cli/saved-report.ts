// What a saved JSON report of `compare` or `run` says of its first failure: enough to find it again.
import { InputError } from "../base/errors.js";
import type { JsonFile } from "../workload/json-file.js";
import { traceHash } from "./trace-hash.js";

/** The failure of a report: a run of a trace, or a scenario on a configuration. @internal */
export interface SavedFailure {
  readonly kind: "trace" | "scenario";
  readonly file: string;
  readonly run: string | null; // of a scenario: the configuration, null: its own
  readonly candidate?: string;
}

type Bag = Readonly<Record<string, unknown>>;

/** Null where the file is no report. Throws `InputError` for one that holds no failure that can be found again. @internal */
export function savedReport(json: JsonFile, run: string | null): SavedFailure | null {
  const { value, file } = json;
  if (!isBag(value) || (value["command"] !== "compare" && value["command"] !== "run")) return null;
  return value["command"] === "compare" ? ofCompare(value, file, run) : ofRun(value, file, run);
}

function ofCompare(report: Bag, file: string, wanted: string | null): SavedFailure {
  const runs = listOf(report["runs"]).filter((run) => run["verdict"] === "divergent");
  const first = isBag(report["first"]) ? report["first"]["run"] : undefined;
  const run = runs.find((one) => one["run"] === (wanted ?? first)) ?? null;
  if (run === null) throw none(file, wanted);
  const base = isBag(report["base"]) ? report["base"] : {};
  const candidate = listOf(report["candidates"])[0]?.["spec"];
  const trace = base["spec"];
  if (typeof trace !== "string" || trace === "-" || typeof candidate !== "string") {
    throw wrong(file, "the report does not name a trace that can be read again");
  }
  if (/\.jsonl(\.gz|\.zst)?$/.test(candidate)) {
    throw wrong(file, "the report compares two traces: shrinking needs implementations");
  }
  const hash = traceHash(trace);
  if (typeof base["trace"] === "string" && hash !== null && hash !== base["trace"]) {
    throw wrong(file, `the trace ${trace} is another one than the report is about`);
  }
  return { kind: "trace", file: trace, run: String(run["run"]), candidate };
}

function ofRun(report: Bag, file: string, wanted: string | null): SavedFailure {
  const failed = listOf(report["scenarios"]).find(
    (one) =>
      one["verdict"] === "failed" &&
      typeof one["file"] === "string" &&
      (wanted === null || one["name"] === wanted || one["config"] === wanted),
  );
  if (failed === undefined) throw none(file, wanted);
  const { config } = failed;
  return {
    kind: "scenario",
    file: String(failed["file"]),
    run: typeof config === "string" ? config : null,
  };
}

function none(file: string, wanted: string | null): InputError {
  return wrong(file, `the report holds no failure${wanted === null ? "" : ` of ${wanted}`}`);
}

function wrong(file: string, message: string): InputError {
  return new InputError("input_format", message, { file });
}

function listOf(value: unknown): readonly Bag[] {
  return Array.isArray(value) ? value.filter(isBag) : [];
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
