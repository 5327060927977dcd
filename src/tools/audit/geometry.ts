// The bands that follow from a configuration: chain order, grids, the sink.
import type { BandGeometry, SubPoolConfig } from "../../base/operations.js";

/** @internal */
export interface DueGeometry {
  readonly sink: number; // bytes
  readonly chain: readonly SubPoolConfig[]; // low to high
  readonly grids: readonly BandGeometry[]; // of the chain
}

/** What an arena of these sub-pools looks like. @internal */
export function dueGeometry(
  pageSize: number,
  pools: readonly SubPoolConfig[],
  arenaBytes: number,
): DueGeometry {
  const chain = [...pools].sort((left, right) =>
    rank(left) < rank(right) ? -1 : rank(left) > rank(right) ? 1 : 0,
  );
  const sink = Math.max(
    ...pools.map(({ kind, unit_bytes: unit }) => (kind === "state" ? unit : unit * pageSize)),
  );
  const grids = chain.map(({ kind, unit_bytes: unit }, index): BandGeometry => {
    const pageTokens = kind === "state" ? 1 : pageSize;
    return {
      grow: index === chain.length - 1 ? "down" : index === 0 ? "up" : "float",
      unit_bytes: unit,
      page_bytes: unit * pageTokens,
      pages: Math.floor(Math.floor(arenaBytes / unit) / pageTokens),
      first_page: Math.ceil(Math.ceil(sink / unit) / pageTokens),
    };
  });
  return { sink, chain, grids };
}

// State first, then windows from the longest, full last.
function rank({ kind, window }: SubPoolConfig): number {
  if (kind === "state") return -Infinity;
  if (window === undefined) return Infinity;
  return window === null ? -Number.MAX_VALUE : -window;
}
