// Network transfers: sends, receives with holds, publication, ends.
import type { LaneSum } from "../../base/digest.js";
import type { Component } from "../component.js";

/** @internal */
export class Transfers implements Component {
  version = 0;
  digestInto(_sum: LaneSum, _layout: boolean): void {
    return;
  }
}
