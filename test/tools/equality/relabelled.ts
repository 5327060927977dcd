// A trace with its ids renamed: every space through a permutation of its own, nothing else touched.
import { expand, toExtents } from "../../../src/base/extents.js";
import { Prng } from "../../../src/base/prng.js";
import type { Line } from "../faulty-adapter.js";

/** One-to-one renamings by space (`virtual`, `slots`, `rows`, a band, `host BAND`), drawn from a seed. */
export class Renaming {
  readonly #seed: number;
  readonly #bySpace = new Map<string, readonly number[]>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** 0 stands for itself: it names nothing, or it is the first host page, which may keep its number as well. */
  of(space: string, id: number): number {
    if (id === 0) return 0;
    let table = this.#bySpace.get(space);
    if (table === undefined) {
      table = permutation(this.#seed + this.#bySpace.size, 4096);
      this.#bySpace.set(space, table);
    }
    return table[id]!;
  }
}

function permutation(seed: number, size: number): number[] {
  const random = new Prng(seed);
  const table = Array.from({ length: size }, (_, id) => id);
  for (let at = size - 1; at > 1; at--) {
    const other = 1 + random.below(at); // 0 stays where it is
    [table[at], table[other]] = [table[other]!, table[at]!];
  }
  return table;
}

/** The line with its ids renamed; bands are those of the run. */
export function relabelled(line: Line, names: Renaming, bands: ReadonlySet<string>): Line {
  if (line.kind !== "op") return line;
  const { digest: _digest, ...rest } = line; // digests hash ids
  const renamed = { ...rest };
  if (line.ok !== undefined) renamed.ok = result(line.ok, line.op, names, bands);
  if (line.fx !== undefined) renamed.fx = line.fx.map((effect: Line) => effectOf(effect, names));
  if (line.op === "ask.translate" && line.args.virtual !== undefined) {
    renamed.args = { ...line.args, virtual: list(line.args.virtual, "virtual", names) };
  }
  return renamed;
}

function list(extents: Line, space: string, names: Renaming): Line {
  return toExtents(expand(extents).map((id) => names.of(space, id)));
}

function hostList(extents: Line, space: string, names: Renaming): Line {
  // host page 0 is a page: written out id by id
  return extents.flatMap(([first, count]: [number, number]) =>
    Array.from({ length: Math.abs(count) }, (_, i) => [
      names.of(space, first + Math.sign(count) * i),
      1,
    ]),
  );
}

function result(ok: Line, op: string, names: Renaming, bands: ReadonlySet<string>): Line {
  if (op === "boot" || op === "check.idle") return ok;
  return walk(ok, op === "host.evict" ? "host" : "", names, bands);
}

function walk(value: Line, space: string, names: Renaming, bands: ReadonlySet<string>): Line {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const renamed: Line = {};
  for (const [key, member] of Object.entries<Line>(value)) {
    const isSpace = bands.has(key) || key === "virtual" || key === "slots";
    const inside = isSpace && space !== "host" ? key : space;
    if (key === "rows") {
      renamed[key] = Object.fromEntries(
        Object.entries<number>(member).map(([req, row]) => [req, names.of("rows", row)]),
      );
    } else if (key === "slot" || key === "replacement") {
      renamed[key] = member === null ? null : names.of("slots", member);
    } else if (key === "resets") renamed[key] = list(member, "rows", names);
    else if (key === "moves" && Array.isArray(member)) {
      renamed[key] = member.map((pair: number[]) => pair.map((page) => names.of(space, page)));
    } else if (key === "host") renamed[key] = walk(member, "host", names, bands);
    else if (isExtents(member)) {
      renamed[key] =
        space === "host"
          ? hostList(member, `host ${key}`, names)
          : list(member, inside === "" ? key : inside, names);
    } else renamed[key] = walk(member, inside, names, bands);
  }
  return renamed;
}

// A span is a pair of numbers and no list of extents.
function isExtents(value: Line): boolean {
  return Array.isArray(value) && value.every((entry: Line) => Array.isArray(entry));
}

function effectOf(effect: Line, names: Renaming): Line {
  const [kind, what, ...rest] = effect;
  switch (kind) {
    case "move":
    case "copy":
      return [
        kind,
        what,
        rest[0].map((pair: number[]) => pair.map((page) => names.of(what, page))),
      ];
    case "zero":
      return [kind, what, list(rest[0], what, names)];
    case "reset":
      return [kind, list(what, "rows", names)];
    case "hostcopy":
    case "net":
      return [
        kind,
        what,
        rest[0],
        Object.fromEntries(
          Object.entries<Line>(rest[1]).map(([band, pages]) => [band, list(pages, band, names)]),
        ),
      ];
    default:
      return effect;
  }
}
