// How far a key is cached: whole pages, up to the last position where every band can go on from.
import { isHeld } from "./model-give-back.js";
import type { BandPages } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";
import type { Tokens } from "./model-tokens.js";

/** How far a key matches, in tokens. @internal */
export interface Match {
  readonly len: number; // in every band at once
  readonly alone: readonly number[]; // by band index, in that band alone
  readonly host: readonly number[]; // the same with host copies counted: at most, since some were evicted unseen
}

/**
 * Follows a key as far as a row could take it over: all on the device, each window bound over its last tokens, a state at
 * the end where there is a state band. `answered` caps it while an open group hides what an eviction in it took.
 * @internal
 */
export function matchKey(run: ModelRun, tokens: Tokens, answered: number): Match {
  const size = run.config.page_size;
  const { bands } = run.arena;
  const hidden = run.hidesEvictions;
  const limit = Math.floor((hidden ? Math.min(answered, tokens.count) : tokens.count) / size);
  const runs = bands.map(() => 0); // pages in a row that are there, by band
  const alone = bands.map(() => 0);
  const hostRuns = bands.map(() => 0); // the same with the host
  const host = bands.map(() => 0);
  let len = 0;
  const { path, pages } = run.tree.walk(tokens, limit);
  for (const node of path) {
    const end = Math.min(node.endPage, pages);
    for (let page = node.firstPage; page < end; page++) {
      const virtual = node.virtual[page - node.firstPage]!; // within the node
      const state = page + 1 === node.endPage ? node.state : 0;
      const to = (page + 1) * size;
      let isWhole = true;
      for (const band of bands) {
        const id = band.isState ? state : virtual;
        const isThere = id !== 0 && isHeld(run, band, id) && !run.loads.isUnpublished(band, id);
        runs[band.index] = isThere ? runs[band.index]! + 1 : 0; // one a band
        const wanted = needed(band, to, size);
        if (runs[band.index]! * size >= wanted) alone[band.index] = to;
        else isWhole = false;
        const isSomewhere = isThere || node.hostAt(band, page)?.isReady === true;
        hostRuns[band.index] = isSomewhere ? hostRuns[band.index]! + 1 : 0; // one a band
        if (hostRuns[band.index]! * size >= wanted) host[band.index] = to;
      }
      if (isWhole) len = to;
    }
  }
  return { len, alone, host };
}

/** Tokens up to `to` over which a band must be there. */
function needed(band: BandPages, to: number, size: number): number {
  if (band.isState) return size;
  return band.isWindow ? Math.min(band.window, to) : to;
}
