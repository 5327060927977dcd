// Typed reading of a JSON object whose fields come from outside. Every error names the path and what was expected.
import { InputError } from "../../base/errors.js";
import { nearestWord } from "../../base/nearest.js";
import type { ElementType } from "./types.js";
import { ELEMENT_BYTES } from "./types.js";

/** A JSON object with its path. Absent and null are the same. @internal */
export class ConfigFields {
  readonly path: string; // JSON pointer, "" at the top
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw wrong(path, "an object", value);
    this.path = path;
    this.#values = value as Readonly<Record<string, unknown>>;
  }

  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined;
  }
  has(key: string): boolean {
    return this.raw(key) !== undefined;
  }
  keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  /** An integer of at least `least`. */
  integer(key: string, least = 1): number {
    const value = this.raw(key);
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least)
      throw wrong(`${this.path}/${key}`, `an integer of ${least} or more`, value);
    return value;
  }
  optionalInteger(key: string, least = 1): number | undefined {
    return this.has(key) ? this.integer(key, least) : undefined;
  }
  /** A number within `[low, high]`. */
  optionalNumber(key: string, low: number, high: number): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !(value >= low && value <= high))
      throw wrong(`${this.path}/${key}`, `a number from ${low} to ${high}`, value);
    return value;
  }
  boolean(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== "boolean")
      throw wrong(`${this.path}/${key}`, "true or false", value);
    return value;
  }
  text(key: string): string | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== "string")
      throw wrong(`${this.path}/${key}`, "a text", value);
    return value;
  }
  texts(key: string): readonly string[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
      throw wrong(`${this.path}/${key}`, "a list of texts", value);
    return value as readonly string[];
  }
  integers(key: string, least = 0): readonly number[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const isOne = (item: unknown): boolean => Number.isSafeInteger(item) && Number(item) >= least;
    if (!Array.isArray(value) || !value.every(isOne))
      throw wrong(`${this.path}/${key}`, `a list of integers of ${least} or more`, value);
    return value as readonly number[];
  }
  object(key: string): ConfigFields | undefined {
    const value = this.raw(key);
    return value === undefined ? undefined : new ConfigFields(value, `${this.path}/${key}`);
  }
  objects(key: string): readonly ConfigFields[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrong(`${this.path}/${key}`, "a list", value);
    return value.map((item, index) => new ConfigFields(item, `${this.path}/${key}/${index}`));
  }
  /** An element type under any of its usual names. */
  element(key: string): ElementType | undefined {
    const name = this.text(key);
    return name === undefined ? undefined : elementType(name, `${this.path}/${key}`);
  }

  /** Refuses keys outside `known`; `x_` keys are extensions. */
  onlyKeys(known: readonly string[]): void {
    for (const key of this.keys()) {
      if (known.includes(key) || key.startsWith("x_")) continue;
      const nearest = nearestWord(key, known);
      const hint = nearest === null ? `known: ${known.join(", ")}` : `did you mean "${nearest}"?`;
      throw new InputError("config", `unknown key "${key}" at ${shownPath(this.path)}; ${hint}`, {
        path: `${this.path}/${key}`,
      });
    }
  }

  /** An error about one field. */
  error(key: string, message: string): InputError {
    const path = `${this.path}/${key}`;
    return new InputError("config", `${path}: ${message}`, { path });
  }
}

const ELEMENT_ALIASES: ReadonlyMap<string, ElementType> = new Map<string, ElementType>([
  ["bf16", "bfloat16"],
  ["half", "float16"],
  ["fp16", "float16"],
  ["float", "float32"],
  ["fp32", "float32"],
  ["float8_e4m3fn", "fp8_e4m3"],
  ["float8_e4m3", "fp8_e4m3"],
  ["float8_e5m2", "fp8_e5m2"],
]);

/** The element type of a name such as `bfloat16`, `torch.bfloat16` or `bf16`. @internal */
export function elementType(name: string, path: string): ElementType {
  const plain = name.startsWith("torch.") ? name.slice("torch.".length) : name;
  const alias = ELEMENT_ALIASES.get(plain);
  if (alias !== undefined) return alias;
  if (Object.hasOwn(ELEMENT_BYTES, plain)) return plain as ElementType;
  throw wrong(path, `an element type (${Object.keys(ELEMENT_BYTES).join(", ")})`, name);
}

function wrong(path: string, expected: string, value: unknown): InputError {
  const json = value === undefined ? "nothing" : JSON.stringify(value);
  const shown = json.length > 60 ? `${json.slice(0, 57)}...` : json;
  return new InputError("config", `${shownPath(path)} is ${shown}, expected ${expected}`, {
    path,
    expected,
  });
}

function shownPath(path: string): string {
  return path === "" ? "the configuration" : path;
}
