// Every hash of every key of a trace's lines.
import { inspect, inspectContext } from "../../trace/inspect.js";
import type { TraceLine } from "../../trace/lines.js";
import { findOperation } from "../../trace/operation-table.js";
import { OWN_STATE } from "./own-state.js";
import { renamed } from "./rename.js";
import type { Words } from "./rename.js";

/** Tells the hashes of a line, each as often as it stands there. @internal */
export function hashesOf(line: TraceLine, note: (hash: number | string) => void): void {
  const words: Words = {
    name: (text) => text,
    word: (text) => text,
    hash: (hash) => {
      note(hash);
      return hash;
    },
  };
  if (line.kind === "op" || line.kind === "call") {
    // a line that was read names an operation
    if (mayHoldKeys(line.args)) renamed(findOperation(line.op)!.args, line.args, words);
  } else if (line.kind === "state" && isOwn(line.state)) renamed(OWN_STATE, line.state, words);
}

// Keys stand under that name, in the arguments, in their lists, or one level below.
function mayHoldKeys(args: object): boolean {
  return Object.values(args).some((value) => typeof value === "object" && value !== null);
}

function isOwn(state: unknown): boolean {
  return inspect(OWN_STATE, state, inspectContext()) === null;
}
