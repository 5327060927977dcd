// A failing run, asked once more for its page maps: what was asked and answered becomes lines, and the lines a view.
import type { Answer, Operation } from "../../base/operations.js";
import type { OpLine, RunLine, TraceLine } from "../../trace/lines.js";
import type { Workload } from "../../workload/workload.js";
import { Candidate, givesDepth } from "../candidate.js";
import type { ToolControl } from "../pulse.js";
import { Pulse } from "../pulse.js";
import { derivedOf } from "../record-run.js";
import { collectView } from "./collect.js";
import type { MapImplementation } from "./map-source.js";
import type { ViewData } from "./view-data.js";

const GOES_ON = 200; // operations behind the failing one
const FRAMES_MAX = 4000;
const DEPTH = "layout";

/** @public */
export interface CaseViewOptions extends ToolControl {
  readonly workload: Workload;
  readonly implementation: MapImplementation;
  readonly n: number; // the operation at fault
}

/** @public */
export interface CaseView {
  readonly view: ViewData | null; // null: it could not be opened, or gave no answer at all
  readonly asked: Operation | null; // the operation at fault, null: the run did not come to it
  readonly answer: Answer | null; // null: the implementation broke there
}

/** Asks a run once more, a little behind the operation at fault, and collects its maps. Throws `CandidateError`. @public */
export async function collectCase(options: CaseViewOptions): Promise<CaseView> {
  const { workload, implementation, n, ...control } = options;
  const { line, operations, broken } = await driven(options);
  const lines: TraceLine[] = [line, ...operations];
  const view =
    operations.length === 0
      ? null
      : await collectView({
          ...{ trace: workload.run, lines, run: null, base: implementation, candidate: null },
          ...{ divergence: null, focus: [n], framesMax: FRAMES_MAX },
          ...control,
        });
  const found = operations.find((each) => each.n === n);
  return {
    view,
    asked: found ?? (broken?.n === n ? broken.operation : null),
    answer: found ?? null,
  };
}

interface Driven {
  readonly line: RunLine;
  readonly operations: readonly OpLine[];
  readonly broken: { readonly n: number; readonly operation: Operation } | null; // it gave no answer to this one
}

async function driven(options: CaseViewOptions): Promise<Driven> {
  const { workload, implementation, n: fault } = options;
  const { run, config, source } = workload;
  const candidate = new Candidate(implementation.start);
  const pulse = new Pulse(options);
  const operations: OpLine[] = [];
  try {
    const { info } = await candidate.ready();
    const depth = givesDepth(info.digest, DEPTH) ? DEPTH : null;
    const adapter = await candidate.open({ run, domain: "kv", config, digestDepth: depth });
    const line: RunLine = {
      ...{ kind: "run", run, domain: "kv", config, source, digest_depth: depth },
      ...derivedOf(config),
    };
    let answer: Answer | null = null;
    for (let n = 0; n <= fault + GOES_ON;) {
      const step = workload.next(answer);
      if (step === null) break;
      answer = null;
      if ("mark" in step) continue;
      const { operation } = step;
      const { answers, failure } = await adapter.apply([operation]);
      answer = answers[0] ?? null;
      if (answer === null || failure !== null) {
        pulse.throwIfInterrupted();
        return { line, operations, broken: { n, operation } };
      }
      operations.push({ kind: "op", n, ...operation, ...answer } as OpLine); // an answer to that operation
      if (pulse.count(1)) await pulse.breathe();
      n += 1;
    }
    return { line, operations, broken: null };
  } finally {
    await candidate.dispose();
  }
}
