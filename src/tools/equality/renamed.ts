// Mode `renamed`: the same answers up to a one-to-one renaming of ids in each space, built along the run over the
// lifetimes of what the ids name. Digests hash ids and say nothing here. Moves of one effect are a set: each source's
// destination stands for the other side's.
import type { Effect, MovePair } from "../../base/effects.js";
import { idsOf, toExtents } from "../../base/extents.js";
import type { Answer, Extents, Operation } from "../../base/operations.js";
import { pickAlternative } from "../../trace/alternatives.js";
import { valueDifferences } from "../../trace/compare-values.js";
import { ANYTHING, type AnySpec, memberSpec } from "../../trace/fields.js";
import { EFFECTS, ERROR } from "../../trace/line-specs.js";
import { below } from "../../trace/messages.js";
import { findOperation } from "../../trace/operation-table.js";
import type { AnsweredLine } from "../answered-line.js";
import type { BrokenRenaming, FieldDifference } from "../outcome.js";
import { type Equality, FIELDS_MAX, type PartsHolder } from "./equality.js";
import { IdPairs } from "./id-pairs.js";
import { withoutPlacement } from "./projection.js";

type Bag = Readonly<Record<string, unknown>>;

/** Where in an answer a value stands. */
interface Place {
  readonly path: string;
  readonly key: string; // the nearest key of a map, else the field's name
  readonly isBack: boolean; // ids here come back
}

const BACK: ReadonlySet<string> = new Set(["freed", "released"]);

/** @internal */
export class RenamedEquality implements Equality {
  readonly mode = "renamed";
  looked = 0;
  readonly #of: PartsHolder;
  readonly #ids = new IdPairs();
  #found: FieldDifference[] = [];

  constructor(of: PartsHolder) {
    this.#of = of;
  }

  get #fx(): boolean {
    return this.#of.parts.fx;
  }

  /** The pair at which the renaming broke, once it did. */
  get broken(): BrokenRenaming | null {
    return this.#ids.broken;
  }

  differences(line: AnsweredLine, candidate: Answer): readonly FieldDifference[] {
    this.looked += 1;
    this.#found = [];
    const { op } = line;
    const place = { path: "/err", key: "", isBack: false };
    this.#plain(ERROR, line.err, candidate.err, place);
    if (line.ok !== undefined && (op === "boot" || op === "arena.resize")) this.#ids.clear();
    // moves first: the lists of the answer name pages where they then lie
    if (this.#fx) this.#effects(line.fx ?? [], candidate.fx ?? []);
    const spec: AnySpec = findOperation(op)?.ok ?? ANYTHING;
    this.#compare(spec, line.ok, candidate.ok, { path: "/ok", key: "", isBack: false });
    return this.#found;
  }

  asked(operation: Operation): Operation {
    if (operation.op !== "ask.translate" || operation.args.virtual === undefined) return operation;
    const own = [...idsOf(operation.args.virtual)].map(
      (id) => this.#ids.candidateOf("virtual", id) ?? id,
    );
    return { ...operation, args: { ...operation.args, virtual: toExtents(own) } };
  }

  #add({ path }: Place, base: unknown, candidate: unknown): void {
    if (this.#found.length < FIELDS_MAX) this.#found.push({ path, base, candidate });
  }

  #plain(spec: AnySpec, base: unknown, candidate: unknown, place: Place): void {
    if (base === candidate) return;
    const room = FIELDS_MAX - this.#found.length;
    for (const each of valueDifferences(spec, base, candidate, room)) {
      this.#found.push({ ...each, path: place.path + each.path });
    }
  }

  #compare(spec: AnySpec, base: unknown, candidate: unknown, place: Place): void {
    if (base === undefined || candidate === undefined || base === null || candidate === null) {
      if (base !== candidate) this.#add(place, base, candidate);
      return;
    }
    switch (spec.type) {
      case "extents":
        this.#extents(spec, base as Extents, candidate as Extents, place);
        return;
      case "integer":
        this.#integer(spec, base as number, candidate as number, place);
        return;
      case "list": {
        if (base === candidate) return;
        if (spec.isPlacement === true && this.#fx) return; // moves: compared as effects
        const [left, right] = [withoutPlacement(spec, base), withoutPlacement(spec, candidate)];
        this.#plain(spec.mode === "set" ? spec : ANYTHING, left, right, place);
        return;
      }
      case "map":
      case "object":
      case "banded":
        this.#members(spec, base as Bag, candidate as Bag, place);
        return;
      case "either":
        this.#compare(pickAlternative(spec.of, base) ?? ANYTHING, base, candidate, place);
        return;
      default:
        this.#plain(spec, base, candidate, place);
    }
  }

  #members(
    spec: AnySpec & { readonly type: "map" | "object" | "banded" },
    base: Bag,
    candidate: Bag,
    place: Place,
  ): void {
    const keys = Object.keys(base);
    if (base !== candidate) {
      keys.push(...Object.keys(candidate).filter((key) => !Object.hasOwn(base, key)));
    }
    for (const key of keys) {
      if (key.startsWith("x_")) continue;
      const { of, isKey } = memberSpec(spec, key);
      this.#compare(of ?? ANYTHING, base[key], candidate[key], {
        path: below(place.path, key),
        key: isKey || place.key === "" ? key : place.key,
        isBack: place.isBack || BACK.has(key),
      });
    }
  }

  #integer(
    spec: AnySpec & { readonly type: "integer" },
    base: number,
    candidate: number,
    place: Place,
  ): void {
    const { space } = spec;
    if (space === "unnamed") return;
    if (space === undefined) {
      if (base !== candidate) this.#add(place, base, candidate);
      return;
    }
    // nothing tells when a row or an address comes back, but by then it is handed out anew
    const isHandOut = space === "rows" || space === "address";
    const isSame = isHandOut
      ? this.#ids.meetAnew(space, base, candidate)
      : this.#pair(space, base, candidate, place);
    if (!isSame) this.#add(place, base, candidate);
  }

  #extents(
    spec: AnySpec & { readonly type: "extents" },
    base: Extents,
    candidate: Extents,
    place: Place,
  ): void {
    const space =
      spec.space === "key" ? place.key : spec.space === "host" ? `host ${place.key}` : spec.space;
    const isUnbound = spec.zero === "unbound";
    if (!this.#lists(space, isUnbound, base, candidate, place)) this.#add(place, base, candidate);
  }

  // Every id is paired even behind a broken one: the rest of the run should differ by no more than it must.
  #lists(
    space: string,
    isZeroUnbound: boolean,
    base: Extents,
    candidate: Extents,
    place: Place,
  ): boolean {
    const left = idsIn(base, isZeroUnbound);
    const right = base === candidate ? left : idsIn(candidate, isZeroUnbound);
    if (left.length !== right.length) return false;
    let isSame = true;
    for (const [index, id] of left.entries()) {
      const other = right[index]!; // as long as the other
      if (isZeroUnbound && (id === 0 || other === 0)) isSame &&= id === other;
      else isSame = this.#pair(space, id, other, place) && isSame;
    }
    return isSame;
  }

  #pair(space: string, base: number, candidate: number, { isBack }: Place): boolean {
    if (isBack) return this.#ids.leave(space, base, candidate);
    // host pages come back with the end of a copy, which lists none
    return space.startsWith("host ")
      ? this.#ids.meetAnew(space, base, candidate)
      : this.#ids.meet(space, base, candidate);
  }

  #effects(base: readonly Effect[], candidate: readonly Effect[]): void {
    const place = { path: "/fx", key: "", isBack: false };
    const isSameShape =
      base.length === candidate.length && base.every(([kind], i) => candidate[i]?.[0] === kind);
    if (!isSameShape) {
      this.#plain(EFFECTS, base, candidate, place);
      return;
    }
    for (const [index, effect] of base.entries()) {
      const other = candidate[index]!; // as long as the other, and of the same kind
      const at = { ...place, path: below(place.path, index) };
      if (!this.#effect(effect, other, at)) this.#add(at, effect, other);
    }
  }

  #effect(base: Effect, candidate: Effect, place: Place): boolean {
    switch (base[0]) {
      case "move":
        return base[1] === candidate[1] && this.#moves(base[1], base[2], pairsOf(candidate));
      case "copy":
        return base[1] === candidate[1] && this.#copies(base[1], base[2], pairsOf(candidate));
      case "zero":
        return (
          base[1] === candidate[1] &&
          this.#lists(base[1], true, base[2], candidate[2] as Extents, place)
        );
      case "reset":
        return this.#lists("rows", false, base[1], candidate[1] as Extents, place);
      case "hostcopy":
      case "net": {
        if (base[1] !== candidate[1] || base[2] !== candidate[2]) return false;
        return this.#bands(base[3], candidate[3] as Readonly<Record<string, Extents>>, place);
      }
      default:
        return base[1] === candidate[1];
    }
  }

  #bands(
    base: Readonly<Record<string, Extents>>,
    candidate: Readonly<Record<string, Extents>>,
    place: Place,
  ): boolean {
    const names = Object.keys(base);
    if (names.length !== Object.keys(candidate).length) return false;
    let isSame = true;
    for (const band of names) {
      const other = candidate[band];
      if (other === undefined) return false;
      isSame = this.#lists(band, true, base[band]!, other, place) && isSame; // a key of it
    }
    return isSame;
  }

  #moves(band: string, base: readonly MovePair[], candidate: readonly MovePair[]): boolean {
    if (base.length !== candidate.length) return false;
    const destinations = new Map(candidate);
    const moved: [src: number, dst: number, otherSrc: number, otherDst: number][] = [];
    for (const [index, [src, dst]] of base.entries()) {
      const otherSrc = this.#ids.candidateOf(band, src) ?? candidate[index]![0]; // as long as the other
      const otherDst = destinations.get(otherSrc);
      if (otherDst === undefined) return false;
      moved.push([src, dst, otherSrc, otherDst]);
    }
    let isSame = true;
    for (const [src, , otherSrc] of moved) isSame = this.#ids.leave(band, src, otherSrc) && isSame;
    for (const [, dst, , otherDst] of moved) isSame = this.#ids.meet(band, dst, otherDst) && isSame;
    return isSame;
  }

  #copies(band: string, base: readonly MovePair[], candidate: readonly MovePair[]): boolean {
    if (base.length !== candidate.length) return false;
    return base.every(([src, dst], index) => {
      const [otherSrc, otherDst] = candidate[index]!; // as long as the other
      return this.#ids.meet(band, src, otherSrc) && this.#ids.meet(band, dst, otherDst);
    });
  }
}

function pairsOf(effect: Effect): readonly MovePair[] {
  return effect[2] as readonly MovePair[]; // of an effect of the same kind
}

function idsIn(extents: Extents, isZeroUnbound: boolean): readonly number[] {
  const ids: number[] = [];
  for (const [first, count] of extents) {
    // where 0 is no page its entry repeats it; in the other spaces 0 is an id like any other
    const step = isZeroUnbound && first === 0 ? 0 : Math.sign(count);
    for (let i = 0; i < Math.abs(count); i++) ids.push(first + step * i);
  }
  return ids;
}
