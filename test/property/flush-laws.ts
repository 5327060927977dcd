// What an opportunistic flush of an end may do, judged from the page states before it.
import { expect } from "vitest";
import type { Answer, DirectConfig } from "../../src/base/operations.js";
import { PAGE } from "../../src/kv/alloc/band.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import type { KvCore } from "../../src/kv/core.js";

/** One end before a flush; distances count pages from the base. */
export interface EndBefore {
  readonly band: EndBand;
  readonly isHeld: boolean; // rows of it await publication
  readonly isStill: boolean; // pages pend, or a forward may write anywhere
  readonly live: readonly number[]; // outermost first
  readonly holes: ReadonlySet<number>; // distances
  readonly absorbed: number; // holes that touch the frontier
  readonly mayMove: ReadonlyMap<number, boolean>; // live distance → whether nothing keeps it
  readonly sends: ReadonlyMap<number, readonly string[]>; // live distance → sends that read it
}

/** Both ends as they stand. */
export function ends(core: KvCore): readonly EndBefore[] {
  const held = core.chain.heldPlaces();
  return core.chain.bands.flatMap((band) =>
    band instanceof EndBand ? [endOf(core, band, (held[band.index] ?? []).length > 0)] : [],
  );
}

function endOf(core: KvCore, band: EndBand, isHeld: boolean): EndBefore {
  const live: number[] = [];
  const holes = new Set<number>();
  const mayMove = new Map<number, boolean>();
  const sends = new Map<number, readonly string[]>();
  let absorbed = 0;
  for (let distance = band.span - 1; distance >= 0; distance--) {
    const page = band.pageAt(distance);
    if (band.status[page] === PAGE.hole) {
      holes.add(distance);
      if (distance === band.span - 1 - absorbed) absorbed += 1;
    }
    if (band.status[page] !== PAGE.live) continue;
    const uses = core.chain.ledger.transfers.filter(({ places }) =>
      places[band.index]!.includes(page),
    );
    const isReceived = uses.some(({ direction }) => direction === "receive");
    const isWritten = core.chain.usage.isWritten(band, page);
    live.push(distance);
    mayMove.set(distance, !band.fixed.has(page) && !isReceived && !isWritten);
    sends.set(
      distance,
      uses.map(({ name }) => name),
    );
  }
  const isStill = band.pending.length > 0 || core.chain.usage.hasUnknownWrites;
  return { band, isHeld, isStill, live, holes, absorbed, mayMove, sends };
}

/** Held bands stay as they are; others absorb, then move outermost pages to the innermost holes while nothing keeps the
 * next one, and never past it. A page that a send reads leaves a vacated place behind. */
export function expectFlushed(
  { band, isHeld, isStill, live, holes, absorbed, mayMove, sends }: EndBefore,
  answer: Answer<"chain.flush">,
  config: DirectConfig,
  where: string,
): void {
  const flushed = answer.ok?.[band.plan.name];
  const expected: [number, number][] = [];
  const targets = [...holes]
    .filter((distance) => distance < band.span)
    .sort((left, right) => left - right);
  for (const source of isHeld || isStill ? [] : live) {
    const target = targets[expected.length];
    const isDone = target === undefined || target >= source;
    if (isDone || mayMove.get(source) !== true || expected.length === config.move_cap) break;
    expected.push([band.pageAt(source), band.pageAt(target)]);
  }
  const text = `${band.plan.name} after ${where}`;
  expect(flushed, text).toEqual({ moves: expected, absorbed: isHeld ? 0 : absorbed });
  for (const [source] of expected) {
    const readers = sends.get(band.distanceOf(source)) ?? [];
    if (readers.length === 0) continue;
    const left = band.vacated.find(({ page }) => page === source);
    expect(
      left?.readers.map(({ name }) => name),
      text,
    ).toEqual(expect.arrayContaining([...readers]));
  }
}
