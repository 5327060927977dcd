// Network transfers of the simulated device, as late as the rules allow: a send reads and a receive writes at the last
// moment before its end. Until then its places carry its name, so that every access that is not ordered behind it is found
// at once.
import { hashName } from "../base/digest.js";
import type { Extents } from "../base/operations.js";
import type { ModelArena } from "./model-arena.js";
import { fail } from "./model-fault.js";
import { ACT, type BandPages, ID, offsetOf, PAGE, writerOf } from "./model-pages.js";
import { type Places, placesOf } from "./model-places.js";
import type { ModelRow } from "./model-rows.js";
import { StrayTransfers } from "./model-strays.js";
import type { ModelUse } from "./model-uses.js";

/** Ended names that are still known: later ends of them are late. */
const NAMES_MAX = 65_536;
/** The only writer of a transfer that was given none. */
const ANY_WRITER = "";

/** @internal */
export type TransferDirection = "send" | "receive";
/** How a transfer ended; `waited` by a wait of the host. */
type TransferOutcome = "ok" | "failed" | "timeout" | "waited";

/** One page of a published transfer. */
interface Item {
  readonly band: BandPages;
  readonly place: number;
  readonly id: number;
  readonly generation: number;
  readonly expected: number; // content at the submission
}

/** One transfer from its opening to its end. @internal */
export class ModelTransfer {
  readonly name: string;
  readonly direction: TransferDirection;
  readonly row: ModelRow;
  readonly from: number; // tokens
  readonly to: number; // tokens
  readonly virtual: readonly number[]; // virtual page by page from the one that holds `from`; of a receive
  readonly slots: readonly number[];
  readonly writers: Set<string>; // that have yet to end
  readonly named: ReadonlySet<string>;
  opened: Places = []; // its places when they were read last
  epoch = 0; // `move` effects before that
  isStalled = false; // a host wait for it would not return in time
  use: ModelUse | null = null; // null: not published
  items: readonly Item[] = [];

  constructor(
    args: {
      readonly transfer: string;
      readonly from: number;
      readonly to: number;
      readonly writers?: readonly string[];
    },
    direction: TransferDirection,
    row: ModelRow,
    virtual: readonly number[],
    slots: readonly number[],
  ) {
    this.name = args.transfer;
    this.direction = direction;
    this.row = row;
    this.from = args.from;
    this.to = args.to;
    this.virtual = virtual;
    this.slots = slots;
    const given = args.writers ?? [];
    this.writers = new Set(given.length === 0 ? [ANY_WRITER] : given);
    this.named = new Set(this.writers);
  }
}

/** Transfers by name. @internal */
export class ModelTransfers {
  readonly strays = new StrayTransfers();
  readonly #arenaNow: () => ModelArena;
  readonly #open = new Map<string, ModelTransfer>();
  readonly #closed = new Set<string>(); // oldest first
  readonly #ended: string[] = [];
  #started: { readonly use: ModelUse; readonly direction: TransferDirection } | null = null;

  /** @param arena - the arena of the run, which a resize replaces */
  constructor(arena: () => ModelArena) {
    this.#arenaNow = arena;
  }
  get #arena(): ModelArena {
    return this.#arenaNow();
  }

  find(name: string): ModelTransfer | undefined {
    return this.#open.get(name);
  }
  require(name: string): ModelTransfer {
    return this.#open.get(name) ?? fail("bad_effect", `transfer ${name} is not open`);
  }
  open(transfer: ModelTransfer): void {
    if (this.#open.has(transfer.name) || this.#closed.has(transfer.name))
      fail("bad_effect", `transfer ${transfer.name} is opened twice`);
    this.#open.set(transfer.name, transfer);
  }

  /** Hands places to the engine, which may use them from now on. */
  start(
    name: string,
    direction: TransferDirection,
    pages: Readonly<Record<string, Extents>>,
  ): void {
    const places = placesOf(this.#arena, pages, `${direction} ${name}`);
    for (const band of this.#arena.bands)
      for (const page of places[band.index]!) this.#requireReady(name, direction, band, page);
    const use = {
      name,
      kind: "transfer",
      writes: direction === "receive",
      places,
      isOver: false,
    } as const;
    if (this.#started !== null) fail("bad_effect", `${name} is started beside another transfer`);
    this.#started = { use, direction };
  }

  // Two transfers over the same page are their caller's business: no operation of theirs waits for another one.
  #requireReady(name: string, direction: TransferDirection, band: BandPages, page: number): void {
    const arena = this.#arena;
    const copies = arena.uses.at(band, page).filter((use) => use.kind !== "transfer");
    if (direction === "send") arena.requireRun(name, band, page);
    else arena.requireUnread(name, band, page);
    const use = copies.find(({ writes }) => writes || direction === "receive");
    if (use === undefined) return;
    const does = direction === "send" ? "reads" : "writes";
    const message = `${name} ${does} ${arena.describe(band, page)} while ${use.name} may still use it: nothing waits for ${use.name} first`;
    fail("unordered_overlap", message, band.name, page);
  }

  /** What the effects of the operation under way started, null for nothing. */
  takeStarted(): ModelUse | null {
    const started = this.#started;
    this.#started = null;
    return started?.use ?? null;
  }

  /** From now on the peer knows the places. */
  publish(transfer: ModelTransfer, use: ModelUse): void {
    const items: Item[] = [];
    for (const band of this.#arena.bands) {
      for (const place of use.places[band.index]!) {
        const id = band.holderOf(place);
        const ids = band.id(id);
        const i = offsetOf(id);
        const [generation, expected] = [ids[i + ID.generation]!, ids[i + ID.expected]!]; // inside
        items.push({ band, place, id, generation, expected });
      }
    }
    transfer.items = items;
    transfer.use = use;
    this.#tell(transfer);
    this.#arena.uses.open(use);
  }

  #tell(transfer: ModelTransfer): void {
    const { name, direction, row, items } = transfer;
    const writer = writerOf(row.hash, hashName(name));
    this.#arena.tap?.transfer(
      name,
      direction,
      items.map(({ band, place, id, expected }) => ({
        ...{ band, place, id, expected, writer },
        ...unitsOf(transfer, band, id),
      })),
    );
  }

  /** The host waits a transfer, which ends thereby. */
  hostWait(name: string): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined || transfer.use === null)
      fail("bad_effect", `host wait for ${name}, which is no published transfer`);
    if (transfer.isStalled)
      fail("bad_effect", `host wait for ${name}, which is stalled and would not return`);
    this.#finish(transfer, "waited");
    this.#ended.push(name);
  }

  /** Ends the transfers of a request that were not published: nobody was told of their places. */
  endUnpublished(row: ModelRow): void {
    for (const transfer of this.#open.values()) {
      if (transfer.row !== row || transfer.use !== null) continue;
      this.#close(transfer);
      this.#ended.push(transfer.name);
    }
  }

  /** Transfers that the operation under way ended by itself, in that order; forgets them. */
  takeEnded(): readonly string[] {
    return this.#ended.splice(0);
  }

  /** A writer ended. Whether that came too late to matter. */
  end(name: string, writer: string | undefined, outcome: "ok" | "failed" | "timeout"): boolean {
    const transfer = this.#open.get(name);
    if (transfer === undefined) {
      if (this.#closed.has(name)) return true;
      fail("bad_effect", `the end of ${name}, which was never opened`);
    }
    const who = writer ?? ANY_WRITER;
    if (outcome !== "timeout" && !transfer.writers.delete(who)) {
      if (transfer.named.has(who)) return true;
      fail("bad_effect", `${who} ends ${name}, of which it is no writer`);
    }
    const isOver =
      outcome === "timeout" ||
      transfer.writers.size === 0 ||
      (transfer.direction === "send" && outcome === "failed");
    if (isOver) this.#finish(transfer, outcome);
    return false;
  }

  #finish(transfer: ModelTransfer, outcome: TransferOutcome): void {
    const { use, items, direction } = transfer;
    this.#close(transfer);
    if (use === null) return;
    this.#arena.uses.close(use);
    this.#arena.tap?.transferOver(transfer.name);
    const isProven = outcome === "ok" || outcome === "waited";
    for (const item of items) {
      if (direction === "receive") this.#write(transfer, item);
      else if (isProven) this.#check(transfer, item);
    }
    if (isProven) return;
    const limitation =
      direction === "send" ? "late_read_of_failed_send" : "late_write_of_failed_receive";
    this.strays.add(this.#arena.bands, use.places, limitation);
  }

  // The peer must have got what its request had when the places were told.
  #check(transfer: ModelTransfer, { band, place, expected }: Item): void {
    const block = band.page(place);
    const p = offsetOf(place);
    if (block[p + PAGE.content] === expected) return;
    if (block[p + PAGE.byAct] === ACT.receive) return; // of a page that was being received
    const wrote = block[p + PAGE.byOperation]!; // inside the block
    const message = `${transfer.name} sends other bytes from ${band.name} page ${place} than ${transfer.row.req} had: operation ${wrote} wrote it`;
    fail("lost_write", message, band.name, place);
  }

  #write(transfer: ModelTransfer, { band, place, id, generation }: Item): void {
    const arena = this.#arena;
    const holder = band.holderOf(place);
    const owner = band.isBinding(id, generation) ? id : holder;
    arena.claim(band, place, ACT.receive);
    if (owner <= 0 || !band.isBinding(owner, generation)) {
      arena.write(band, place, arena.garbage(), ACT.receive, arena.operation);
      if (holder > 0) arena.verify(band, holder);
      return;
    }
    const writer = writerOf(transfer.row.hash, hashName(transfer.name));
    const units = unitsOf(transfer, band, id);
    const grown = band.issue(owner, units.from, units.to, units.firstToken, writer);
    band.tap?.changed(band, owner);
    const ids = band.id(owner);
    const i = offsetOf(owner);
    const isWhole = units.to - units.from === band.units;
    const old = band.page(place)[offsetOf(place) + PAGE.content]!; // inside the block, as below
    ids[i + ID.expected] = isWhole ? band.issuedContent(owner) : ids[i + ID.expected]! + grown;
    ids[i + ID.byOperation] = arena.operation;
    const content = isWhole ? band.issuedContent(owner) : (old + grown) | 0;
    arena.write(band, place, content, ACT.receive, arena.operation);
    arena.verify(band, owner);
  }

  #close(transfer: ModelTransfer): void {
    this.#open.delete(transfer.name);
    this.#closed.add(transfer.name);
    if (this.#closed.size <= NAMES_MAX) return;
    for (const oldest of this.#closed) {
      this.#closed.delete(oldest);
      return;
    }
  }
}

/** Which units of a page a receive writes. */
function unitsOf(
  { from, to, virtual }: ModelTransfer,
  band: BandPages,
  id: number,
): { readonly from: number; readonly to: number; readonly firstToken: number } {
  if (band.isState) return { from: 0, to: 1, firstToken: to };
  const { units } = band;
  const firstToken = (Math.floor(from / units) + virtual.indexOf(id)) * units;
  return {
    from: Math.max(from - firstToken, 0),
    to: Math.min(to - firstToken, units),
    firstToken,
  };
}
