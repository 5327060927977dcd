// How far a comparison looks behind the first difference of a run.

const USUAL = 10_000; // operations
const BRIEF = 256; // where only the first divergent run is wanted

/** Operations looked at behind a difference: what was asked for, else by what is wanted. @internal */
export function operationsPast(choices: {
  readonly past?: number;
  readonly first?: boolean;
}): number {
  return choices.past ?? (choices.first === true ? BRIEF : USUAL);
}
