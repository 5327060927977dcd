// Compares two answers field by field: lists in order or as sets as the operation table says, extents as the ids that
// they name (merged or not), and never `message`, `site`, `at_us` or an `x_` key.
import { canonicalJson } from "../base/canonical-json.js";
import type { Answer, Extent, OperationName } from "../base/operations.js";
import { pickAlternative } from "./alternatives.js";
import type { AnySpec, Fields } from "./fields.js";
import { fieldSpec } from "./fields.js";
import { DIGESTS, EFFECTS, ERROR } from "./line-specs.js";
import { below } from "./messages.js";
import { findOperation } from "./operation-table.js";

/** One place where two values part. @public */
export interface ValueDifference {
  readonly path: string; // JSON pointer below the answer, such as /ok/pages/r1/full
  readonly base: unknown; // undefined: absent
  readonly candidate: unknown;
}

/** Parts of an answer that are compared beside `ok` and `err`. @public */
export interface CompareOptions {
  readonly fx?: boolean; // default true
  readonly digest?: boolean; // default true; component by component as they stand on the two lines
}

/** Whether two answers to one operation agree. Quick where they are equal as they stand. @public */
export function equalAnswers(
  op: OperationName,
  base: Answer,
  candidate: Answer,
  options: CompareOptions = {},
): boolean {
  if (
    sameJson(base.ok, candidate.ok) &&
    sameJson(base.err, candidate.err) &&
    (options.fx === false || sameJson(base.fx, candidate.fx)) &&
    (options.digest === false || sameJson(base.digest, candidate.digest))
  ) {
    return true;
  }
  return answerDifferences(op, base, candidate, { ...options, limit: 1 }).length === 0;
}

/** The places where two answers part, in the order of the fields, at most `limit` (default 1,000). @public */
export function answerDifferences(
  op: OperationName,
  base: Answer,
  candidate: Answer,
  options: CompareOptions & { readonly limit?: number } = {},
): ValueDifference[] {
  const found = new Differences(options.limit ?? 1000);
  const ok: AnySpec = findOperation(op)?.ok ?? { type: "anything" };
  found.compare(ok, base.ok, candidate.ok, "/ok");
  found.compare(ERROR, base.err, candidate.err, "/err");
  if (options.fx !== false) found.compare(EFFECTS, base.fx ?? [], candidate.fx ?? [], "/fx");
  if (options.digest !== false) {
    found.compare(DIGESTS, base.digest ?? {}, candidate.digest ?? {}, "/digest");
  }
  return found.list;
}

/** The places where two values of a spec part, at most `limit`. @public */
export function valueDifferences(
  spec: AnySpec,
  base: unknown,
  candidate: unknown,
  limit = 1000,
): ValueDifference[] {
  const found = new Differences(limit);
  found.compare(spec, base, candidate, "");
  return found.list;
}

/** Equal JSON as it stands, whatever the order of keys. @internal */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let i = 0; i < left.length; i++) {
      if (left[i] !== right[i] && !sameJson(left[i], right[i])) return false;
    }
    return true;
  }
  if (Array.isArray(right)) return false;
  const one = left as Readonly<Record<string, unknown>>;
  const other = right as Readonly<Record<string, unknown>>;
  let keys = 0;
  for (const key in one) {
    keys += 1;
    // most members are numbers or words: no call for those
    const member = other[key];
    if (member === undefined || (one[key] !== member && !sameJson(one[key], member))) return false;
  }
  for (const _key in other) keys -= 1;
  return keys === 0;
}

type Bag = Readonly<Record<string, unknown>>;

class Differences {
  readonly list: ValueDifference[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  compare(spec: AnySpec, base: unknown, candidate: unknown, path: string): void {
    if (this.list.length >= this.#limit || base === candidate) return;
    if (base === undefined || candidate === undefined || jsonType(base) !== jsonType(candidate)) {
      this.#add(path, base, candidate);
      return;
    }
    if (!isOfForm(spec, base) || !isOfForm(spec, candidate)) {
      this.#compareAnything(base, candidate, path);
      return;
    }
    switch (spec.type) {
      case "extents":
        if (!sameIds(base, candidate, spec.zero === "unbound")) this.#add(path, base, candidate);
        return;
      case "list":
        if (spec.mode === "set") this.#compareSets(base, candidate, path);
        else this.#compareItems(() => spec.of, base, candidate, path);
        return;
      case "tuple":
        // a tuple has as many items as its spec
        this.#compareItems((i) => spec.of[i] ?? ANYTHING, base, candidate, path);
        return;
      case "tagged":
        this.#compareTagged(spec.variants, base, candidate, path);
        return;
      case "map":
        this.#compareKeys({}, spec.of, {}, base as Bag, candidate as Bag, path);
        return;
      case "object":
        this.#compareKeys(
          spec.fields,
          spec.rest ?? ANYTHING,
          {},
          base as Bag,
          candidate as Bag,
          path,
        );
        return;
      case "banded":
        this.#compareKeys(spec.before, spec.of, spec.after, base as Bag, candidate as Bag, path);
        return;
      case "either":
        this.compare(pickAlternative(spec.of, base) ?? ANYTHING, base, candidate, path);
        return;
      case "anything":
        this.#compareAnything(base, candidate, path);
        return;
      default:
        this.#add(path, base, candidate);
    }
  }

  #add(path: string, base: unknown, candidate: unknown): void {
    if (this.list.length < this.#limit) this.list.push({ path, base, candidate });
  }

  #compareItems(
    specAt: (index: number) => AnySpec,
    base: unknown,
    candidate: unknown,
    path: string,
  ): void {
    const left = base as readonly unknown[];
    const right = candidate as readonly unknown[];
    const count = Math.max(left.length, right.length);
    for (let i = 0; i < count && this.list.length < this.#limit; i++) {
      this.compare(specAt(i), left[i], right[i], below(path, i));
    }
  }

  #compareSets(base: unknown, candidate: unknown, path: string): void {
    const sorted = (list: unknown): string =>
      (list as readonly unknown[]).map(canonicalJson).sort().join("\n");
    if (sorted(base) !== sorted(candidate)) this.#add(path, base, candidate);
  }

  #compareTagged(
    variants: Readonly<Record<string, readonly AnySpec[]>>,
    base: unknown,
    candidate: unknown,
    path: string,
  ): void {
    const [tag] = base as readonly unknown[];
    const rest = variants[tag as string];
    if (rest === undefined || tag !== (candidate as readonly unknown[])[0]) {
      if (!sameJson(base, candidate)) this.#add(path, base, candidate);
      return;
    }
    this.#compareItems((i) => rest[i - 1] ?? ANYTHING, base, candidate, path);
  }

  #compareKeys(
    before: Fields,
    of: AnySpec,
    after: Fields,
    base: Bag,
    candidate: Bag,
    path: string,
  ): void {
    for (const key of new Set([...Object.keys(base), ...Object.keys(candidate)])) {
      if (key.startsWith("x_") || isNeverCompared(key, before)) continue;
      const field = ownField(before, key) ?? ownField(after, key);
      const spec = field === undefined ? of : fieldSpec(field).spec;
      this.compare(spec, ownValue(base, key), ownValue(candidate, key), below(path, key));
    }
  }

  #compareAnything(base: unknown, candidate: unknown, path: string): void {
    if (Array.isArray(base)) this.#compareItems(() => ANYTHING, base, candidate, path);
    else if (typeof base === "object") {
      this.#compareKeys({}, ANYTHING, {}, base as Bag, candidate as Bag, path);
    } else this.#add(path, base, candidate);
  }
}

// What is compared has passed a check as a rule; what has not is compared as plain JSON.
function isOfForm(spec: AnySpec, value: unknown): boolean {
  switch (spec.type) {
    case "extents":
      return Array.isArray(value) && value.every(isExtentPair);
    case "list":
    case "tuple":
    case "tagged":
      return Array.isArray(value);
    case "map":
    case "object":
    case "banded":
      return jsonType(value) === "object";
    default:
      return true;
  }
}

function isExtentPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
}

const ANYTHING: AnySpec = { type: "anything" };

// `message` is a field of errors alone.
function isNeverCompared(key: string, fields: Fields): boolean {
  return key === "message" && ownField(fields, key) !== undefined;
}

function ownField(fields: Fields, key: string): Fields[string] | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function ownValue(bag: Bag, key: string): unknown {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

/** Whether two extent lists name the same ids in the same order; walks runs, never single ids. */
function sameIds(base: unknown, candidate: unknown, isZeroUnbound: boolean): boolean {
  const left = mergedRuns(base as readonly Extent[], isZeroUnbound);
  const right = mergedRuns(candidate as readonly Extent[], isZeroUnbound);
  return sameJson(left, right);
}

interface Run {
  first: number;
  count: number; // ids
  step: number; // 1, -1, or 0 for unbound pages and for a single id
  readonly isUnbound: boolean;
}

// The one way to write a list of ids as runs: each takes in as many ids as it can, from the left.
function mergedRuns(list: readonly Extent[], isZeroUnbound: boolean): Run[] {
  const runs: Run[] = [];
  for (const [first, count] of list) {
    const size = Math.abs(count);
    const isUnbound = first === 0 && isZeroUnbound;
    appendRun(runs, first, size, isUnbound || size === 1 ? 0 : Math.sign(count), isUnbound);
  }
  return runs;
}

function appendRun(
  runs: Run[],
  first: number,
  count: number,
  step: number,
  isUnbound: boolean,
): void {
  const last = runs.at(-1);
  if (last?.isUnbound !== isUnbound) {
    runs.push({ first, count, step, isUnbound });
    return;
  }
  if (isUnbound) {
    last.count += count;
    return;
  }
  const end = last.first + last.step * (last.count - 1);
  const gap = first - end;
  const isNext = Math.abs(gap) === 1 && (last.step === 0 || last.step === gap);
  if (!isNext) {
    runs.push({ first, count, step, isUnbound });
    return;
  }
  // the run goes on with the ids that follow in its direction; the rest begins a new one
  const joined = step === 0 || step === gap ? count : 1;
  last.step = gap;
  last.count += joined;
  const left = count - joined;
  if (left === 0) return;
  runs.push({ first: first + step * joined, count: left, step: left === 1 ? 0 : step, isUnbound });
}
