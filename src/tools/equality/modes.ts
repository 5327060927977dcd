// The modes of a comparison: what has to agree.

/** From the strictest on; `quiescent` stands beside them. @public */
export const COMPARE_MODES = [
  "exact",
  "renamed",
  "placement-free",
  "decisions",
  "quiescent",
] as const;
/** @public */
export type CompareMode = (typeof COMPARE_MODES)[number];

/** The modes that may hold where `mode` fails, strictest first. @internal */
export function weakerModes(mode: CompareMode): readonly CompareMode[] {
  return mode === "quiescent" ? [] : COMPARE_MODES.slice(COMPARE_MODES.indexOf(mode) + 1);
}
