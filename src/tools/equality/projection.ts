// What stays of an answer when it does not matter where pages lie: lists of ids become their numbers, single ids become
// "an id", and what follows from places alone is left out.
import type { Extent } from "../../base/operations.js";
import { pickAlternative } from "../../trace/alternatives.js";
import { type AnySpec, memberSpec } from "../../trace/fields.js";
import { isPairs } from "../id-lists.js";

/** A value of a spec without its placement. @internal */
export function withoutPlacement(spec: AnySpec, value: unknown): unknown {
  if (value === undefined || value === null || spec.isPlacement === true) {
    return spec.isPlacement === true ? undefined : value;
  }
  switch (spec.type) {
    case "integer":
      if (spec.space === undefined) return value;
      // an address is nothing but a place, and who keeps it to himself has granted as much
      return spec.space === "unnamed" || spec.space === "address" ? undefined : "an id";
    case "extents":
      return isPairs(value) ? countsOf(value, spec.zero === "unbound") : value;
    case "list":
      if (!Array.isArray(value)) return value;
      return (value as readonly unknown[]).map((item) => withoutPlacement(spec.of, item));
    case "map":
    case "object":
    case "banded": {
      if (typeof value !== "object" || Array.isArray(value)) return value;
      const kept: Record<string, unknown> = {};
      for (const [key, member] of Object.entries(value as Readonly<Record<string, unknown>>)) {
        if (key.startsWith("x_")) continue;
        const { of } = memberSpec(spec, key);
        const left = of === null ? member : withoutPlacement(of, member);
        if (left !== undefined) kept[key] = left;
      }
      return kept;
    }
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      return chosen === null ? value : withoutPlacement(chosen, value);
    }
    default:
      return value;
  }
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
