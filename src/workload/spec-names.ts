// The names in an operation's arguments and what the operation does to them, read off the operation table.
import type { Operation } from "../base/operations.js";
import type { AnySpec, NameKind, NameRole } from "../trace/fields.js";
import { fieldSpec } from "../trace/fields.js";
import { pickAlternative } from "../trace/alternatives.js";
import { findOperation } from "../trace/operation-table.js";

/** @internal */
export interface NameUse {
  readonly kind: NameKind;
  readonly role: NameRole;
  readonly name: string;
}

/** Names of a well-formed operation, in the order of its fields. @internal */
export function namesOf(operation: Operation): NameUse[] {
  const names: NameUse[] = [];
  const spec = findOperation(operation.op);
  if (spec !== undefined) collect(spec.args, operation.args, names);
  // An event is a signal, named by whatever it comes from.
  if (operation.op === "event.fire") {
    names.push({ kind: "forward", role: "uses", name: operation.args.event });
  }
  return names;
}

function collect(spec: AnySpec, value: unknown, names: NameUse[]): void {
  switch (spec.type) {
    case "name":
      if (typeof value === "string") names.push({ kind: spec.kind, role: spec.role, name: value });
      break;
    case "list":
      if (Array.isArray(value)) for (const item of value) collect(spec.of, item, names);
      break;
    case "tuple":
      if (Array.isArray(value))
        for (const [index, item] of spec.of.entries()) collect(item, value[index], names);
      break;
    case "map":
      if (isObject(value)) for (const item of Object.values(value)) collect(spec.of, item, names);
      break;
    case "object":
      if (!isObject(value)) break;
      for (const [key, field] of Object.entries(spec.fields)) {
        if (Object.hasOwn(value, key)) collect(fieldSpec(field).spec, value[key], names);
      }
      break;
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      if (chosen !== null) collect(chosen, value, names);
      break;
    }
    default:
    // no other spec of arguments holds names
  }
}

/** @internal */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
