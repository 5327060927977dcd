// The changes between two maps: put onto the one they give the other, and they touch nothing that is the same.
import { expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { FrameList } from "../../../src/tools/view/frame-list.js";
import { CELL_NUMBERS, joinedChanges, laneChanges } from "../../../src/tools/view/map-changes.js";
import { RUN_NUMBERS, type SideChanges } from "../../../src/tools/view/view-data.js";

const PAGES = 60;
type Page = readonly [code: number, label: number, virtual: number];
const ELSEWHERE: Page = [0, 0, 0];

function randomLane(random: Prng): number[] {
  const cells: number[] = [];
  let page = random.between(0, 5);
  while (page < PAGES) {
    const count = Math.min(random.between(1, 9), PAGES - page);
    const code = random.between(1, 7);
    const virtual = code === 2 ? random.between(1, 40) : 0;
    if (random.between(0, 4) > 0) cells.push(page, count, code, random.between(0, 3), virtual);
    page += count;
  }
  return cells;
}

/** The same, page by page. */
function pagesOf(cells: readonly number[]): Page[] {
  const pages = Array.from({ length: PAGES }, () => ELSEWHERE);
  for (let at = 0; at < cells.length; at += CELL_NUMBERS) {
    const [first, count, code, label, virtual] = cells.slice(at, at + CELL_NUMBERS) as [
      number,
      number,
      number,
      number,
      number,
    ];
    for (let index = 0; index < count; index++)
      pages[first + index] = [code, label, virtual === 0 ? 0 : virtual + index];
  }
  return pages;
}

/** Puts changes onto pages; which pages they name. */
function put(pages: Page[], runs: readonly number[]): Set<number> {
  const named = new Set<number>();
  for (let at = 0; at < runs.length; at += RUN_NUMBERS) {
    const [, code, first, count, label, virtual] = runs.slice(at, at + RUN_NUMBERS);
    for (let index = 0; index < count!; index++) {
      named.add(first! + index);
      pages[first! + index] = [code!, label!, virtual === 0 ? 0 : virtual! + index];
    }
  }
  return named;
}

test("changes lead from one map to the next and name only pages that change", () => {
  for (let seed = 0; seed < 400; seed++) {
    const random = new Prng(seed, 7);
    const [before, after] = [randomLane(random), randomLane(random)];
    const runs: number[] = [];
    laneChanges(0, before, after, runs);
    const pages = pagesOf(before);
    const old = [...pages];
    const named = put(pages, runs);
    expect(pages, `seed ${seed}`).toEqual(pagesOf(after));
    for (const page of named) expect(pages[page], `seed ${seed}`).not.toEqual(old[page]);
  }
});

test("a map has no changes against itself", () => {
  for (let seed = 0; seed < 50; seed++) {
    const lane = randomLane(new Prng(seed, 7));
    const runs: number[] = [];
    laneChanges(0, lane, lane, runs);
    expect(runs).toEqual([]);
  }
});

test("two changes joined do what they do one after the other", () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = new Prng(seed, 7);
    const lanes = [randomLane(random), randomLane(random), randomLane(random)];
    const steps = [0, 1].map((index): SideChanges => {
      const runs: number[] = [];
      laneChanges(0, lanes[index]!, lanes[index + 1]!, runs);
      return { geometry: null, runs };
    });
    const pages = pagesOf(lanes[0]!);
    put(pages, joinedChanges(steps[0]!, steps[1]!)!.runs);
    expect(pages).toEqual(pagesOf(lanes[2]!));
  }
});

test("a new geometry makes what was before it worthless", () => {
  const first = { geometry: null, runs: [0, 2, 1, 1, 0, 1] };
  const second = { geometry: 1, runs: [0, 2, 5, 1, 0, 1] };
  expect(joinedChanges(first, second)).toEqual(second);
  expect(joinedChanges(second, first)).toEqual({
    geometry: 1,
    runs: [...second.runs, ...first.runs],
  });
  expect(joinedChanges(first, null)).toBe(first);
  expect(joinedChanges(null, second)).toBe(second);
});

test("a long run keeps every frame near what matters, and what dropped ones changed", () => {
  const list = new FrameList({ most: 200, focus: [3000] });
  const side = (n: number): { answer: null; changes: SideChanges } => ({
    answer: null,
    changes: { geometry: null, runs: [0, 2, n, 1, 0, 0] },
  });
  for (let n = 0; n < 5000; n++)
    if (list.wants(n)) list.add({ n, op: "x", args: "{}", base: side(n), candidate: null });
  const numbers = list.frames.map(({ n }) => n);
  expect(numbers.length).toBeLessThanOrEqual(200);
  for (let n = 3000 - list.near; n <= 3000 + list.near; n++) expect(numbers).toContain(n);
  expect(list.stride).toBeGreaterThan(1);
  expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
  expect(numbers[0]).toBe(0);
  // what was added once is in some frame that stays: none of the changes is lost
  const added = list.frames.flatMap(({ base }) =>
    (base.changes?.runs ?? []).filter((_, index) => index % RUN_NUMBERS === 2),
  );
  expect(new Set(added).size).toBe(added.length);
  for (let n = 0; n < 100; n++) expect(added).toContain(n);
});
