// Canonical key order: the fields of an object in the order of their spec, then `x_` keys as they stood; the keys of a
// map (bands, requests) as they stood, since their order is the writer's to choose.
import { pickAlternative } from "./alternatives.js";
import type { AnySpec, Fields } from "./fields.js";
import { fieldSpec } from "./fields.js";
import {
  END_LINE,
  HEADER_LINE,
  MARK_LINE,
  RUN_LINES,
  STATE_LINE,
  callLine,
  opLine,
} from "./line-specs.js";
import type { TraceLine } from "./lines.js";
import { findOperation } from "./operation-table.js";

type Bag = Readonly<Record<string, unknown>>;

/** One line of canonical JSON without its line feed; an empty `fx` or `digest` is left out. @public */
export function canonicalLine(line: TraceLine): string {
  const copy = canonicalValue(lineSpec(line), line) as Record<string, unknown>;
  for (const key of ["fx", "digest"]) {
    const value = copy[key];
    // an undefined member is no text
    if (typeof value === "object" && Object.keys(value ?? {}).length === 0) copy[key] = undefined;
  }
  return JSON.stringify(copy);
}

/** A copy of a value in canonical key order. @internal */
export function canonicalValue(spec: AnySpec, value: unknown): unknown {
  switch (spec.type) {
    case "list":
      return (value as readonly unknown[]).map((item) => canonicalValue(spec.of, item));
    case "tuple":
      // a tuple has as many items as its spec
      return (value as readonly unknown[]).map((item, i) => canonicalValue(spec.of[i]!, item));
    case "map":
      return copyKeys({}, spec.of, {}, value as Bag);
    case "object":
      return copyKeys(spec.fields, spec.rest ?? null, {}, value as Bag);
    case "banded":
      return copyKeys(spec.before, spec.of, spec.after, value as Bag);
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      return chosen === null ? value : canonicalValue(chosen, value);
    }
    default:
      return value;
  }
}

function copyKeys(before: Fields, of: AnySpec | null, after: Fields, bag: Bag): Bag {
  const copy: Record<string, unknown> = {};
  const put = (fields: Fields): void => {
    for (const [key, field] of Object.entries(fields)) {
      if (bag[key] !== undefined)
        define(copy, key, canonicalValue(fieldSpec(field).spec, bag[key]));
    }
  };
  const isField = (key: string): boolean => Object.hasOwn(before, key) || Object.hasOwn(after, key);
  put(before);
  const extensions: string[] = [];
  for (const key of Object.keys(bag)) {
    if (isField(key)) continue;
    if (of === null || key.startsWith("x_")) extensions.push(key);
    else define(copy, key, canonicalValue(of, bag[key]));
  }
  put(after);
  for (const key of extensions) define(copy, key, bag[key]);
  return copy;
}

// An own property whatever its name, `__proto__` too.
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function lineSpec(line: TraceLine): AnySpec {
  switch (line.kind) {
    case "trace":
      return HEADER_LINE;
    case "run":
      return RUN_LINES[line.domain];
    case "op":
    case "call": {
      const spec = findOperation(line.op);
      if (spec === undefined) return { type: "anything" };
      return line.kind === "op" ? opLine(spec) : callLine(spec);
    }
    case "mark":
      return MARK_LINE;
    case "state":
      return STATE_LINE;
    case "end":
      return END_LINE;
  }
}
