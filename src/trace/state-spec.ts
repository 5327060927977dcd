// Spec of a full state, as `state` lines and the protocol carry it. What the tree, the host cache and the network hold
// is open: the allocator that writes it states it.
import type { State } from "../base/state.js";
import type { AnySpec, Spec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  BYTES,
  COUNT,
  EXTENTS,
  PAGES,
  TOKENS,
  banded,
  list,
  map,
  name,
  nullable,
  object,
  text,
  tuple,
} from "./fields.js";
import { SPAN } from "./vocabulary.js";

const SIGNALS = list(text("signal"));
const FORWARD = name("forward");

/** One band. @internal */
export const BAND_STATE: AnySpec = object({
  span: SPAN,
  live: PAGES,
  holes: EXTENTS,
  pending: list(object({ key: FORWARD, pages: EXTENTS })),
  vacated: list(object({ pages: EXTENTS, readers: SIGNALS })),
  fixed: EXTENTS,
  bindings: list(tuple(COUNT, COUNT, COUNT)),
  free_ids: EXTENTS,
});
/** What bands share. @internal */
export const CHAIN_STATE: AnySpec = object({
  move_epoch: COUNT,
  fences: list(object({ bytes: tuple(BYTES, BYTES), signals: SIGNALS })),
});
const FORWARDS_STATE = object({
  unprocessed: list(FORWARD),
  retired: nullable(FORWARD),
  open: nullable(FORWARD),
});
const LEDGER_RECORD = object({
  use: text("word"),
  band: text("band"),
  pages: EXTENTS,
  signal: text("signal"),
});
const ROW_STATE = object({
  row: COUNT,
  allocated: TOKENS,
  protected: TOKENS,
  cursors: map("band", TOKENS),
  checkpoint: nullable(TOKENS),
  slots: map("purpose", EXTENTS),
  reset: BOOLEAN,
});
const OPEN: AnySpec = map("any", ANYTHING);

/** The bands in chain order, then the other components. @public */
export const STATE: Spec<State> = banded({}, BAND_STATE, {
  chain: CHAIN_STATE,
  forwards: FORWARDS_STATE,
  ledger: list(LEDGER_RECORD),
  rows: map("request", ROW_STATE),
  tree: list(ANYTHING),
  host: OPEN,
  net: OPEN,
}) as unknown as Spec<State>; // a band's name is an index signature over `unknown` in the type
