// The state of the network component, written and read back.
import { expand, toExtents } from "../../base/extents.js";
import type { Extents, PageLists } from "../../base/operations.js";
import type { HostCopy, NetworkTransfer } from "../alloc/signals.js";
import type { KvCore } from "../core.js";
import { ANY_WRITER, type Transfer, type TransferDirection } from "./transfers.js";

/** One open transfer. */
interface TransferState {
  readonly direction: TransferDirection;
  readonly phase: "held" | "published";
  readonly writers: readonly string[]; // that have yet to end; empty where none were given
  readonly deferred: PageLists; // ids by band whose frees wait for it
  readonly x_more: {
    readonly serial: number;
    readonly epoch: number;
    readonly req: string;
    readonly pages: readonly [first: number, end: number];
    readonly virtual: Extents;
    readonly slots: Extents;
    readonly named: readonly string[];
    readonly stalled: boolean;
  };
}

/** @internal */
export interface NetState {
  readonly transfers: Readonly<Record<string, TransferState>>;
  readonly x_closed: readonly string[]; // oldest first
  readonly x_serial: number;
}

/** Everything that a later `net.*` operation can depend on. @internal */
export function netState(core: KvCore): NetState {
  const transfers: Record<string, TransferState> = {};
  for (const [name, transfer] of core.net.open) {
    transfers[name] = {
      direction: transfer.direction,
      phase: transfer.use === null ? "held" : "published",
      writers: [...transfer.writers].filter((writer) => writer !== ANY_WRITER),
      deferred: deferredOf(core, transfer),
      x_more: {
        serial: transfer.serial,
        epoch: transfer.epoch,
        req: transfer.req,
        pages: [transfer.first, transfer.end],
        virtual: toExtents(transfer.virtual),
        slots: toExtents(transfer.slots),
        named: [...transfer.named],
        stalled: transfer.isStalled,
      },
    };
  }
  return { transfers, x_closed: [...core.net.closedNames], x_serial: core.net.serial };
}

function deferredOf(core: KvCore, { use }: Transfer): PageLists {
  const lists: Record<string, Extents> = {};
  if (use === null) return lists;
  for (const band of core.chain.bands) {
    const ids = core.deferred.pages
      .filter((page) => page.band === band && page.transfers.includes(use))
      .map(({ id }) => id);
    if (ids.length > 0) lists[band.plan.name] = toExtents(ids);
  }
  return lists;
}

/** Puts a state in place. @param uses - what the ledger holds by name @internal */
export function loadNet(
  core: KvCore,
  state: NetState,
  uses: ReadonlyMap<string, HostCopy | NetworkTransfer>,
): void {
  for (const name of state.x_closed) core.net.remember(name);
  core.net.serial = state.x_serial;
  for (const [name, { direction, phase, writers, x_more: more }] of Object.entries(
    state.transfers,
  )) {
    const isAnonymous = more.named.includes(ANY_WRITER);
    core.net.add({
      name,
      direction,
      serial: more.serial,
      epoch: more.epoch,
      req: more.req,
      first: more.pages[0],
      end: more.pages[1],
      virtual: expand(more.virtual),
      slots: expand(more.slots),
      writers: new Set(isAnonymous ? [ANY_WRITER] : writers),
      named: new Set(more.named),
      isStalled: more.stalled,
      use: phase === "held" ? null : (uses.get(name) as NetworkTransfer), // published ones are in the ledger
    });
  }
}
