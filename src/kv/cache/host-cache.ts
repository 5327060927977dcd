// The host cache: host pages a sub-pool, copies under way, load reservations.
import type { LaneSum } from "../../base/digest.js";
import type { Component } from "../component.js";

/** @internal */
export class HostCache implements Component {
  version = 0;
  digestInto(_sum: LaneSum, _layout: boolean): void {
    return;
  }
}
