// The colours that reports use. Whoever prints passes them in; the plain palette leaves text as it is.

/** Colours text. @public */
export type Paint = (text: string) => string;

/** The few kinds of emphasis that reports know. @public */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly base: Paint; // the base side of a comparison
  readonly candidate: Paint; // the other side
}

const same: Paint = (text) => text;

/** No colour at all. @public */
export const PLAIN: Palette = {
  bold: same,
  dim: same,
  good: same,
  bad: same,
  warn: same,
  base: same,
  candidate: same,
};

/** What a palette needs of a colour library (`chalk` has it). @public */
export interface Colours {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly green: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  readonly magenta: Paint;
}

/** A palette over a colour library. @public */
export function paletteOf(colours: Colours): Palette {
  return {
    bold: (text) => colours.bold(text),
    dim: (text) => colours.dim(text),
    good: (text) => colours.green(text),
    bad: (text) => colours.red(text),
    warn: (text) => colours.yellow(text),
    base: (text) => colours.cyan(text),
    candidate: (text) => colours.magenta(text),
  };
}
