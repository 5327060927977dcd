// What stays of an answer when it does not matter where pages lie: lists of ids become their numbers, single ids become
// "an id", and what follows from places alone is left out.
import type { Extent } from "../../base/operations.js";
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec, Fields } from "../../trace/fields.js";
import { fieldSpec } from "../../trace/fields.js";

type Bag = Readonly<Record<string, unknown>>;

/** A value of a spec without its placement. @internal */
export function withoutPlacement(spec: AnySpec, value: unknown): unknown {
  if (value === undefined || value === null || spec.isPlacement === true) {
    return spec.isPlacement === true ? undefined : value;
  }
  switch (spec.type) {
    case "integer":
      return spec.space === undefined ? value : spec.space === "unnamed" ? undefined : "an id";
    case "extents":
      return countsOf(value as readonly Extent[], spec.zero === "unbound");
    case "list":
      return (value as readonly unknown[]).map((item) => withoutPlacement(spec.of, item));
    case "map":
      return mapped(value as Bag, () => spec.of);
    case "object":
      return mapped(value as Bag, (key) => field(spec.fields, key) ?? spec.rest ?? null);
    case "banded":
      return mapped(
        value as Bag,
        (key) => field(spec.before, key) ?? field(spec.after, key) ?? spec.of,
      );
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      return chosen === null ? value : withoutPlacement(chosen, value);
    }
    default:
      return value;
  }
}

function mapped(bag: Bag, specOf: (key: string) => AnySpec | null): Bag {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(bag)) {
    if (key.startsWith("x_")) continue;
    const spec = specOf(key);
    const kept = spec === null ? value : withoutPlacement(spec, value);
    if (kept !== undefined) result[key] = kept;
  }
  return result;
}

function field(fields: Fields, key: string): AnySpec | null {
  const found = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return found === undefined ? null : fieldSpec(found).spec;
}

/** How many ids, and in a window's list how many unbound pages beside them. */
function countsOf(extents: readonly Extent[], isZeroUnbound: boolean): unknown {
  let ids = 0;
  let unbound = 0;
  for (const [first, count] of extents) {
    if (first === 0 && isZeroUnbound) unbound += count;
    else ids += Math.abs(count);
  }
  return unbound === 0 ? ids : { ids, unbound };
}
