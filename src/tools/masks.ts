// Fields that are left out of a comparison, each with its reason and the day on which the reason ends.
import { InputError } from "../base/errors.js";
import type { JsonFile } from "../workload/json-file.js";
import type { FieldDifference } from "./outcome.js";

/** One entry of a mask file. @public */
export interface Mask {
  readonly path: string; // JSON pointer below an answer; `*` stands for one step, what lies below is meant too
  readonly op: string | null; // null: every operation
  readonly reason: string;
  readonly expires: string; // the last day on which it hides, YYYY-MM-DD
}

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const ROOTS = ["/ok", "/err", "/fx", "/digest"];

/** Reads `{"masks":[{"path","op"?,"reason","expires"}]}`. Throws `InputError` that names the entry. @internal */
export function readMasks(source: JsonFile): readonly Mask[] {
  const list = (source.value as { readonly masks?: unknown } | null)?.masks;
  if (!Array.isArray(list)) fail(source, "", "expected an object with the list `masks`");
  return list.map((entry: unknown, index) => readMask(source, entry, `/masks/${index}`));
}

function readMask(source: JsonFile, entry: unknown, at: string): Mask {
  if (typeof entry !== "object" || entry === null) fail(source, at, "expected an object");
  const { path, op, reason, expires, ...others } = entry as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    fail(source, `${at}/${unknown}`, `unknown key ${unknown}: expected path, op, reason, expires`);
  }
  if (
    typeof path !== "string" ||
    !ROOTS.some((root) => path === root || path.startsWith(`${root}/`))
  ) {
    fail(source, `${at}/path`, `expected a path that begins with ${ROOTS.join(", ")}`);
  }
  if (op !== undefined && typeof op !== "string") fail(source, `${at}/op`, "expected an operation");
  if (typeof reason !== "string" || reason.trim() === "") {
    fail(source, `${at}/reason`, "expected the reason in words");
  }
  if (typeof expires !== "string" || !DAY.test(expires)) {
    fail(source, `${at}/expires`, "expected a day, YYYY-MM-DD");
  }
  return { path, op: op ?? null, reason, expires };
}

function fail(source: JsonFile, path: string, message: string): never {
  throw new InputError("input_format", message, {
    file: source.file,
    ...source.placeOf(path),
    path,
  });
}

/** Hides what masks name, and counts it. @internal */
export class MaskSet {
  readonly #masks: readonly { readonly op: string | null; readonly steps: readonly string[] }[];
  hidden = 0;

  constructor(masks: readonly Mask[]) {
    this.#masks = masks.map(({ op, path }) => ({ op, steps: path.split("/") }));
  }

  /** The differences that no mask names. */
  unmasked(op: string, fields: readonly FieldDifference[]): readonly FieldDifference[] {
    const left = fields.filter(({ path }) => !this.#hides(op, path.split("/")));
    this.hidden += fields.length - left.length;
    return left;
  }

  /** Whether the digest of a component is compared after this operation. */
  hidesComponent(op: string, component: string): boolean {
    return this.#hides(op, ["", "digest", component]);
  }

  #hides(op: string, steps: readonly string[]): boolean {
    return this.#masks.some(
      (mask) =>
        (mask.op === null || mask.op === op) &&
        mask.steps.length <= steps.length &&
        mask.steps.every((step, index) => step === "*" || step === steps[index]),
    );
  }
}
