// The prefix tree: cached prefixes with one slot a sub-pool.
import type { LaneSum } from "../../base/digest.js";
import type { Component } from "../component.js";

/** @internal */
export class PrefixTree implements Component {
  version = 0;
  digestInto(_sum: LaneSum, _layout: boolean): void {
    return;
  }
}
