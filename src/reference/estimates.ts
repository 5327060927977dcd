// `ask.estimates`: what observers are told, from free bytes and page numbers alone. With stages the least that any stage's
// chain would tell, packed with what all of them hold.
import type { KvArgs, KvOk } from "../base/operations.js";
import { isTransparent } from "./pages.js";
import { invalid } from "./refusal.js";
import { packedSpans } from "./stages.js";
import { type Band, liveCount, pendingCount, type World } from "./world.js";

/** A band as an estimate sees it; `[low, high)` in pages. */
interface Seen {
  readonly band: Band; // its grid
  readonly low: number;
  readonly high: number;
  readonly isEmpty: boolean; // a float that its neighbours see through
  readonly live: number; // pages
  readonly free: number; // pages inside the span that can be had again
}

type Estimates = KvOk["ask.estimates"];

/** @internal */
export function askEstimates(world: World, { inside }: KvArgs["ask.estimates"]): Estimates {
  if (inside !== undefined && world.config.invariants === 2) invalid("observe_only_read");
  if (world.stages === null) {
    const seen = world.bands.map((band): Seen => {
      const free = band.holes.length + pendingCount(band);
      const isEmpty = isTransparent(band);
      return { band, low: band.low, high: band.high, isEmpty, live: liveCount(band), free };
    });
    return estimatesOf(world, seen, world.arenaBytes);
  }
  const all = world.stages.map((stage) => {
    const seen = packedSpans(world, stage).map(({ band, low, high }, place): Seen => {
      const live = liveCount(world.bands[place]!); // stages have the same bands
      return { band, low, high, isEmpty: band.grow === "float" && live === 0, live, free: 0 };
    });
    return estimatesOf(world, seen, stage.arenaBytes);
  });
  return all.reduce((least, other) => leastOf(least, other));
}

function leastOf(left: Estimates, right: Estimates): Estimates {
  const entries = Object.entries(left).map(([name, { held, available, usage }]) => {
    const other = right[name]!; // of the same bands
    const least = {
      held,
      available: Math.min(available, other.available),
      usage: Math.min(usage, other.usage),
    };
    return [name, least] as const;
  });
  return Object.fromEntries(entries);
}

function estimatesOf(world: World, seen: readonly Seen[], arenaBytes: number): Estimates {
  return Object.fromEntries(
    seen.map((one, place) => {
      const tokens = one.band.role === "state" ? 1 : world.config.page_size;
      const room = one.band.pages - one.band.firstPage - (one.high - one.low);
      const fresh = Math.max(0, Math.min(gapPages(seen, place, arenaBytes), room));
      const available = fresh + one.free;
      const usage = one.live === 0 ? 0 : Math.floor((100 * one.live) / (one.live + available));
      return [one.band.name, { held: one.live * tokens, available: available * tokens, usage }];
    }),
  );
}

// Free bytes on the side where the band grows, of a float on the better side, in pages.
function gapPages(seen: readonly Seen[], place: number, arenaBytes: number): number {
  const { band, low, high, isEmpty } = seen[place]!; // inside the chain
  const { pageBytes } = band;
  const under = seen.slice(0, place).findLast((other) => !other.isEmpty);
  const over = seen.slice(place + 1).find((other) => !other.isEmpty);
  const from = under === undefined ? 0 : under.high * under.band.pageBytes;
  const to = over === undefined ? arenaBytes : over.low * over.band.pageBytes;
  if (isEmpty) {
    const first = Math.max(Math.ceil(from / pageBytes), band.firstPage);
    return Math.min(Math.floor(to / pageBytes), band.pages) - first;
  }
  const below = low * pageBytes - from;
  const above = to - high * pageBytes;
  const bytes = band.grow === "up" ? above : band.grow === "down" ? below : Math.max(below, above);
  return Math.floor(bytes / pageBytes);
}
