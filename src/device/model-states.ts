// State slots beside their hand-out: copies between slots and from tree nodes, and the donation of a tracked state.
import type { Effect } from "../base/effects.js";
import type { KvArgs, KvOk, StatePlace } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { evictState } from "./model-groups.js";
import type { BandPages } from "./model-pages.js";
import { bindUnplaced, reveal } from "./model-placing.js";
import type { ModelRun } from "./model-run.js";
import { stateBand } from "./model-takes.js";
import { Tokens } from "./model-tokens.js";

/** The effect names places; they must be those of the slots that the operation's arguments name. @internal */
export function checkCopy(
  run: ModelRun,
  { from, to }: KvArgs["state.copy"],
  _ok: KvOk["state.copy"],
  effects: readonly Effect[],
): void {
  const band = stateBand(run);
  const copies = effects.filter((effect) => effect[0] === "copy");
  const pair = copies[0]?.[2][0];
  if (copies.length !== 1 || pair === undefined || copies[0]?.[2].length !== 1)
    fail("bad_effect", "state.copy without exactly one copied pair", band.name);
  if ("key" in from) checkNode(run, band, from.key, from.len, pair[0]);
  else checkSlot(run, band, from, pair[0]);
  checkSlot(run, band, to, pair[1]);
}

function checkSlot(
  run: ModelRun,
  band: BandPages,
  { req, purpose }: StatePlace,
  page: number,
): void {
  const row = run.rows.require(req);
  const slots = row.slots[purpose];
  if (purpose === "track") reveal(run, band, slots[row.trackCursor] ?? 0, page);
  if (slots.some((slot) => band.placeOf(slot) === page)) return;
  const what = band.isUsable(page) ? run.arena.describe(band, page) : `page ${page}`;
  fail("bad_effect", `copy of ${what}, no ${purpose} slot of ${req}`, band.name, page);
}

function checkNode(
  run: ModelRun,
  band: BandPages,
  key: KvArgs["tree.match"]["key"],
  len: number,
  page: number,
): void {
  const slot = run.tree.nodeAt(Tokens.of(key), len / run.config.page_size)?.state ?? 0;
  if (slot === 0) fail("bad_effect", `copy of the state at ${len} tokens, where the tree has none`);
  reveal(run, band, slot, page);
  if (band.placeOf(slot) === page) return;
  const what = band.isUsable(page) ? run.arena.describe(band, page) : `page ${page}`;
  fail("bad_effect", `copy of ${what}, not the state at ${len} tokens`, band.name, page);
}

/** Follows `state.donate`: a tracking slot goes to the node that ends at `len`, another takes its place. @internal */
export function donate(
  run: ModelRun,
  { req, len }: KvArgs["state.donate"],
  { slot, replacement }: KvOk["state.donate"],
): void {
  const band = stateBand(run);
  const row = run.rows.require(req);
  if (row.lock === null || len > row.protected)
    fail("bad_effect", `${req} donates a state at ${len} tokens, beyond its part of the tree`);
  const node = run.tree.endingAt(row.lock.end, len / run.config.page_size);
  if (node.state !== 0 && slot !== null && run.hidesEvictions) evictState(run, node.state);
  const hasState = node.state !== 0;
  if (slot === null || replacement === null) {
    if (!hasState) fail("bad_effect", `${req} donates nothing at ${len} tokens, where no state is`);
    return;
  }
  if (hasState)
    fail("bad_effect", `${req} donates slot ${slot} at ${len} tokens, which has a state`);
  if (row.tracked.get(slot) !== len)
    fail(
      "bad_effect",
      `${req} donates slot ${slot}, which does not hold its state at ${len} tokens`,
    );
  row.replaceSlot(slot, replacement);
  run.tree.setState(node, slot);
  bindUnplaced(run, band, replacement);
}
