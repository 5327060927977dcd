// Every planted defect.
import type { Defect } from "./defect.js";
import { defect as abortsBesideOtherRows } from "./aborts-beside-other-rows.js";
import { defect as absorbByHoleCount } from "./absorb-by-hole-count.js";
import { defect as absorbThroughPending } from "./absorb-through-pending.js";
import { defect as backupPagesGivenTwice } from "./backup-pages-given-twice.js";
import { defect as bandsPricedAlone } from "./bands-priced-alone.js";
import { defect as barrierSkipped } from "./barrier-skipped.js";
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
import { defect as bothGapsOfAFloat } from "./both-gaps-of-a-float.js";
import { defect as checkpointNotDigested } from "./checkpoint-not-digested.js";
import { defect as copyLeavesNoFence } from "./copy-leaves-no-fence.js";
import { defect as creditOfShortBandsOnly } from "./credit-of-short-bands-only.js";
import { defect as cursorInsideAPage } from "./cursor-inside-a-page.js";
import { defect as cursorRewound } from "./cursor-rewound.js";
import { defect as descendingFreshPages } from "./descending-fresh-pages.js";
import { defect as earlyCommitInRelay } from "./early-commit-in-relay.js";
import { defect as eventDecidesOnItsRank } from "./event-decides-on-its-rank.js";
import { defect as evictsLockedLeaf } from "./evicts-locked-leaf.js";
import { defect as fenceOfHalfAPage } from "./fence-of-half-a-page.js";
import { defect as fenceOnWrongGrid } from "./fence-on-wrong-grid.js";
import { defect as fencesNeverEnd } from "./fences-never-end.js";
import { defect as floatByRawBytes } from "./float-by-raw-bytes.js";
import { defect as floatInTheMiddle } from "./float-in-the-middle.js";
import { defect as floatIsCompacted } from "./float-is-compacted.js";
import { defect as floatsMovedInWrongOrder } from "./floats-moved-in-wrong-order.js";
import { defect as forwardSkipsCopy } from "./forward-skips-copy.js";
import { defect as forwardSkipsNetwork } from "./forward-skips-network.js";
import { defect as freeOfOpenPage } from "./free-of-open-page.js";
import { defect as freedPageAtSink } from "./freed-page-at-sink.js";
import { defect as freshBeforeHoles } from "./fresh-before-holes.js";
import { defect as groupFreesWindowTwice } from "./group-frees-window-twice.js";
import { defect as grownBeforeMoved } from "./grown-before-moved.js";
import { defect as holesByHashOnOneRank } from "./holes-by-hash-on-one-rank.js";
import { defect as holesSortedAtFree } from "./holes-sorted-at-free.js";
import { defect as hostReadBehindWait } from "./host-read-behind-wait.js";
import { defect as hostWaitOnOneRank } from "./host-wait-on-one-rank.js";
import { defect as idsTurnedByRefusal } from "./ids-turned-by-refusal.js";
import { defect as indexShortageAsBytes } from "./index-shortage-as-bytes.js";
import { defect as lateCommitInForward } from "./late-commit-in-forward.js";
import { defect as layoutInStageDigest } from "./layout-in-stage-digest.js";
import { defect as loadSkipsCopy } from "./load-skips-copy.js";
import { defect as matchIgnoresWindow } from "./match-ignores-window.js";
import { defect as moveSkipsCopy } from "./move-skips-copy.js";
import { defect as moveSkipsForward } from "./move-skips-forward.js";
import { defect as moveSkipsNetwork } from "./move-skips-network.js";
import { defect as movedPageIsHoleAtOnce } from "./moved-page-is-hole-at-once.js";
import { defect as noRoomForDecoding } from "./no-room-for-decoding.js";
import { defect as oneFirstPageForAll } from "./one-first-page-for-all.js";
import { defect as oneFixedPageABand } from "./one-fixed-page-a-band.js";
import { defect as pagesRoundedByBatch } from "./pages-rounded-by-batch.js";
import { defect as parksOverPending } from "./parks-over-pending.js";
import { defect as pastTheCrossing } from "./past-the-crossing.js";
import { defect as pendingByRetired } from "./pending-by-retired.js";
import { defect as pendingReleasedTwice } from "./pending-released-twice.js";
import { defect as prebuiltStepIsAKey } from "./prebuilt-step-is-a-key.js";
import { defect as publishWithoutReadback } from "./publish-without-readback.js";
import { defect as readbackBehindWait } from "./readback-behind-wait.js";
import { defect as receiveOverAtFirstFailure } from "./receive-over-at-first-failure.js";
import { defect as releasedWhenEventFires } from "./released-when-event-fires.js";
import { defect as reliefSkipsHostWait } from "./relief-skips-host-wait.js";
import { defect as renameKeepsOldCell } from "./rename-keeps-old-cell.js";
import { defect as reservationNotInMemo } from "./reservation-not-in-memo.js";
import { defect as resetAtHandOut } from "./reset-at-hand-out.js";
import { defect as resetSkippedAfterReuse } from "./reset-skipped-after-reuse.js";
import { defect as retiredPastTheFloor } from "./retired-past-the-floor.js";
import { defect as retractFreesAtOnce } from "./retract-frees-at-once.js";
import { defect as settleWithoutWait } from "./settle-without-wait.js";
import { defect as settlesBeforeTheCheck } from "./settles-before-the-check.js";
import { defect as shiftInOneBatch } from "./shift-in-one-batch.js";
import { defect as sinkOfManyStates } from "./sink-of-many-states.js";
import { defect as sourcesMergedTooEarly } from "./sources-merged-too-early.js";
import { defect as stageByRealFrontiers } from "./stage-by-real-frontiers.js";
import { defect as stalledCheckpointForgotten } from "./stalled-checkpoint-forgotten.js";
import { defect as stateBytesNotZeroed } from "./state-bytes-not-zeroed.js";
import { defect as takenBeforeRecord } from "./taken-before-record.js";
import { defect as unknownWritesAreNone } from "./unknown-writes-are-none.js";
import { defect as vacatedPageReusedEarly } from "./vacated-page-reused-early.js";
import { defect as vacatedPagesNeverReturn } from "./vacated-pages-never-return.js";
import { defect as windowBeyondFull } from "./window-beyond-full.js";
import { defect as zeroOnlyReused } from "./zero-only-reused.js";
import { defect as zeroSkipsCopy } from "./zero-skips-copy.js";
import { defect as zeroingLeftToRelief } from "./zeroing-left-to-relief.js";

/** All of them. */
export const DEFECTS: readonly Defect[] = [
  abortsBesideOtherRows,
  absorbByHoleCount,
  absorbThroughPending,
  backupPagesGivenTwice,
  bandsPricedAlone,
  barrierSkipped,
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
  bothGapsOfAFloat,
  checkpointNotDigested,
  copyLeavesNoFence,
  creditOfShortBandsOnly,
  cursorInsideAPage,
  cursorRewound,
  descendingFreshPages,
  earlyCommitInRelay,
  eventDecidesOnItsRank,
  evictsLockedLeaf,
  fenceOfHalfAPage,
  fenceOnWrongGrid,
  fencesNeverEnd,
  floatByRawBytes,
  floatInTheMiddle,
  floatIsCompacted,
  floatsMovedInWrongOrder,
  forwardSkipsCopy,
  forwardSkipsNetwork,
  freeOfOpenPage,
  freedPageAtSink,
  freshBeforeHoles,
  groupFreesWindowTwice,
  grownBeforeMoved,
  holesByHashOnOneRank,
  holesSortedAtFree,
  hostReadBehindWait,
  hostWaitOnOneRank,
  idsTurnedByRefusal,
  indexShortageAsBytes,
  lateCommitInForward,
  layoutInStageDigest,
  loadSkipsCopy,
  matchIgnoresWindow,
  moveSkipsCopy,
  moveSkipsForward,
  moveSkipsNetwork,
  movedPageIsHoleAtOnce,
  noRoomForDecoding,
  oneFirstPageForAll,
  oneFixedPageABand,
  pagesRoundedByBatch,
  parksOverPending,
  pastTheCrossing,
  pendingByRetired,
  pendingReleasedTwice,
  prebuiltStepIsAKey,
  publishWithoutReadback,
  readbackBehindWait,
  receiveOverAtFirstFailure,
  releasedWhenEventFires,
  reliefSkipsHostWait,
  renameKeepsOldCell,
  reservationNotInMemo,
  resetAtHandOut,
  resetSkippedAfterReuse,
  retiredPastTheFloor,
  retractFreesAtOnce,
  settleWithoutWait,
  settlesBeforeTheCheck,
  shiftInOneBatch,
  sinkOfManyStates,
  sourcesMergedTooEarly,
  stageByRealFrontiers,
  stalledCheckpointForgotten,
  stateBytesNotZeroed,
  takenBeforeRecord,
  unknownWritesAreNone,
  vacatedPageReusedEarly,
  vacatedPagesNeverReturn,
  windowBeyondFull,
  zeroOnlyReused,
  zeroSkipsCopy,
  zeroingLeftToRelief,
];
