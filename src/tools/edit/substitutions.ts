// Another value in the configuration of runs, or in the arguments of operations: `TARGET:PATH=VALUE`.
import { UsageError } from "../../base/errors.js";
import type { Operation, RunConfig } from "../../base/operations.js";
import { argsProblem } from "../../trace/check.js";
import { RUN_LINES } from "../../trace/line-specs.js";
import type { RunLine } from "../../trace/lines.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import { OPERATION_TABLE } from "../../trace/operation-table.js";
import { bandNames, configProblem } from "../../trace/run-words.js";
import type { RunWords } from "../../trace/run-words.js";
import { fitting } from "./filters.js";

/** @public */
export interface Substitution {
  readonly text: string; // as it was given
  readonly target: number | string; // `config`, the number of an operation, or operations of these kinds
  readonly path: readonly string[]; // keys and places of lists; `*` any of them
  readonly value: unknown;
}

const SIZES: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Reads `TARGET:PATH=VALUE`. Throws `UsageError`. @public */
export function parseSubstitution(text: string): Substitution {
  const match = /^([\w.*]+):([\w.*-]+)=(.*)$/s.exec(text);
  const [, target = "", path = "", value = ""] = match ?? [];
  const isTarget =
    target === "config" ||
    /^\d+$/.test(target) ||
    Object.keys(OPERATION_TABLE).some(fitting(target));
  const keys = path.split(".");
  if (match === null || !isTarget || keys.includes("")) {
    const expected =
      "config:KEY=VALUE, OPERATION:ARGUMENT=VALUE or NUMBER:ARGUMENT=VALUE, such as config:rows=8";
    throw new UsageError(`--substitute ${text}: expected ${expected}`, expected);
  }
  const number = /^\d+$/.test(target) ? Number(target) : target;
  return { text, target: number, path: keys, value: valueOf(value) };
}

/** JSON, a size with k, m or g, or else the text. */
function valueOf(text: string): unknown {
  const size = /^(\d+)([kmg])$/i.exec(text);
  if (size !== null) return Number(size[1]) * (SIZES[(size[2] ?? "").toLowerCase()] ?? NaN);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Puts values in. @internal */
export class Substitutions {
  readonly #all: readonly {
    readonly one: Substitution;
    readonly fits: (op: string) => boolean;
  }[];
  readonly #met = new Set<Substitution>(); // those that found their place

  constructor(all: readonly Substitution[]) {
    this.#all = all.map((one) => ({
      one,
      fits: typeof one.target === "string" ? fitting(one.target) : () => false,
    }));
  }

  /** The first that found no place so far. */
  unmet(): Substitution | null {
    return this.#all.find(({ one }) => !this.#met.has(one))?.one ?? null;
  }

  /** A run's configuration; the same object where nothing changes. Throws `UsageError`. */
  config(line: RunLine): RunConfig {
    let config: unknown = line.config;
    for (const { one } of this.#all) {
      if (one.target === "config") config = this.#put(config, one);
    }
    if (config === line.config) return line.config;
    const changed = { ...line, config, derived: undefined };
    const made = config as RunConfig; // the spec decides next
    const { derived: _, ...bare } = changed;
    const problem =
      inspect(RUN_LINES[line.domain], bare, inspectContext(null, false)) ??
      (line.domain === "kv" ? configProblem(made, "/config") : null);
    if (problem !== null) throw wrong(`run ${line.run}, ${problem.path}: ${problem.message}`);
    if (line.domain === "kv" && String(bandNames(made)) !== String(bandNames(line.config)))
      throw wrong(`run ${line.run}: bands cannot be added, named anew or taken away`);
    return made;
  }

  /** An operation; the same object where nothing changes. Throws `UsageError`. */
  operation(n: number, operation: Operation, words: RunWords | null): Operation {
    let args: unknown = operation.args;
    for (const { one, fits } of this.#all) {
      if (one.target === n || fits(operation.op)) args = this.#put(args, one);
    }
    if (args === operation.args) return operation;
    const problem = argsProblem(operation.op, args, words);
    if (problem !== null)
      throw wrong(`operation ${n} (${operation.op}), ${problem.path}: ${problem.message}`);
    return { op: operation.op, args } as Operation; // of its kind, as was just found
  }

  #put(root: unknown, one: Substitution): unknown {
    const made = replaced(root, one.path, one.value);
    if (made === undefined) return root;
    this.#met.add(one);
    return JSON.stringify(made) === JSON.stringify(root) ? root : made;
  }
}

function wrong(message: string): UsageError {
  return new UsageError(`--substitute: ${message}`);
}

/** A copy with the value at the path; undefined where there is no such place. A last key may be new. */
function replaced(root: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof root !== "object" || root === null) return undefined;
  const isList = Array.isArray(root);
  const bag = root as Readonly<Record<string, unknown>>;
  const keys = key === "*" ? Object.keys(bag) : [key];
  const copy = new Map(Object.entries(bag));
  let isMade = false;
  for (const one of keys) {
    if (!Object.hasOwn(bag, one) && (isList || rest.length > 0)) continue;
    const made = replaced(bag[one], rest, value);
    if (made === undefined) continue;
    copy.set(one, made);
    isMade = true;
  }
  if (!isMade) return undefined;
  return isList ? [...copy.values()] : Object.fromEntries(copy); // a map, because `__proto__` is a key like others
}
