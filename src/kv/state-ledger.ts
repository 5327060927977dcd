// The ledger in the full state: what forwards, copies and transfers use, as physical pages.
import { expand, toExtents } from "../base/extents.js";
import type { LedgerRecord, State } from "../base/state.js";
import { PAGE } from "./alloc/band.js";
import type { HostCopy, NetworkTransfer } from "./alloc/signals.js";
import type { KvCore } from "./core.js";

/** A copy or transfer of the ledger; its places stand in the ledger's records. @internal */
export interface UseExtra {
  readonly name: string;
  readonly kind: "copy" | "transfer";
  readonly direction: "out" | "in" | "send" | "receive";
  readonly order: number;
  readonly stalled: boolean;
}

/** Copies and transfers whose uses are not over. @internal */
export function usesState(core: KvCore): UseExtra[] {
  const { ledger } = core.chain;
  return [...ledger.copies, ...ledger.transfers].map((use) => ({
    name: use.name,
    kind: use.kind,
    direction: use.direction,
    order: use.order,
    stalled: use.kind === "transfer" && use.isStalled,
  }));
}

/** Reads and writes of every forward whose uses are not over, as physical pages. @internal */
export function ledgerRecords(core: KvCore): LedgerRecord[] {
  const records: LedgerRecord[] = [];
  const { steps, bands, usage } = core.chain;
  const live = steps.open === null ? steps.unretired() : [...steps.unretired(), steps.open];
  for (const step of live) {
    for (const band of bands) {
      if (step.unknownWrites) {
        records.push({ use: "unknown_writes", band: band.plan.name, pages: [], signal: step.name });
      }
      for (const use of ["reads", "writes"] as const) {
        const pages: number[] = [];
        for (let page = 0; page < band.status.length; page++) {
          if (band.status[page] === PAGE.live && usage.uses(step, band, page, use))
            pages.push(page);
        }
        if (pages.length > 0) {
          records.push({
            use: `forward_${use}`,
            band: band.plan.name,
            pages: toExtents(pages),
            signal: step.name,
          });
        }
      }
    }
  }
  return [...records, ...useRecords(core)];
}

/** What copies and transfers read or write, at the places where they were submitted. */
function useRecords(core: KvCore): LedgerRecord[] {
  const { bands, ledger } = core.chain;
  const records: LedgerRecord[] = [];
  for (const use of [...ledger.copies, ...ledger.transfers]) {
    for (const [index, pages] of use.places.entries()) {
      if (pages.length === 0) continue;
      records.push({
        use: USE_WORD[use.direction],
        band: bands[index]!.plan.name, // places by band
        pages: toExtents(pages),
        signal: use.name,
      });
    }
  }
  return records;
}

const USE_WORD = {
  out: "copy_read",
  in: "copy_write",
  send: "network_read",
  receive: "network_write",
} as const;

/** Copies and transfers of a state, by name; not yet in the ledger. @internal */
export function loadUses(
  core: KvCore,
  state: State,
  extra: { readonly uses: readonly UseExtra[]; readonly submissions: number },
): Map<string, HostCopy | NetworkTransfer> {
  const uses = new Map<string, HostCopy | NetworkTransfer>();
  core.chain.ledger.submissions = extra.submissions;
  for (const { name, kind, direction, order, stalled } of extra.uses) {
    const places = core.chain.bands.map((band) =>
      state.ledger
        .filter(
          (record) =>
            record.signal === name &&
            record.band === band.plan.name &&
            record.use === USE_WORD[direction],
        )
        .flatMap((record) => expand(record.pages)),
    );
    const use =
      kind === "copy"
        ? { kind, name, direction, order, places, isOver: false }
        : { kind, name, direction, order, places, isOver: false, isStalled: stalled };
    uses.set(name, use as HostCopy | NetworkTransfer); // the direction is one of its kind
  }
  return uses;
}

/** Puts a use in the ledger. A place that left its band is fenced by its bytes instead. @internal */
export function restoreUse(core: KvCore, use: HostCopy | NetworkTransfer): void {
  const { bands, ledger } = core.chain;
  ledger.restore(bands, use, (band, page) => band.status[page] !== PAGE.beyond);
}
