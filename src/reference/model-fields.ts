// Reading a model's declarations, which the schema leaves open. What is not understood is not guessed: the run is
// refused as unsupported.
import { CandidateError } from "../base/errors.js";

/** Refuses the run: nothing is answered rather than something wrong. @internal */
export function notSupported(what: string): never {
  throw new CandidateError("candidate_handshake", `reference does not support ${what}`);
}

const ELEMENTS: readonly (readonly [bytes: number, names: string])[] = [
  [1, "int8 uint8 fp8_e4m3 fp8_e5m2"],
  [2, "float16 bfloat16"],
  [4, "int32 float32"],
  [8, "int64"],
];

/** Bytes of one element; undefined for an unknown type. @internal */
export function bytesOfElement(name: string): number | undefined {
  return ELEMENTS.find(([, names]) => names.split(" ").includes(name))?.[0];
}

/** An object of a configuration, read key by key. @internal */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;

  /** Refuses as unsupported what is no object, or holds a key beside `known` (null: any key). */
  constructor(value: unknown, path: string, known: readonly string[] | null = null) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      notSupported(`a ${path} that is no object`);
    this.#values = { ...value };
    this.#path = path;
    const other = Object.keys(this.#values).find((key) => known !== null && !known.includes(key));
    if (other !== undefined) notSupported(`the key ${other} of ${path}`);
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined && this.#values[key] !== null;
  }

  /** As it stands; undefined where the key is absent. */
  raw(key: string): unknown {
    return this.#values[key];
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  child(key: string, known: readonly string[] | null = null): Fields {
    return new Fields(this.#values[key], `${this.#path}.${key}`, known);
  }

  /** A whole number of at least `least`. */
  whole(key: string, least = 1): number {
    const value = this.#values[key];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least)
      notSupported(`such a ${this.#path}.${key}`);
    return value;
  }

  wholeOr<T>(key: string, absent: T, least = 1): number | T {
    return this.has(key) ? this.whole(key, least) : absent;
  }

  textOr<T>(key: string, absent: T): string | T {
    const value = this.#values[key];
    if (value === undefined || value === null) return absent;
    return typeof value === "string" ? value : notSupported(`such a ${this.#path}.${key}`);
  }

  /** False where the key is absent. */
  flag(key: string): boolean {
    const value = this.#values[key];
    if (value === undefined || value === null) return false;
    return typeof value === "boolean" ? value : notSupported(`such a ${this.#path}.${key}`);
  }

  /** The name of an element type. */
  elementOr<T>(key: string, absent: T): string | T {
    const name = this.textOr(key, null);
    if (name === null) return absent;
    return bytesOfElement(name) !== undefined ? name : notSupported(`the element type ${name}`);
  }

  list(key: string): readonly unknown[] {
    const value = this.#values[key];
    return Array.isArray(value) ? value : notSupported(`such a ${this.#path}.${key}`);
  }

  /** Whole numbers of at least `least`. */
  wholes(key: string, least = 1): number[] {
    return wholesOf(this.list(key), `${this.#path}.${key}`, least);
  }
}

/** Checks that all are whole numbers of at least `least`. @internal */
export function wholesOf(values: readonly unknown[], path: string, least = 1): number[] {
  return values.map((value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least
      ? value
      : notSupported(`such a ${path}`),
  );
}
