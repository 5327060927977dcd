// Lines that hand-written runs share: takes with their zeroing, forwards with their event and processing.
import { line, type Line } from "./story.js";

type Extents = readonly (readonly [number, number])[];
interface Taken {
  readonly virtual: Extents;
  readonly window_4: Extents;
  readonly full: Extents;
}

/** Opens one request. */
export const open = (req: string, row: number): Line =>
  line("row.alloc", { reqs: [req] }, { rows: { [req]: row } });

/** Takes one slot. */
export const slot = (req: string, purpose: string, id: number, page: number): Line =>
  line(
    "state.alloc",
    { req, count: 1, purpose },
    { slots: [[id, 1]], mamba: [[page, 1]], step: "no_move" },
  );

/** Takes pages for one request; effects before the zeroing as given. */
export const extend = (
  req: string,
  [from, to]: readonly [number, number],
  taken: Taken,
  before: readonly unknown[] = [],
): Line =>
  line(
    "tokens.extend",
    { batch: [{ req, from, to }] },
    { pages: { [req]: taken }, step: "no_move" },
    [...before, ["zero", "window_4", taken.window_4], ["zero", "full", taken.full]],
  );

/** Launches and records a forward. */
export const forward = (
  step: string,
  batch: readonly object[],
  resets: Extents = [],
  before: readonly unknown[] = [],
): Line[] => [
  line("forward.launch", { step, batch, mode: "extend" }, { resets }, [
    ...before,
    ...(resets.length > 0 ? [["reset", resets]] : []),
    ["forward", step],
  ]),
  line("forward.record", { step, writes: "known" }, {}, [["event", step]]),
];

/** Takes a forward's result in; nothing waits for it. */
export const processed = (step: string): Line =>
  line("forward.process", { step }, { released: {} });

/** Ends a request without an insertion. */
export const finish = (req: string, len: number, freed: object): Line =>
  line("request.finish", { req, len, insert: false }, { freed });
