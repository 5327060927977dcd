// The flags of `show`, as its forms take them.
import type { ImplementationFlags } from "./implementation.js";
import type { ReadingFlags } from "./reading.js";

/** @internal */
export interface ShowFlags extends ImplementationFlags, ReadingFlags {
  readonly run?: string;
  readonly op?: number;
  readonly state?: boolean;
  readonly step?: boolean;
  readonly break?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly impl: string;
  readonly candidate?: string;
  readonly plan?: string;
  readonly html?: string;
}
