// Which names of a run are open, and the last 65,536 closed ones. An operation that uses a name which no earlier one
// opens, or opens a used-up name again, makes a run invalid, unless its answer says that this was wrong.
import type { Operation } from "../base/operations.js";
import { pickAlternative } from "./alternatives.js";
import type { AnySpec, NameKind, NameRole } from "./fields.js";
import { NAME_LETTERS, fieldSpec } from "./fields.js";
import { findOperation } from "./operation-table.js";

/** A name in the arguments of an operation. @public */
export interface NameUse {
  readonly kind: NameKind;
  readonly role: NameRole;
  readonly name: string;
}

/** @public */
export interface NameProblem {
  readonly kind: "dangling" | "reused"; // used before it was opened; opened although open or used up
  readonly name: string;
  readonly what: NameKind;
}

const CLOSED_MAX = 65_536;
const changing = new Map<string, boolean>(); // by operation: whether it can open or close names

/** Whether an operation of this name opens or closes names; others need not be noted. @public */
export function changesNames(op: string): boolean {
  let isChanging = changing.get(op);
  if (isChanging === undefined) {
    const spec = findOperation(op);
    isChanging = spec !== undefined && /"role":"(?:opens|closes)"/.test(JSON.stringify(spec.args));
    changing.set(op, isChanging);
  }
  return isChanging;
}

/** The names in an operation's arguments, in the order of its fields. @public */
export function namesOf(operation: Operation): NameUse[] {
  const names: NameUse[] = [];
  const spec = findOperation(operation.op);
  if (spec !== undefined) collect(spec.args, operation.args, names);
  return names;
}

function collect(spec: AnySpec, value: unknown, names: NameUse[]): void {
  switch (spec.type) {
    case "name":
      names.push({ kind: spec.kind, role: spec.role, name: value as string });
      return;
    case "text":
      if (spec.rule === "signal") {
        names.push({ kind: kindOfSignal(value as string), role: "uses", name: value as string });
      }
      return;
    case "list":
      for (const item of value as readonly unknown[]) collect(spec.of, item, names);
      return;
    case "object":
      for (const [key, field] of Object.entries(spec.fields)) {
        const member = (value as Readonly<Record<string, unknown>>)[key];
        if (member !== undefined) collect(fieldSpec(field).spec, member, names);
      }
      return;
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      if (chosen !== null) collect(chosen, value, names);
      return;
    }
    default:
      return; // no other spec of arguments holds names
  }
}

function kindOfSignal(signal: string): NameKind {
  if (signal.startsWith(NAME_LETTERS.copy)) return "copy";
  return signal.startsWith(NAME_LETTERS.transfer) ? "transfer" : "forward";
}

/** Follows the names of one run. @public */
export class OpenNames {
  readonly #open = new Set<string>();
  readonly #closed = new Set<string>(); // used up, oldest first
  readonly #refused = new Set<string>(); // their opening was refused, oldest first

  /** Whether the name is open now. */
  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** The first wrong name of an operation, or null. Changes nothing. */
  check(operation: Operation): NameProblem | null {
    const opening = new Set<string>();
    for (const { kind, role, name } of namesOf(operation)) {
      const isOpen = this.#open.has(name) || opening.has(name);
      const isClosed = this.#closed.has(name);
      if (role === "asks") continue;
      if (role === "opens") {
        const isUsedUp = isClosed && kind !== "request";
        if (isOpen || isUsedUp) return { kind: "reused", name, what: kind };
        opening.add(name);
      } else if (!isOpen && !isClosed && !this.#refused.has(name)) {
        return { kind: "dangling", name, what: kind };
      }
    }
    return null;
  }

  /**
   * Takes note of an operation. A name whose opening was refused is known: to use it is a broken contract of the
   * caller, which the allocator answers, and it may be opened later. @param isGranted - whether the answer was `ok`
   */
  note(operation: Operation, isGranted: boolean): void {
    for (const { role, name } of namesOf(operation)) {
      if (role === "opens") {
        if (isGranted) {
          this.#open.add(name);
          this.#closed.delete(name);
          this.#refused.delete(name);
        } else if (!this.#open.has(name)) remember(this.#refused, name);
      } else if (role === "closes" && isGranted && this.#open.delete(name)) {
        remember(this.#closed, name);
      }
    }
  }
}

// The newest at the end; the oldest is forgotten.
function remember(names: Set<string>, name: string): void {
  names.delete(name);
  names.add(name);
  if (names.size <= CLOSED_MAX) return;
  for (const oldest of names) {
    names.delete(oldest);
    return;
  }
}
