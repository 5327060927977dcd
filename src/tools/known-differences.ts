// Files of differences that are known: masks, accepted divergences. Checked by a spec before anything is taken from them.
import { InputError } from "../base/errors.js";
import { type AnySpec, list, nullable, object, optional, text } from "../trace/fields.js";
import { inspect, inspectContext } from "../trace/inspect.js";
import type { Problem } from "../trace/problem.js";
import type { JsonFile } from "../workload/json-file.js";
import type { Mask } from "./masks.js";
import type { AcceptedDivergence } from "./outcome.js";

const MASKS = object({
  masks: list(object({ path: text(), op: optional(text()), reason: text(), expires: text() })),
});
const BASELINE = object({
  accepted: list(object({ kind: text(), op: text(), component: nullable(text()), reason: text() })),
});
const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const ROOTS = /^\/(ok|err|fx|digest)(\/|$)/;

/** The masks of a file. Throws `InputError` that names the entry. @internal */
export function readMasks(source: JsonFile): readonly Mask[] {
  const { masks } = checked<{ readonly masks: readonly Mask[] }>(source, MASKS);
  for (const [index, { path, reason, expires }] of masks.entries()) {
    const at = `/masks/${index}`;
    if (!ROOTS.test(path)) {
      fail(source, `${at}/path`, "expected a path that begins with /ok, /err, /fx or /digest");
    }
    checkReason(source, at, reason);
    if (!DAY.test(expires)) fail(source, `${at}/expires`, "expected a day, YYYY-MM-DD");
  }
  return masks;
}

/** The accepted divergences of a file. Throws `InputError` that names the entry. @internal */
export function readBaseline(source: JsonFile): readonly AcceptedDivergence[] {
  const { accepted } = checked<{ readonly accepted: readonly AcceptedDivergence[] }>(
    source,
    BASELINE,
  );
  for (const [index, { reason }] of accepted.entries()) {
    checkReason(source, `/accepted/${index}`, reason);
  }
  return accepted;
}

function checkReason(source: JsonFile, at: string, reason: string): void {
  if (reason.trim() === "") fail(source, `${at}/reason`, "expected the reason in words");
}

function checked<T>(source: JsonFile, spec: AnySpec): T {
  const problem: Problem | null = inspect(spec, source.value, inspectContext());
  if (problem !== null) fail(source, problem.path, problem.message, problem.expected);
  return source.value as T; // T states in types what the spec states
}

function fail(source: JsonFile, path: string, message: string, expected?: string): never {
  throw new InputError("input_format", message, {
    file: source.file,
    ...source.placeOf(path),
    path,
    ...(expected === undefined ? {} : { expected }),
  });
}
