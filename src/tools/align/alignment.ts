// What aligning the operations of two recorded runs past their first difference comes to.

/** How a block of operations differs, seen from the base. @public */
export type BlockKind = "inserted" | "removed" | "moved" | "changed";

/** A stretch of one side, half open; empty where the other side has something more. @public */
export interface AlignedRange {
  readonly from: number; // operation numbers
  readonly to: number;
  /** Positions `[from, to)` in the foreign log that the operations come from; null: no log, or an empty stretch. */
  readonly events: readonly [from: number, to: number] | null;
}

/** Operations of one kind on both sides. @public */
export interface SideCounts {
  readonly base: number;
  readonly candidate: number;
}

/** Operations that differ, with everything equal before and behind them. @public */
export interface AlignedBlock {
  readonly kind: BlockKind;
  readonly base: AlignedRange;
  readonly candidate: AlignedRange;
  readonly operations: SideCounts;
  readonly summary: readonly ({ readonly op: string } & SideCounts)[]; // the most frequent first
  readonly opens: readonly ({ readonly what: string } & SideCounts)[]; // names opened inside, by what they name
  /** The block that opens what this one uses, so that both have one cause; its own index where there is none. */
  readonly cause: number;
}

/** @public */
export interface Alignment {
  readonly blocks: readonly AlignedBlock[];
  readonly agreed: number; // operations from the first difference on that both sides have
  readonly read: SideCounts; // operations from the first difference on
  /** The first operation behind the last block; null where the sides do not agree again, or no block is found. */
  readonly recovers: SideCounts | null;
  readonly isWhole: boolean; // false: a limit was reached, what comes after it was not looked at
}
