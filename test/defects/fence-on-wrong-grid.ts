// The fences of a grow-down band are counted from the arena's top.
import { Band } from "../../src/kv/alloc/band.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { FenceList } from "../../src/kv/alloc/fences.js";
import type { Signal } from "../../src/kv/alloc/signals.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "fence-on-wrong-grid",
  about:
    "fenced bytes of the grow-down band lie the arena's unreachable rest too high: its grid is taken to end at the arena's top",
  row: 3,
  where: "kv",
  plant: () => {
    const arenas = new WeakMap<Band, number>();
    let shift = 0;
    return undoAll(
      patchMethod(
        ChainAllocator.prototype,
        "endOperation",
        (original) =>
          function (this: ChainAllocator): void {
            for (const band of this.bands) arenas.set(band, this.config.arenaBytes);
            original.call(this);
          },
      ),
      patchMethod(
        Band.prototype,
        "leave",
        (original) =>
          function (this: Band, page: number, readers: readonly Signal[] = []): void {
            const { page_bytes: size, grow } = this.plan;
            shift = grow === "down" ? (arenas.get(this) ?? 0) % size : 0;
            original.call(this, page, readers);
            shift = 0;
          },
      ),
      patchMethod(
        FenceList.prototype,
        "add",
        (original) =>
          function (this: FenceList, from: number, to: number, readers: readonly Signal[]): void {
            original.call(this, from + shift, to + shift, readers);
          },
      ),
    );
  },
};
