// What an open network transfer is about.
import type { Use } from "./uses.js";

/** A send or receive that is not over. @internal */
export interface TransferBook {
  readonly name: string;
  readonly direction: "send" | "receive";
  readonly req: string;
  readonly first: number; // pages of the row, [first, end)
  readonly end: number;
  readonly ids: readonly number[]; // of a receive, those it took
  readonly slots: readonly number[];
  readonly named: ReadonlySet<string>; // its writers
  readonly left: Set<string>; // those that have yet to end
  epoch: number;
  use: Use | null; // once published
}

/** Stands for the one writer of a transfer that names none. @internal */
export const ANY_WRITER = "";
