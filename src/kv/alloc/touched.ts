// Which transfers a relief touches: whose pages it moves, overwrites or hands out. Worked out before anything moves, so
// that all host waits come first and a deadline refuses the take while nothing has changed.
import type { Band } from "./band.js";
import type { Consumer } from "./clearance.js";
import { EndBand } from "./end-band.js";
import { FloatBand } from "./float-band.js";
import { type IsFixed, nothingFixed, packEnd } from "./packing.js";
import type { ChainPlan } from "./pricing.js";
import { relocationMoves } from "./relocation.js";
import type { NetworkTransfer } from "./signals.js";

/** A layout and which pages stay in it. @internal */
export interface ReliefPlan {
  readonly plan: ChainPlan;
  readonly fixed: readonly IsFixed[]; // by band
  readonly movesTransfers: boolean; // the second attempt
}

/** A transfer in the way of a plan, and who would write its bytes. @internal */
export interface TouchedTransfer {
  readonly transfer: NetworkTransfer;
  readonly consumers: ReadonlySet<Consumer>;
}

/** Bytes `[from, to)` that a plan writes. */
interface WrittenBytes {
  readonly from: number;
  readonly to: number;
  readonly consumer: Consumer;
}

/** Who writes a band's pages first: nobody zeroes a state, its consumer copies or resets it; a receive's token pages are
 * zeroed before the peer learns their numbers. @internal */
export function firstWriter(band: Band, consumer: Consumer): Consumer {
  if (band.plan.kind !== "state") return consumer === "network_receive" ? "zero" : consumer;
  return consumer === "zero" ? "schedule_copy" : consumer;
}

/** Whether a plan moves a float's pages. @internal */
export function isPlacedAnew(band: Band, plan: ChainPlan, isFixed: IsFixed): band is FloatBand {
  if (plan.step !== "relayout" || !(band instanceof FloatBand) || band.live === 0) return false;
  return isFixed === nothingFixed || !band.livePages().some((page) => isFixed(page));
}

/** Transfers that a plan touches, oldest first. @internal */
export function touchedTransfers(
  bands: readonly Band[],
  transfers: readonly NetworkTransfer[],
  relief: ReliefPlan,
  demand: readonly number[],
  consumer: Consumer,
): readonly TouchedTransfer[] {
  if (transfers.length === 0) return [];
  const moved = bands.map(() => new Set<number>());
  const written = bands.flatMap((band) =>
    writtenBy(band, relief, demand[band.index]!, consumer, moved[band.index]!),
  );
  const touched: TouchedTransfer[] = [];
  for (const transfer of transfers) {
    const consumers = new Set<Consumer>();
    for (const [index, pages] of transfer.places.entries()) {
      const size = bands[index]!.plan.page_bytes; // places by band
      for (const page of pages) {
        if (moved[index]!.has(page)) consumers.add("schedule_copy");
        for (const { from, to, consumer: writer } of written)
          if (from < (page + 1) * size && to > page * size) consumers.add(writer);
      }
    }
    if (consumers.size > 0) touched.push({ transfer, consumers });
  }
  return touched;
}

/** Bytes that a plan writes in one band: destinations of moves, and fresh pages that it hands out. Notes the sources. */
function writtenBy(
  band: Band,
  { plan, fixed }: ReliefPlan,
  wanted: number,
  consumer: Consumer,
  moved: Set<number>,
): WrittenBytes[] {
  const size = band.plan.page_bytes;
  const written: WrittenBytes[] = [];
  const write = (page: number, count: number, writer: Consumer): void => {
    if (count > 0) written.push({ from: page * size, to: (page + count) * size, consumer: writer });
  };
  const isFixed = fixed[band.index]!; // one a band
  const [first, count] = plan.spans[band.index]!;
  const writer = firstWriter(band, consumer);
  if (band instanceof EndBand) {
    // Pending pages have settled by the time the plan is followed.
    const free = band.holes.length + band.pendingPages;
    const flushes = plan.step !== "no_move" && (free > 0 || band.vacated.length > 0);
    const { moves, span } = flushes ? packEnd(band, isFixed) : { moves: [], span: band.span };
    for (const [source, target] of moves) {
      moved.add(source);
      write(target, 1, "schedule_copy");
    }
    const holes = flushes ? span - band.live - keptInside(band, span, moves) : free;
    const fresh = Math.max(0, wanted - Math.max(0, holes));
    if (fresh > 0) write(band.pageAt(band.isUp ? span : span + fresh - 1), fresh, writer);
    return written;
  }
  if (isPlacedAnew(band, plan, isFixed)) {
    for (const [source, target] of relocationMoves(band, first)) {
      moved.add(source);
      write(target, 1, "schedule_copy");
    }
    write(first + band.live, wanted, writer);
    return written;
  }
  // A float that stays, or an empty one that is placed: what it does not cover yet.
  if (band.spanCount === 0) write(first, count, writer);
  else {
    write(first, band.spanFirst - first, writer);
    const end = band.spanFirst + band.spanCount;
    write(end, first + count - end, writer);
  }
  return written;
}

/** Vacated pages that stay inside a packed span. */
function keptInside(
  band: EndBand,
  span: number,
  moves: readonly (readonly [number, number])[],
): number {
  const targets = new Set(moves.map(([, target]) => target));
  return band.vacated.filter(({ page }) => band.distanceOf(page) < span && !targets.has(page))
    .length;
}
