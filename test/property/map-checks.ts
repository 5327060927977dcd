// What a page map must say of a state, checked against the lists of the state itself.
import { expect } from "vitest";
import { countOf, idsOf } from "../../src/base/extents.js";
import type { Extents } from "../../src/base/operations.js";
import type { BandState } from "../../src/base/state.js";
import { laneChanges, type PageUse } from "../../src/tools/view/changes.js";
import {
  type Cell,
  cellAt,
  type CellClass,
  type Lane,
  type PageMap,
} from "../../src/tools/view/page-map.js";

function pagesOf(cells: readonly Cell[], ...kinds: CellClass[]): number[] {
  return cells
    .filter((cell) => kinds.includes(cell.class))
    .flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index));
}
function sorted(...lists: readonly Extents[]): number[] {
  return lists.flatMap((list) => [...idsOf(list)]).sort((left, right) => left - right);
}

/** Spans without a gap, the rest in nobody's span, no page twice. */
export function expectCover(map: PageMap, lane: Lane): void {
  let end = lane.first_page;
  for (const { first, count } of lane.cells) {
    expect(first).toBeGreaterThanOrEqual(end);
    expect(count).toBeGreaterThan(0);
    end = first + count;
  }
  expect(end).toBeLessThanOrEqual(Math.max(lane.pages, lane.first_page));
  const [first, count] = lane.span;
  const outside = new Set(pagesOf(lane.cells, "free", "fenced"));
  const wrong: number[] = []; // judged page by page, told once
  for (let page = lane.first_page; page < lane.pages; page++) {
    const inSpan = page >= first && page < first + count;
    const [from, to] = [page * lane.page_bytes, (page + 1) * lane.page_bytes];
    const isTaken = map.lanes.some(
      ({ span_bytes: [low, high] }) => low < high && low < to && high > from,
    );
    const cell = cellAt(lane, page);
    if ((cell !== null) !== (inSpan || !isTaken) || outside.has(page) === isTaken) wrong.push(page);
    if (isTaken || map.fences.length === 0) continue;
    const users = map.fences.filter((fence) => fence.from < to && fence.to > from);
    expect(new Set(cell?.waits)).toEqual(new Set(users.flatMap(({ signals }) => signals)));
  }
  expect(wrong, "pages in the wrong cells").toEqual([]);
}

/** Classes, counts and ids as the state lists them. */
export function expectLists(lane: Lane, band: BandState): void {
  const { cells } = lane;
  const bound = new Map<number, number>();
  for (const [virtual, physical, count] of band.bindings)
    for (let index = 0; index < count; index++) bound.set(physical + index, virtual + index);
  expect(pagesOf(cells, "hole")).toEqual(sorted(band.holes));
  expect(pagesOf(cells, "pending")).toEqual(sorted(...band.pending.map(({ pages }) => pages)));
  expect(pagesOf(cells, "vacated")).toEqual(sorted(...band.vacated.map(({ pages }) => pages)));
  expect(pagesOf(cells, "fixed")).toEqual(sorted(band.fixed));
  expect(pagesOf(cells, "live", "fixed")).toHaveLength(band.live);
  for (const page of pagesOf(cells, "live", "fixed")) {
    const cell = cellAt(lane, page)!;
    const id = cell.virtual === null ? undefined : cell.virtual + page - cell.first;
    expect(id).toBe(bound.get(page));
    bound.delete(page);
  }
  expect(bound.size).toBe(0);
  expect([lane.live, lane.holes, lane.fixed]).toEqual([
    band.live,
    countOf(band.holes),
    countOf(band.fixed),
  ]);
  expect(lane.span).toEqual(band.span);
  for (const { key, pages } of band.pending)
    for (const page of idsOf(pages)) expect(cellAt(lane, page)!.waits).toEqual([key]);
}

/** Every page is in a run of changes exactly if its class or id is another one, and the run says which. */
export function expectChanges(before: Lane, after: Lane): number {
  const useOf = (lane: Lane, page: number): PageUse => {
    const cell = cellAt(lane, page);
    if (cell === null) return { class: "free", virtual: null };
    return {
      class: cell.class,
      virtual: cell.virtual === null ? null : cell.virtual + page - cell.first,
    };
  };
  const changes = laneChanges(before, after);
  const found = new Map<number, readonly [PageUse, PageUse]>();
  for (const { first, count, before: was, after: is } of changes) {
    for (let index = 0; index < count; index++) {
      const at = (use: PageUse): PageUse => ({
        class: use.class,
        virtual: use.virtual === null ? null : use.virtual + index,
      });
      found.set(first + index, [at(was), at(is)]);
    }
  }
  const wrong: number[] = [];
  for (let page = 0; page < Math.max(before.pages, after.pages); page++) {
    const [was, is] = [useOf(before, page), useOf(after, page)];
    const isChanged = was.class !== is.class || was.virtual !== is.virtual;
    const told = JSON.stringify(found.get(page));
    if (told !== (isChanged ? JSON.stringify([was, is]) : undefined)) wrong.push(page);
  }
  expect(wrong, "pages whose change is told wrongly").toEqual([]);
  return changes.length;
}
