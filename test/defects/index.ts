// Every planted defect.
import type { Defect } from "./defect.js";
import { defect as blindAbsorbOfTwo } from "./blind-absorb-of-two.js";
import { defect as blindCopiesBehindForward } from "./blind-copies-behind-forward.js";
import { defect as blindEpochOfAllHeld } from "./blind-epoch-of-all-held.js";
import { defect as blindFirstFence } from "./blind-first-fence.js";
import { defect as blindLastUseOfPage } from "./blind-last-use-of-page.js";
import { defect as blindLockInsideNode } from "./blind-lock-inside-node.js";
import { defect as blindMarkOfUnusedRow } from "./blind-mark-of-unused-row.js";
import { defect as blindRetiresAll } from "./blind-retires-all.js";
import { defect as blindWriteInsidePage } from "./blind-write-inside-page.js";
import { defect as blindZeroForwardRuns } from "./blind-zero-forward-runs.js";

/** All of them. */
export const DEFECTS: readonly Defect[] = [
  blindAbsorbOfTwo,
  blindCopiesBehindForward,
  blindEpochOfAllHeld,
  blindFirstFence,
  blindLastUseOfPage,
  blindLockInsideNode,
  blindMarkOfUnusedRow,
  blindRetiresAll,
  blindWriteInsidePage,
  blindZeroForwardRuns,
];
