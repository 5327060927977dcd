// The first page of the lowest grid is taken for that of all bands.
import { SnapshotMemo } from "../../src/kv/alloc/snapshot.js";
import type { BandSnapshot } from "../../src/kv/alloc/pricing.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "one-first-page-for-all",
  about:
    "pricing counts pages below a band's own first page as room, since every band overlaps the same sink",
  row: 4,
  where: "kv",
  plant: () =>
    patchMethod(
      SnapshotMemo.prototype,
      "read",
      (original) =>
        function (this: SnapshotMemo): readonly BandSnapshot[] {
          const bands = original.call(this);
          const firstPage = Math.min(...bands.map((band) => band.firstPage));
          return bands.map((band) => ({ ...band, firstPage }));
        },
    ),
};
