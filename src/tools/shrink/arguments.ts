// Reads names, growth and lists off the operation table, so that shrinking needs no rule for each operation.
import type { Operation } from "../../base/operations.js";
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec, NameKind, NameRole } from "../../trace/fields.js";
import { fieldSpec } from "../../trace/fields.js";
import { findOperation } from "../../trace/operation-table.js";
import type { OperationSpec } from "../../trace/operation-spec.js";

/** @internal */
export type Bag = Readonly<Record<string, unknown>>;

/** What becomes of the value at hand: itself, another, or nothing. */
type Visit = (spec: AnySpec, value: unknown) => unknown;

/** In place of a value: take it away, with the list element or the operation around it. @internal */
export const GONE: unique symbol = Symbol("gone");

/** The entry of an operation's kind. @internal */
export function specOf(operation: Operation): OperationSpec {
  const spec = findOperation(operation.op);
  if (spec === undefined) throw new TypeError(`no operation ${operation.op}`);
  return spec;
}

/** An operation with other arguments of its own kind. @internal */
export function withArgs<O extends Operation>(operation: O, args: unknown): O {
  // whoever gives them took them from arguments of this kind and kept to its spec
  return args === operation.args ? operation : ({ op: operation.op, args } as O);
}

/**
 * Arguments with every value replaced by what `visit` makes of it; children come first. An element that is gone leaves
 * its list, an emptied list leaves its object where it may, anything else that is gone takes the object with it. Gives
 * the same object where nothing changes. @internal
 */
export function rewritten(spec: AnySpec, value: unknown, visit: Visit): unknown {
  switch (spec.type) {
    case "list":
      return rewrittenList(spec, value as readonly unknown[], visit);
    case "tuple": {
      const items = (value as readonly unknown[]).map((item, index) =>
        rewritten(spec.of[index] ?? { type: "anything" }, item, visit),
      );
      return items.includes(GONE) ? GONE : visit(spec, sameOr(value, items));
    }
    case "map": {
      const entries = Object.entries(value as Bag)
        .map(([key, item]): [string, unknown] => [key, rewritten(spec.of, item, visit)])
        .filter(([, item]) => item !== GONE);
      return visit(spec, sameObject(value as Bag, entries));
    }
    case "object":
      return rewrittenObject(spec, value as Bag, visit);
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      return chosen === null ? value : rewritten(chosen, value, visit);
    }
    default:
      return visit(spec, value);
  }
}

function rewrittenList(
  spec: AnySpec & { readonly type: "list" },
  value: readonly unknown[],
  visit: Visit,
): unknown {
  const items = value.map((item) => rewritten(spec.of, item, visit));
  const left = items.filter((item) => item !== GONE);
  if (left.length === 0 && items.length > 0) return GONE;
  return visit(spec, sameOr(value, left));
}

function rewrittenObject(
  spec: AnySpec & { readonly type: "object" },
  value: Bag,
  visit: Visit,
): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined;
    if (field === undefined) {
      entries.push([key, item]); // an extension
      continue;
    }
    const { spec: inner, isOptional } = fieldSpec(field);
    const made = rewritten(inner, item, visit);
    if (made !== GONE) entries.push([key, made]);
    else if (!isOptional || inner.type !== "list") return GONE;
  }
  return visit(spec, sameObject(value, entries));
}

function sameOr(value: unknown, items: readonly unknown[]): unknown {
  const before = value as readonly unknown[];
  const isSame =
    items.length === before.length && items.every((item, index) => item === before[index]);
  return isSame ? value : items;
}

function sameObject(value: Bag, entries: readonly (readonly [string, unknown])[]): Bag {
  const isSame =
    entries.length === Object.keys(value).length &&
    entries.every(([key, item]) => item === value[key]);
  return isSame ? value : Object.fromEntries(entries);
}

/** Whether an operation's arguments go on without the names that `isGone` tells; null: the operation goes. @internal */
export function withoutNames<O extends Operation>(
  operation: O,
  isGone: (name: string, role: NameRole, kind: NameKind | null) => boolean,
): O | null {
  const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
    if (spec.type === "name") return isGone(value as string, spec.role, spec.kind) ? GONE : value;
    const isSignal = spec.type === "text" && spec.rule === "signal";
    return isSignal && isGone(value as string, "uses", null) ? GONE : value;
  });
  return args === GONE ? null : withArgs(operation, args);
}

/** The names that an operation opens, in the order of its fields. @internal */
export function openedBy(operation: Operation): readonly string[] {
  const names: string[] = [];
  rewritten(specOf(operation).args, operation.args, (spec, value) => {
    if (spec.type === "name" && spec.role === "opens") names.push(value as string);
    return value;
  });
  return names;
}

/** The token positions `[from, to)` that a take adds to a request. @internal */
export interface Growth {
  readonly req: string;
  readonly from: number;
  readonly to: number;
}

/** What an operation adds to rows: entries of a take that name a request and positions of its tokens. @internal */
export function growthOf(operation: Operation): readonly Growth[] {
  const spec = specOf(operation);
  const growth: Growth[] = [];
  if (!spec.isTake) return growth;
  rewritten(spec.args, operation.args, (inner, value) => {
    const req = inner.type === "object" ? holderOf(inner, value as Bag) : null;
    if (req === null) return value;
    const { from, to, len } = value as Bag;
    if (typeof from === "number" && typeof to === "number") growth.push({ req, from, to });
    else if (typeof len === "number") growth.push({ req, from: len - 1, to: len });
    return value;
  });
  return growth;
}

const POSITIONS: ReadonlySet<string> = new Set(["from", "to", "len", "track"]);

/** An operation with the token positions of each request's row put where `place` says. @internal */
export function withPositions<O extends Operation>(
  operation: O,
  place: (req: string, position: number) => number,
): O {
  const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
    const req = spec.type === "object" ? holderOf(spec, value as Bag) : null;
    if (req === null) return value;
    const entries = Object.entries(value as Bag).map(([key, item]): [string, unknown] => [
      key,
      POSITIONS.has(key) && typeof item === "number" ? place(req, item) : item,
    ]);
    return sameObject(value as Bag, entries);
  });
  return withArgs(operation, args);
}

/** The request whose row an object of arguments speaks of. */
function holderOf(spec: AnySpec & { readonly type: "object" }, value: Bag): string | null {
  for (const [key, field] of Object.entries(spec.fields)) {
    const inner = fieldSpec(field).spec;
    const isRow = inner.type === "name" && inner.kind === "request" && inner.role !== "asks";
    const name = value[key];
    if (isRow && typeof name === "string") return name;
  }
  return null;
}
