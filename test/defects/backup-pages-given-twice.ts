// A failed backup gives its host pages back for each of its nodes and for the whole.
import { HostPools } from "../../src/kv/cache/host-pools.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "backup-pages-given-twice",
  about: "the host pages of a failed backup are free twice, so that two copies share a host page",
  row: null,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        HostPools.prototype,
        "give",
        (original) =>
          function (this: HostPools, pages: readonly (readonly number[])[]): void {
            original.call(this, pages);
            if (underWay.operation?.op === "host.backup_done") original.call(this, pages);
          },
      ),
    );
  },
};
