// An operation as a row of a table: what CSV and Parquet have a column for.
import type { Effect } from "../../base/effects.js";
import { countOf } from "../../base/extents.js";
import type { OpLine } from "../../trace/lines.js";

/** A column. @internal */
export interface Column {
  readonly name: string;
  readonly type: "number" | "text"; // numbers are whole and within 2^53
  readonly isRequired: boolean; // has a value in every row
}

const text = (name: string): Column => ({ name, type: "text", isRequired: false });
const count = (name: string): Column => ({ name, type: "number", isRequired: true });

/** The columns in order; `docs/convert.md` explains them. @internal */
export const COLUMNS: readonly Column[] = [
  { name: "run", type: "text", isRequired: true },
  count("n"),
  { name: "op", type: "text", isRequired: true },
  { name: "outcome", type: "text", isRequired: true },
  text("code"),
  text("rule"),
  text("step"),
  { name: "args", type: "text", isRequired: true },
  { name: "result", type: "text", isRequired: true },
  count("effects"),
  count("moves"),
  count("moved_pages"),
  count("waits"),
  count("host_waits"),
  count("zeroed_pages"),
  count("copies"),
  text("fx"),
  text("digest"),
  text("message"),
  text("site"),
  { name: "at_us", type: "number", isRequired: false },
];

/** A value of a row; null: nothing. @internal */
export type Cell = string | number | null;

/** What the effects of an operation come to. @internal */
export interface EffectCounts {
  moves: number; // effects
  movedPages: number;
  waits: number; // effects, on the stream
  hostWaits: number;
  zeroedPages: number;
  copies: number; // effects: states copied on the device, host copies, network transfers
}

/** Counts effects. @internal */
export function countEffects(effects: readonly Effect[]): EffectCounts {
  const counts = { moves: 0, movedPages: 0, waits: 0, hostWaits: 0, zeroedPages: 0, copies: 0 };
  for (const effect of effects) {
    switch (effect[0]) {
      case "move":
        counts.moves += 1;
        counts.movedPages += effect[2].length;
        break;
      case "wait":
        counts.waits += 1;
        break;
      case "hostwait":
        counts.hostWaits += 1;
        break;
      case "zero":
        counts.zeroedPages += countOf(effect[2]);
        break;
      case "copy":
      case "hostcopy":
      case "net":
        counts.copies += 1;
        break;
      case "hostread":
      case "reset":
      case "forward":
      case "event":
      case "barrier":
        break;
    }
  }
  return counts;
}

/** The cells of an operation, in the order of `COLUMNS`. @internal */
export function rowOf(run: string, line: OpLine): readonly Cell[] {
  const { n, op, args, ok, err, fx, digest, message, site, at_us: atUs } = line;
  const effects = fx ?? [];
  const counts = countEffects(effects);
  const step = (ok as { readonly step?: unknown } | undefined)?.step;
  return [
    run,
    n,
    op,
    err === undefined ? "ok" : "err",
    err?.code ?? null,
    err?.rule ?? null,
    typeof step === "string" ? step : null,
    JSON.stringify(args),
    JSON.stringify(err ?? ok),
    effects.length,
    counts.moves,
    counts.movedPages,
    counts.waits,
    counts.hostWaits,
    counts.zeroedPages,
    counts.copies,
    effects.length === 0 ? null : JSON.stringify(effects),
    digest === undefined || Object.keys(digest).length === 0 ? null : JSON.stringify(digest),
    message ?? null,
    site ?? null,
    atUs ?? null,
  ];
}
