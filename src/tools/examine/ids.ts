// The ids that an answer names, list by list: what it handed out or named, what came back, what moved.
import type { Answer, Extents, OperationName } from "../../base/operations.js";
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec } from "../../trace/fields.js";
import { memberSpec } from "../../trace/fields.js";
import { below } from "../../trace/messages.js";
import { findOperation } from "../../trace/operation-table.js";
import { isPairs } from "../id-lists.js";

/** How an answer names ids. @public */
export type IdUse = "given" | "returned" | "moved here" | "moved away";

/** One list of ids in an answer. @internal */
export interface NamedIds {
  readonly path: string; // JSON pointer below the answer
  readonly space: string; // a band, `virtual`, `slots`, `rows`, `host BAND`
  readonly use: IdUse;
  readonly ids: Extents;
}

const BACK: ReadonlySet<string> = new Set(["freed", "released"]);

/** Every list of ids in the result and the effects of an answer; lists that are none, of another's answer, are left out. @internal */
export function namedIds(op: OperationName, answer: Answer): readonly NamedIds[] {
  const found: NamedIds[] = [];
  for (const [index, effect] of (answer.fx ?? []).entries()) {
    const path = `/fx/${index}`;
    if (effect[0] === "move") {
      const [, space, pairs] = effect;
      if (!isPairs(pairs)) continue;
      const [away, here] = [0, 1].map((side) =>
        pairs.map((pair): [number, number] => [pair[side]!, 1]),
      );
      found.push(
        { path, space, use: "moved away", ids: away! },
        { path, space, use: "moved here", ids: here! },
      );
    } else if (effect[0] === "zero") {
      found.push({ path, space: effect[1], use: "given", ids: effect[2] });
    }
  }
  const spec = findOperation(op)?.ok;
  if (spec !== undefined) walk(spec, answer.ok, { path: "/ok", key: "", use: "given" }, found);
  return found.filter(({ ids }) => isPairs(ids));
}

interface Place {
  readonly path: string;
  readonly key: string;
  readonly use: IdUse;
}

function walk(spec: AnySpec, value: unknown, place: Place, found: NamedIds[]): void {
  if (value === undefined || value === null) return;
  const { path, key, use } = place;
  switch (spec.type) {
    case "extents": {
      const space = spec.space === "key" ? key : spec.space === "host" ? `host ${key}` : spec.space;
      found.push({ path, space, use, ids: value as Extents });
      return;
    }
    case "integer":
      if (spec.space === undefined || spec.space === "unnamed") return;
      found.push({ path, space: spec.space, use, ids: [[value as number, 1]] });
      return;
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      if (chosen !== null) walk(chosen, value, place, found);
      return;
    }
    case "map":
    case "object":
    case "banded":
      for (const [name, member] of Object.entries(value)) {
        const { of, isKey } = memberSpec(spec, name);
        if (of === null) continue;
        walk(
          of,
          member,
          {
            path: below(path, name),
            key: isKey || key === "" ? name : key,
            use: BACK.has(name) ? "returned" : use,
          },
          found,
        );
      }
      return;
    default:
      return;
  }
}

/** Whether a list names an id. Walks runs, never single ids. @internal */
export function names(ids: Extents, id: number): boolean {
  for (const [first, count] of ids) {
    const [low, high] = count > 0 ? [first, first + count - 1] : [first + count + 1, first];
    if (first !== 0 && id >= low && id <= high) return true;
    if (first === 0 && id === 0) return true;
  }
  return false;
}
