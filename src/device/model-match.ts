// How far a key is cached: whole pages, up to the last position where every band can go on from.
import { isHeld } from "./model-give-back.js";
import type { ModelRun } from "./model-run.js";
import type { Tokens } from "./model-tokens.js";

/**
 * Pages of a key that a row could take over: all on the device, each window bound over its last tokens, a state at the
 * end where there is a state band. `answered` caps it while an open group hides what an eviction in it took.
 * @internal
 */
export function matchedPages(run: ModelRun, tokens: Tokens, answered: number): number {
  const { tree, arena, config } = run;
  const size = config.page_size;
  const hidden = run.group?.evicts === true;
  const limit = Math.floor((hidden ? Math.min(answered, tokens.count) : tokens.count) / size);
  const windows = arena.tokenBands.filter((band) => band.isWindow);
  const runs = windows.map(() => 0); // pages in a row that are bound, by window
  let matched = 0;
  const { path, pages } = tree.walk(tokens, limit);
  for (const node of path) {
    const end = Math.min(node.endPage, pages);
    for (let page = node.firstPage; page < end; page++) {
      const id = node.virtual[page - node.firstPage]!; // within the node
      if (id === 0) return matched;
      for (const [index, band] of windows.entries())
        runs[index] = isHeld(run, band, id) ? runs[index]! + 1 : 0; // one run a window
      const reaches = windows.every(
        (band, index) => runs[index]! * size >= Math.min(band.window, (page + 1) * size), // as above
      );
      const hasState = arena.stateBand === null || (page + 1 === node.endPage && node.state !== 0);
      if (reaches && hasState) matched = page + 1;
    }
  }
  return matched;
}
