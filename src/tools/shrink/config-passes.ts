// Passes over the configuration: bands, features, sizes; pages of one token with everything measured in them; bytes
// divided by what they have in common.
import type { DirectConfig, KvOperation } from "../../base/operations.js";
import { DIRECT_CONFIG } from "../../trace/config-spec.js";
import type { AnySpec } from "../../trace/fields.js";
import { inspect, inspectContext } from "../../trace/inspect.js";
import { configProblem, runWords } from "../../trace/run-words.js";
import { GONE, rewritten, specOf, withArgs } from "./arguments.js";
import type { Bag } from "./arguments.js";
import type { Piece, Work } from "./case.js";
import type { Search } from "./search.js";
import { smallerValues } from "./smaller-values.js";

/** @internal */
export async function shrinkConfig(search: Search): Promise<boolean> {
  return search.sweep("configuration", 0, function* (best, cursor) {
    let index = 0;
    for (const work of smallerConfigs(best)) {
      // what came before was tried with other values; the next round tries it again
      if (index >= cursor) yield { work: legal(work), cursor: index };
      index += 1;
    }
  });
}

function* smallerConfigs(best: Work): Iterable<Work | null> {
  for (const { name } of best.config.sub_pools) yield withoutBand(best, name);
  if (best.config.page_size > 1) yield inPages(best, best.config.page_size);
  if (best.config.page_size % 2 === 0) yield inPages(best, 2);
  yield inSmallerBytes(best);
  for (const config of smallerValues(DIRECT_CONFIG, best.config)) {
    yield { ...best, config: config as DirectConfig }; // of the same spec
  }
}

/** Null where the configuration, or an operation under it, is no longer well formed. */
function legal(work: Work | null): Work | null {
  if (work === null) return null;
  const { config, pieces } = work;
  const problem = inspect(DIRECT_CONFIG, config, inspectContext()) ?? configProblem(config, "");
  if (problem !== null) return null;
  const context = inspectContext(runWords("kv", config));
  const isWrong = ({ operation }: Piece): boolean =>
    inspect(specOf(operation).args, operation.args, context) !== null;
  return pieces.some(isWrong) ? null : work;
}

/** The case without a band, which leaves every demand and every list of bands. */
function withoutBand(best: Work, band: string): Work | null {
  const visit = (spec: AnySpec, value: unknown): unknown => {
    if (spec.type === "map" && (spec.keys === "band" || spec.keys === "pages")) {
      return Object.fromEntries(Object.entries(value as Bag).filter(([key]) => key !== band));
    }
    return spec.type === "text" && spec.rule === "band" && value === band ? GONE : value;
  };
  const { sub_pools: pools, primary_window: primary, ...rest } = best.config;
  const config = rewritten(DIRECT_CONFIG, rest, visit);
  if (config === GONE) return null;
  const pieces: Piece[] = [];
  for (const piece of best.pieces) {
    const args = rewritten(specOf(piece.operation).args, piece.operation.args, visit);
    if (args !== GONE) pieces.push({ ...piece, operation: withArgs(piece.operation, args) });
  }
  return {
    pieces,
    config: {
      ...(config as Omit<DirectConfig, "sub_pools">), // its fields were kept
      sub_pools: pools.filter(({ name }) => name !== band),
      ...(primary === undefined || primary === band ? {} : { primary_window: primary }),
    },
  };
}

/** Pages of fewer tokens, and as many fewer tokens everywhere: pages and bytes stay what they were. */
function inPages(best: Work, factor: number): Work {
  const visit = (spec: AnySpec, value: unknown): unknown =>
    spec.type === "integer" && spec.unit === "tokens" && typeof value === "number"
      ? Math.max(spec.min, Math.ceil(value / factor))
      : value;
  const scaled = rewritten(DIRECT_CONFIG, best.config, visit) as DirectConfig; // nothing is gone
  const config: DirectConfig = {
    ...scaled,
    sub_pools: scaled.sub_pools.map((pool) =>
      pool.kind === "state" ? pool : { ...pool, unit_bytes: pool.unit_bytes * factor },
    ),
  };
  const pieces = best.pieces.map((piece) => {
    const { operation } = piece;
    const args = rewritten(specOf(operation).args, operation.args, visit);
    return { ...piece, operation: withArgs(operation, args) };
  });
  return { config, pieces };
}

/** All bytes divided by their greatest common divisor. */
function inSmallerBytes(best: Work): Work | null {
  const visit =
    (of: (bytes: number) => number) =>
    (spec: AnySpec, value: unknown): unknown =>
      spec.type === "integer" && spec.unit === "bytes" ? of(value as number) : value;
  let common = 0;
  const gather = visit((bytes) => {
    common = greatestCommonDivisor(common, bytes);
    return bytes;
  });
  const all = (with_: ReturnType<typeof visit>): Work => ({
    config: rewritten(DIRECT_CONFIG, best.config, with_) as DirectConfig, // nothing is gone
    pieces: best.pieces.map((piece) => ({ ...piece, operation: resized(piece.operation, with_) })),
  });
  all(gather);
  return common > 1 ? all(visit((bytes) => bytes / common)) : null;
}

function resized(
  operation: KvOperation,
  visit: (spec: AnySpec, value: unknown) => unknown,
): KvOperation {
  return withArgs(operation, rewritten(specOf(operation).args, operation.args, visit));
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}
