// What an operation changed in a page map: runs of pages whose class or id is another one afterwards.
import type { Cell, CellClass, Lane, PageMap } from "./page-map.js";

/** How a page is: its class and the id bound to it. Outside the span, unfenced: `free`, whoever lies there. @public */
export interface PageUse {
  readonly class: CellClass;
  readonly virtual: number | null; // of the run's first page, ascending with the page
}

/** Pages `first … first + count - 1` that changed alike. @public */
export interface PageChange {
  readonly first: number;
  readonly count: number;
  readonly before: PageUse;
  readonly after: PageUse;
}

/** The changes of one lane, by ascending page. Both lanes are of one band. @public */
export function laneChanges(before: Lane, after: Lane): readonly PageChange[] {
  const changes: PageChange[] = [];
  const [left, right] = [new Walk(before.cells), new Walk(after.cells)];
  const end = Math.max(before.pages, after.pages);
  for (let page = Math.min(before.first_page, after.first_page); page < end;) {
    const [was, is] = [left.at(page), right.at(page)];
    const next = Math.min(was.end, is.end, end);
    if (was.use.class !== is.use.class || was.use.virtual !== is.use.virtual) {
      const last = changes.at(-1);
      const change = { first: page, count: next - page, before: was.use, after: is.use };
      if (last !== undefined && continues(last, change))
        changes[changes.length - 1] = { ...last, count: last.count + change.count };
      else changes.push(change);
    }
    page = next;
  }
  return changes;
}

/** The changes of every lane by band; bands without one are left out. @public */
export function mapChanges(
  before: PageMap,
  after: PageMap,
): Readonly<Record<string, readonly PageChange[]>> {
  const found: Record<string, readonly PageChange[]> = {};
  for (const lane of after.lanes) {
    const was = before.lanes.find(({ band }) => band === lane.band);
    const changes = was === undefined ? [] : laneChanges(was, lane);
    if (changes.length > 0) found[lane.band] = changes;
  }
  return found;
}

function continues(last: PageChange, next: PageChange): boolean {
  return (
    last.first + last.count === next.first &&
    follows(last.before, last.count, next.before) &&
    follows(last.after, last.count, next.after)
  );
}

function follows(last: PageUse, count: number, next: PageUse): boolean {
  const expected = last.virtual === null ? null : last.virtual + count;
  return last.class === next.class && next.virtual === expected;
}

const OUTSIDE: PageUse = { class: "free", virtual: null };

/** Cells asked for by ascending page. */
class Walk {
  readonly #cells: readonly Cell[];
  #index = 0;

  constructor(cells: readonly Cell[]) {
    this.#cells = cells;
  }

  /** How the page is, and up to where that holds. */
  at(page: number): { readonly use: PageUse; readonly end: number } {
    for (;;) {
      const cell = this.#cells[this.#index];
      if (cell === undefined) return { use: OUTSIDE, end: Infinity };
      if (cell.first > page) return { use: OUTSIDE, end: cell.first };
      if (cell.first + cell.count > page) {
        const virtual = cell.virtual === null ? null : cell.virtual + page - cell.first;
        return { use: { class: cell.class, virtual }, end: cell.first + cell.count };
      }
      this.#index += 1;
    }
  }
}
