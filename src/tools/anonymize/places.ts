// Places inside values, as JSON pointers, under other names.
import type { AnySpec } from "../../trace/fields.js";
import { memberSpec } from "../../trace/fields.js";
import { pickAlternative } from "../../trace/alternatives.js";
import { below } from "../../trace/messages.js";
import type { Words } from "./rename.js";

/** A place and what the specs say of the value there, null: nothing. @internal */
export interface Place {
  readonly path: string;
  readonly spec: AnySpec | null;
}

/** The steps of a pointer. @internal */
export function stepsOf(path: string): readonly string[] {
  const steps = path.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A place under other names: keys of maps that name something are replaced. @internal */
export function renamedPlace(
  spec: AnySpec,
  path: string,
  steps: readonly string[],
  words: Words,
): Place {
  let place: Place = { path, spec };
  for (const step of steps) place = below1(place, step, words);
  return place;
}

function below1({ path, spec }: Place, step: string, words: Words): Place {
  if (spec === null) return { path: below(path, step), spec };
  switch (spec.type) {
    case "list":
      return { path: below(path, step), spec: spec.of };
    case "tuple":
      return { path: below(path, step), spec: spec.of[Number(step)] ?? null };
    case "map": {
      const isName = spec.keys === "request" || spec.keys === "any";
      return { path: below(path, isName ? words.name(step) : step), spec: spec.of };
    }
    case "object":
    case "banded":
      return { path: below(path, step), spec: memberSpec(spec, step).of };
    case "either":
      // alternatives that have members at all are told apart by them
      return below1({ path, spec: pickAlternative(spec.of, { [step]: null }) }, step, words);
    default:
      return { path: below(path, step), spec: null };
  }
}

/** The value at a place, undefined where nothing is. @internal */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found = value;
  for (const step of steps) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step))
      return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found;
}
