// How a report is printed.
import type { Palette } from "./palette.js";

/** How much is printed. @public */
export interface TextOptions {
  readonly palette: Palette;
  readonly verbose: boolean;
}
