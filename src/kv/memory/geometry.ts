// Page grids over one arena. Every band's grid starts at byte 0: page p is bytes [p * page_bytes, (p + 1) * page_bytes).
import type { BandGeometry, SubPoolConfig } from "../../base/operations.js";
import type { ChainConfig } from "../config.js";

/** One band's grid and its place in the chain. @internal */
export interface BandPlan extends BandGeometry {
  readonly name: string;
  readonly kind: SubPoolConfig["kind"];
  readonly window: number | null; // tokens; null: not a window, or one never retired
  readonly isWindow: boolean;
  readonly isOwner: boolean; // mints the virtual pages
  readonly unitsPerPage: number; // 1 for state
}

/** Reserved low bytes that unmapped ids resolve to: the largest unit and the largest token page. A state unit is
 * charged once, never times the page size. @internal */
export function sinkBytes(config: ChainConfig): number {
  let sink = 0;
  for (const pool of config.subPools) {
    const page = pool.kind === "state" ? pool.unit_bytes : pool.unit_bytes * config.pageSize;
    sink = Math.max(sink, pool.unit_bytes, page);
  }
  return sink;
}

/** The bands of a configuration, low to high: the first grows up, the last down, the rest float; one band alone grows
 * down. `pages = floor(floor(arena / unit) / units)`, `first_page = ceil(ceil(sink / unit) / units)`. @internal */
export function bandPlans(config: ChainConfig): readonly BandPlan[] {
  const sink = sinkBytes(config);
  const last = config.subPools.length - 1;
  return config.subPools.map((pool, index) => {
    const unitsPerPage = pool.kind === "state" ? 1 : config.pageSize;
    return {
      name: pool.name,
      kind: pool.kind,
      window: pool.window ?? null,
      isWindow: pool.kind !== "state" && pool.window !== undefined,
      isOwner: pool.kind !== "state" && pool.window === undefined,
      unitsPerPage,
      grow: index === last ? "down" : index === 0 ? "up" : "float",
      unit_bytes: pool.unit_bytes,
      page_bytes: pool.unit_bytes * unitsPerPage,
      pages: Math.floor(Math.floor(config.arenaBytes / pool.unit_bytes) / unitsPerPage),
      first_page: Math.ceil(Math.ceil(sink / pool.unit_bytes) / unitsPerPage),
    };
  });
}

/** Pages of one band, and rows, that the books of a run can hold: about 13 bytes a page. */
const PAGES_MAX = 2 ** 26;
const ROWS_MAX = 2 ** 22;

/** Why the books of a run on this configuration could not be held in memory, or null. @param host - host pages by band
 * @internal */
export function tooLarge(
  config: ChainConfig,
  host: Readonly<Record<string, number>> = {},
): string | null {
  if (config.rows > ROWS_MAX)
    return `rows is ${String(config.rows)}, at most ${String(ROWS_MAX)} are held`;
  for (const { name, pages, page_bytes } of bandPlans(config)) {
    if (!Number.isSafeInteger(page_bytes))
      return `a page of band ${name} is larger than 2^53 bytes`;
    if (pages > PAGES_MAX) {
      return `band ${name} has ${String(pages)} pages, at most ${String(PAGES_MAX)} are held: a smaller arena_bytes or larger pages`;
    }
    const hostPages = host[name] ?? 0;
    if (hostPages > PAGES_MAX)
      return `host has ${String(hostPages)} pages of band ${name}, at most ${String(PAGES_MAX)} are held`;
  }
  return null;
}
