// Layouts by name: which sub-pools share the arena. The names stand in run ids and on the command line.

/** The layouts the generator draws geometries for. @public */
export const LAYOUTS = [
  "full+window",
  "full+state",
  "full+window+state",
  "full+2window",
  "full+2window+state",
] as const;
/** @public */
export type Layout = (typeof LAYOUTS)[number];

/** @public */
export function isLayout(name: string): name is Layout {
  return (LAYOUTS as readonly string[]).includes(name);
}
