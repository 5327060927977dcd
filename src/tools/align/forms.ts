// Operations without the numbers in their names: the shape of the arguments, and the lives that the names mean. Two
// operations of two runs are the same when their shapes are and their lives correspond.
import { canonicalJson } from "../../base/canonical-json.js";
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec, NameKind } from "../../trace/fields.js";
import { fieldSpec } from "../../trace/fields.js";
import { findOperation } from "../../trace/operation-table.js";

/** What a name of an operation names; pools of domain `heap` are named by a plain text. @internal */
export type LifeKind = NameKind | "pool";

/** One life of a name: from the operation that opens it on. @internal */
export interface Life {
  readonly kind: LifeKind;
  readonly name: string;
  readonly opener: number; // index of the operation; -1: opened before the first one
  readonly slot: number; // which of that operation's names it is
}

/** @internal */
export interface Form {
  readonly n: number;
  readonly op: string;
  readonly shape: number; // equal numbers: equal operation and arguments, names aside
  readonly lives: readonly number[]; // of the names, in the order in which they first stand there
  readonly events: readonly [first: number, last: number] | null; // in the log that it comes from
}

/** A line that can be formed. @internal */
export interface FormedLine {
  readonly n: number;
  readonly op: string;
  readonly args: unknown;
}

/** Numbers for texts; one serves both sides. @internal */
export class Numbering {
  readonly #numbers = new Map<string, number>();
  readonly texts: string[] = [];

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.length;
    this.#numbers.set(text, number);
    this.texts.push(text);
    return number;
  }
}

/** The operations of one side. @internal */
export class Forms {
  readonly forms: Form[] = [];
  readonly lives: Life[] = [];
  readonly #shapes: Numbering;
  readonly #current = new Map<string, number>(); // kind and name → newest life

  constructor(shapes: Numbering) {
    this.#shapes = shapes;
  }

  add(line: FormedLine): void {
    const writer = new ShapeWriter(line.op);
    const shape = writer.shape(line.args);
    const index = this.forms.length;
    const lives = writer.names.map(({ kind, name, opens }, slot) => {
      const key = `${kind} ${name}`;
      const known = opens ? undefined : this.#current.get(key);
      if (known !== undefined) return known;
      const life = this.lives.length;
      this.lives.push({ kind, name, opener: opens ? index : -1, slot });
      this.#current.set(key, life);
      return life;
    });
    const { n, op } = line;
    this.forms.push({ n, op, shape: this.#shapes.of(shape), lives, events: eventsOf(line) });
  }
}

function eventsOf(line: object): readonly [number, number] | null {
  const event: unknown = (line as { readonly x_event?: unknown }).x_event;
  if (typeof event === "number") return [event, event];
  if (!Array.isArray(event)) return null;
  const [first, last] = event as readonly unknown[];
  return typeof first === "number" && typeof last === "number" ? [first, last] : null;
}

interface NameHere {
  readonly kind: LifeKind;
  readonly name: string;
  readonly opens: boolean;
}

// Writes arguments with their keys in one order and a name as the number of its first place.
class ShapeWriter {
  readonly names: NameHere[] = [];
  readonly #op: string;
  readonly #isHeap: boolean;

  constructor(op: string) {
    this.#op = op;
    this.#isHeap = findOperation(op)?.domain === "heap";
  }

  shape(args: unknown): string {
    const spec = findOperation(this.#op)?.args ?? ANYTHING;
    return `${this.#op} ${this.#write(spec, args)}`;
  }

  #write(spec: AnySpec, value: unknown): string {
    switch (spec.type) {
      case "name":
        return this.#name(spec.kind, String(value), spec.role === "opens");
      case "text":
        return spec.rule === "signal"
          ? this.#name(signalKind(String(value)), String(value), false)
          : canonicalJson(value);
      case "list":
        if (!Array.isArray(value)) return canonicalJson(value);
        return `[${value.map((item) => this.#write(spec.of, item)).join(",")}]`;
      case "object":
        return this.#object(spec.fields, value);
      case "either":
        return this.#write(pickAlternative(spec.of, value) ?? ANYTHING, value);
      default:
        return canonicalJson(value); // no other spec of arguments holds names
    }
  }

  #object(fields: Extract<AnySpec, { type: "object" }>["fields"], value: unknown): string {
    if (typeof value !== "object" || value === null) return canonicalJson(value);
    const parts: string[] = [];
    for (const key of Object.keys(fields).sort()) {
      const member = (value as Readonly<Record<string, unknown>>)[key];
      const field = fields[key];
      if (member === undefined || field === undefined) continue;
      const isPool = this.#isHeap && key === "pool" && typeof member === "string";
      const text = isPool
        ? this.#name("pool", member, this.#op === "pool.make")
        : this.#write(fieldSpec(field).spec, member);
      parts.push(`${key}:${text}`);
    }
    return `{${parts.join(",")}}`;
  }

  #name(kind: LifeKind, name: string, opens: boolean): string {
    let index = this.names.findIndex((one) => one.kind === kind && one.name === name);
    if (index < 0) index = this.names.push({ kind, name, opens }) - 1;
    return `<${index}>`;
  }
}

const ANYTHING: AnySpec = { type: "anything" };

function signalKind(signal: string): NameKind {
  const kinds: Readonly<Record<string, NameKind>> = { c: "copy", t: "transfer" };
  return kinds[signal[0] ?? ""] ?? "forward";
}
