// What a conversion writes into. A target is made for one output and gets the lines of one or more traces in order.
import type { TraceLine } from "../../trace/lines.js";

/** The formats that can be written. @public */
export const CONVERT_FORMATS = ["jsonl", "csv", "parquet", "perfetto"] as const;
/** @public */
export type ConvertFormat = (typeof CONVERT_FORMATS)[number];

/** @internal */
export interface ConvertTarget {
  /** Nobody reads any more: stop producing. */
  readonly closed: boolean;
  /** Bytes written so far, before packing. */
  readonly bytes: number;
  /** Another trace begins. */
  begin(file: string): void;
  line(line: TraceLine): void;
  /** Everything was written: the output gets its name. Throws `EnvironmentError`. */
  commit(): void;
  /** Gives up: an earlier file of the name stays as it was. After a commit this does nothing. */
  abort(): void;
}
