// The JSON document of `shrink`: the same keys whatever came of it.
import type { Judgement, Looked } from "../tools/shrink/case.js";
import type { ShrinkReport, WrittenCase } from "../tools/shrink/shrink-to-file.js";
import { findingJson, signatureJson } from "./finding-json.js";

const NOTHING = {
  command: "shrink",
  verdict: "not_repeated",
  run: null,
  by: null,
  note: null,
  stopped: null,
  signature: null, // of the failure that was looked for
  finding: null,
  judgements: [], // what its runs showed, where it did not repeat
  out: null,
  from: 0,
  resumed: false,
  alone: null,
  shown_by_run: null,
  tried: 0,
  runs: 0,
  judged: 0,
  passes: [],
  others: [],
  case: null,
  operations: 0,
} as const;

/** The document of a `shrink` that met nothing that fails. @public */
export function nothingToShrinkJson(note: string, looked: Looked): unknown {
  return { ...NOTHING, note, ...lookedJson(looked) };
}

function lookedJson({ runs, operations }: Looked): object {
  return { runs, judged: operations };
}

/** The document of `shrink`. @public */
export function shrinkJson(report: ShrinkReport): unknown {
  const { result, written, name, by, note } = report;
  const common = { ...NOTHING, run: name, by, note, ...lookedJson(report.looked) };
  if (result.kind === "not repeated") {
    const { wanted, judgements } = result;
    return {
      ...common,
      signature: wanted === null ? null : signatureJson(wanted),
      judgements: judgements.map(judgementJson),
    };
  }
  const { best, stopped } = result;
  return {
    ...common,
    verdict: report.isAlone === false ? "not_repeated" : stopped === null ? "shrunk" : "stopped",
    stopped,
    signature: signatureJson(best.finding.signature),
    finding: findingJson(best.finding),
    out: written?.file ?? null,
    from: result.from,
    resumed: result.isResumed,
    alone: report.isAlone,
    shown_by_run: report.isShownByRun,
    tried: result.tried,
    passes: result.passes,
    others: report.others.map(otherJson),
    case: best.case,
    operations: best.case.ops.length,
  };
}

function judgementJson(judgement: Judgement): object {
  const { kind } = judgement;
  return {
    kind,
    n: kind === "passes" ? null : kind === "invalid" ? judgement.n : judgement.finding.n,
    finding: kind === "fails" ? findingJson(judgement.finding) : null,
  };
}

function otherJson({ file, operations, finding }: WrittenCase): object {
  return { file, operations, finding: findingJson(finding) };
}
