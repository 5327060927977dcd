// The documents of `show FILE`.
import type { OpLine } from "../trace/lines.js";
import type { SideLook, Look, Snapshot, StateSource } from "../tools/view/look.js";
import { mapChanges } from "../tools/view/changes.js";
import type { Listing } from "../tools/view/list-operations.js";
import { errorOrNull } from "./error-json.js";

/** `parted`: the implementation does not answer as recorded, so that its states were not taken. @public */
export type ShowVerdict = "shown" | "parted" | "incomplete";

/** @public */
export function lookVerdict({ parting, isPartial }: Look): ShowVerdict {
  if (parting !== null) return "parted";
  return isPartial ? "incomplete" : "shown";
}

/** @public */
export function listingVerdict({ isPartial, error }: Listing): ShowVerdict {
  return isPartial || error !== null ? "incomplete" : "shown";
}

/** `show --op`. @param hasState - the full states as well @public */
export function lookJson(look: Look, hasState: boolean): unknown {
  const { run, line, base, candidate, parting, operations, replayed } = look;
  return {
    command: "show",
    verdict: lookVerdict(look),
    run: run.run,
    domain: run.domain,
    n: line.n,
    op: line.op,
    args: line.args,
    base: sideJson(base, hasState),
    candidate: candidate && sideJson(candidate, hasState),
    parting,
    operations,
    replayed,
    error: null,
  };
}

function sideJson(side: SideLook, hasState: boolean): unknown {
  const { spec, answer, failure, before, after, source } = side;
  const maps =
    before?.kind === "kv" && after?.kind === "kv" && before.map !== null && after.map !== null
      ? mapChanges(before.map, after.map)
      : null;
  return {
    spec,
    answer,
    failure,
    source: sourceJson(source),
    before: before?.map ?? null,
    after: after?.map ?? null,
    changes: maps,
    ...(hasState ? { state: stateOf(after) } : {}),
  };
}

function stateOf(snapshot: Snapshot | null): unknown {
  return snapshot?.kind === "kv" ? snapshot.state : null;
}

function sourceJson(source: StateSource): unknown {
  if (source.from !== "replay") return source;
  const { isChecked, ...told } = source;
  return { ...told, digests_compared: isChecked };
}

/** `show FILE` without an operation. @public */
export function listingJson(listing: Listing): unknown {
  const { runs, runCount, lines, omitted, operations, error } = listing;
  return {
    command: "show",
    verdict: listingVerdict(listing),
    runs,
    run_count: runCount,
    lines: lines?.map(lineJson) ?? null,
    omitted,
    operations,
    error: errorOrNull(error),
  };
}

function lineJson({ kind: _kind, ...line }: OpLine): unknown {
  return line;
}
