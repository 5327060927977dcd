// Goes through two sides from the front to the back. Anchors only propose: a pair holds when its names correspond as the
// pairs before it have linked them; what does not hold, and what lies between the anchors, is searched in full.
import type { Segment } from "./anchors.js";
import type { Forms } from "./forms.js";
import { searchGap } from "./gap-search.js";
import { Links } from "./links.js";

/** Lives that are known to correspond, of the left and of the right. @internal */
export type LifePair = readonly [left: number, right: number];

/** Pairs the operations of two sides. @internal */
export function walk(
  left: Forms,
  right: Forms,
  segments: readonly Segment[],
  known: readonly LifePair[],
): Links {
  const links = new Links(left, right);
  for (const [life, other] of known) links.link(life, other);
  let [i, j] = [0, 0]; // what is before them is settled
  for (const segment of segments) {
    for (let at = 0; at < segment.count; at++) {
      const [si, sj] = [segment.i + at, segment.j + at];
      if (!links.isSame(si, sj)) continue;
      if (si > i || sj > j) {
        // what did not hold since the last pair lies in the gap too
        searchGap(links, i, si, j, sj);
        [i, j] = [si, sj];
        if (!links.isSame(si, sj)) continue; // the search has used the names otherwise
      }
      links.pair(si, sj, false);
      [i, j] = [si + 1, sj + 1];
    }
  }
  searchGap(links, i, left.forms.length, j, right.forms.length);
  return links;
}
