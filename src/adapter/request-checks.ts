// What the operation table says of the tool's messages: configurations, arguments, band names. Used by `serve`, so
// that a wrong message is named as such and never reaches the allocator.
import type { Operation } from "../base/operations.js";
import { DIRECT_CONFIG, MODEL_CONFIG } from "../trace/config-spec.js";
import { inspect, inspectContext, type Problem } from "../trace/inspect.js";
import { findOperation } from "../trace/operation-table.js";
import { configProblem, runWords } from "../trace/run-words.js";
import type { RunOpening } from "./adapter.js";

/** Checks the messages of one conversation; knows the bands of the run that was opened last. @internal */
export class RequestChecks {
  #context: ReturnType<typeof inspectContext> = inspectContext();

  /** What is wrong with a run's configuration, or null. */
  openingProblem({ domain, config }: RunOpening): string | null {
    const spec = "model" in config ? MODEL_CONFIG : DIRECT_CONFIG;
    const problem =
      inspect(spec, config, inspectContext(), "/config") ?? configProblem(config, "/config");
    if (problem !== null) return described(problem);
    this.#context = inspectContext(runWords(domain, config));
    return null;
  }

  /** What is wrong with an operation's arguments, or null. */
  operationProblem({ op, args }: Operation): string | null {
    const entry = findOperation(op);
    if (entry === undefined) return "not an operation of this version";
    const problem = inspect(entry.args, args, this.#context, "/args");
    return problem === null ? null : described(problem);
  }
}

function described({ path, message, expected }: Problem): string {
  const end = message.includes("did you mean") ? "" : `; expected ${expected}`;
  return `${path}: ${message}${end}`;
}
