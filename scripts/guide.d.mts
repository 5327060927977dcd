/** A shell block of the guide. */
export interface GuideBlock {
  readonly commands: string;
  readonly code: number; // that it is to end with
  readonly lines: readonly string[]; // that it is to print, in order
}
export function blocksOf(page: string): GuideBlock[];
export function missingLines(expected: readonly string[], output: string): string[];
