// The backward slice of a divergence: for each id in which the two answers first differ, the last operation before it
// that gave it its place or took it away.
import { idsOf } from "../../base/extents.js";
import type { AnsweredLine } from "../answered-line.js";
import type { Divergence, Origin } from "../outcome.js";
import { type NamedIds, namedIds, names } from "./ids.js";

const ORIGINS_MAX = 8;

interface Wanted {
  readonly side: "base" | "candidate";
  readonly space: string;
  readonly id: number;
  found: Omit<Origin, "side" | "space" | "id"> | null;
}

/** Looks for the origins while a run is read up to its divergence. @internal */
export class Origins {
  readonly #wanted: readonly Wanted[];

  constructor(divergence: Divergence) {
    this.#wanted = differingIds(divergence);
  }

  /** Takes note of an operation before the divergence, which both sides answered alike. */
  note(line: AnsweredLine): void {
    if (this.#wanted.length === 0 || line.ok === undefined) return;
    const lists = namedIds(line.op, line);
    for (const wanted of this.#wanted) {
      for (const { space, use, ids } of lists) {
        if (space !== wanted.space || !names(ids, wanted.id)) continue;
        wanted.found = { n: line.n, op: line.op, use };
      }
    }
  }

  /** What was found; an id that no operation had named has no origin. */
  list(): readonly Origin[] {
    return this.#wanted.flatMap(({ side, space, id, found }) =>
      found === null ? [] : [{ side, space, id, ...found }],
    );
  }
}

/** The first id of each list in which the sides part, of either side. */
function differingIds({ op, base, candidate, place }: Divergence): readonly Wanted[] {
  if (place !== "at" || base === null || candidate === null) return [];
  const name = op as AnsweredLine["op"]; // it stood on a line that was checked
  const [left, right] = [namedIds(name, base), namedIds(name, candidate)];
  const found: Wanted[] = [];
  const add = (side: Wanted["side"], space: string, id: number | undefined): void => {
    if (id === undefined || id === 0 || found.length >= ORIGINS_MAX) return;
    const isKnown = found.some((each) => each.space === space && each.id === id);
    if (!isKnown) found.push({ side, space, id, found: null });
  };
  for (const list of left) {
    const other = right.find(({ path, use }) => path === list.path && use === list.use);
    if (other?.space !== list.space) continue;
    const [base_, candidate_] = firstDifference(list, other);
    add("base", list.space, base_);
    add("candidate", list.space, candidate_);
  }
  return found;
}

function firstDifference(
  base: NamedIds,
  candidate: NamedIds,
): readonly [number | undefined, number | undefined] {
  const [left, right] = [idsOf(base.ids), idsOf(candidate.ids)];
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    const [id, otherId] = [one.done ? undefined : one.value, other.done ? undefined : other.value];
    if (id === undefined && otherId === undefined) return [undefined, undefined];
    if (id !== otherId) return [id, otherId];
  }
}
