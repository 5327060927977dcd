// net.send, net.receive, net.publish, net.stall, net.end: network transfers over a request's rows.
import type { Answer, KvArgs, OperationError } from "../../base/operations.js";
import type { HostCopy } from "../alloc/signals.js";
import { reservedPage, reservedSlot } from "../cache/host-loads.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";
import { pagesTouched, placeLists, type Places, placesOf } from "../transfer/places.js";
import { ANY_WRITER, type Transfer } from "../transfer/transfers.js";
import { currentSlot } from "./states.js";
import { bindGrowth, growthDemand, growthOf, settleLengths } from "./tokens.js";

/** Sends a row's pages and a slot at once, or holds them until they are published. @internal */
export function netSend(core: KvCore, args: KvArgs["net.send"]): Answer<"net.send"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const { from, to, state } = args;
  if (to > request.allocated || from > to) return { err: invalid("beyond_row", { req: args.req }) };
  const slot = state === undefined ? 0 : currentSlot(request, state);
  const transfer = opened(core, args, "send", request, slot === 0 ? [] : [slot]);
  const broken =
    (state !== undefined && slot === 0 ? invalid("nothing_tracked", { req: args.req }) : null) ??
    (isLoadedLater(core, request, args) ? invalid("name_state", { req: args.req }) : null) ??
    notToOpen(core, args.transfer);
  if (broken !== null) return { err: broken };
  const places = placesOf(core, transfer);
  enter(core, transfer);
  if (args.held !== true) start(core, transfer, places);
  return { ok: { pages: placeLists(core.chain.bands, places), epoch: transfer.epoch } };
}

/** Whether a load that is not submitted yet will write any of these pages or the state: there is nothing to send. */
function isLoadedLater(core: KvCore, request: Request, args: KvArgs["net.send"]): boolean {
  const first = Math.floor(args.from / core.config.pageSize);
  if (reservedPage(core, request, first, core.pagesOf(args.to)) !== null) return true;
  return args.state !== undefined && reservedSlot(core, request, args.state) !== null;
}

/** Takes pages and slots that a peer will fill; they are held until the peer is told of them. @internal */
export function netReceive(core: KvCore, args: KvArgs["net.receive"]): Answer<"net.receive"> {
  const { chain } = core;
  const broken = brokenReceive(core, args);
  if (broken !== null) return { err: broken };
  const request = core.requests.find(args.req)!; // checked: open
  const growth = growthOf(core, request, args.from, args.to, args.tail);
  const demand = growthDemand(core, [growth]);
  const state = args.state ?? 0;
  if (chain.stateBand !== null) demand[chain.stateBand.index] = state;
  const plan = chain.price(demand);
  if (!("step" in plan)) return { err: plan };
  const taken = chain.take(demand, plan, "network_receive");
  const slots = bindSlots(core, request, state, taken.pages);
  bindGrowth(
    core,
    growth,
    taken.pages,
    chain.bands.map(() => 0),
  );
  settleLengths(core, growth);
  const pages = core.lists.take();
  const transfer = opened(core, args, "receive", request, slots);
  enter(core, transfer);
  return { ok: { pages, epoch: transfer.epoch, step: taken.step, ...core.ended() } };
}

function brokenReceive(core: KvCore, args: KvArgs["net.receive"]): OperationError | null {
  const { req, from, to } = args;
  const request = core.requests.find(req);
  if (request === undefined) return invalid("unknown_request", { req });
  if (from !== request.allocated || to < from) return invalid("extend_not_at_length", { req });
  if (to > core.config.rowTokens) return invalid("beyond_row", { req });
  const open = core.launchOpen() ?? notToOpen(core, args.transfer);
  if (open !== null) return open;
  const needsState = (args.state ?? 0) > 0;
  return needsState && core.chain.stateBand === null ? invalid("feature_conflict", { req }) : null;
}

/** Binds the received slots, which join the request's main ones, and lists them. */
function bindSlots(core: KvCore, request: Request, count: number, taken: Places): number[] {
  const { slots, stateBand, steps } = core.chain;
  const bound: number[] = [];
  if (count === 0 || slots === null || stateBand === null) return bound;
  for (const page of taken[stateBand.index]!) {
    const slot = slots.mint(request, request.slots.main.length);
    core.requests.addSlot(request, "main", slot);
    stateBand.bind(slot, page, steps.clock);
    core.lists.slots.add(slot);
    core.lists.bands[stateBand.index]!.add(page);
    bound.push(slot);
  }
  return bound;
}

/** Tells the peer the places of a held transfer, as they are now. @internal */
export function netPublish(core: KvCore, args: KvArgs["net.publish"]): Answer<"net.publish"> {
  const { chain } = core;
  if (chain.stages !== null) return { err: invalid("feature_conflict") };
  const transfer = core.net.find(args.transfer);
  if (transfer?.use !== null) return { err: invalid("name_state") }; // unknown, over or told already
  const isDeferred = args.deferred === true;
  if (isDeferred && !core.config.overlap) return { err: invalid("feature_conflict") };
  const epoch = chain.moveEpoch;
  const reread = epoch !== transfer.epoch;
  // The readback on the schedule stream runs behind the take's waits, its zeroing and every move. Beside the stream it
  // may run only while all of the places are still those of the take.
  if (!isDeferred || reread) chain.scope.emit(["hostread", "publish"]);
  const places = placesOf(core, transfer);
  start(core, transfer, places);
  return { ok: { pages: placeLists(chain.bands, places), epoch, reread } };
}

/** From now on a host wait for this transfer would outlive its deadline. @internal */
export function netStall(core: KvCore, args: KvArgs["net.stall"]): Answer<"net.stall"> {
  if (core.chain.stages !== null) return { err: invalid("feature_conflict") };
  const transfer = core.net.find(args.transfer);
  if (transfer === undefined) return { err: invalid("name_state") };
  core.net.stall(transfer);
  return { ok: {} };
}

/**
 * A writer of a transfer ended. The transfer is over when all did, or at a timeout; a send at its first failure.
 *
 * Known limitation, kept as the specification has it: pages go back without proof that the peer's engine stopped. A
 * failed send releases at once and a timeout releases with writers still on the way, so a late read may see the next
 * owner's bytes and a late write may land in them. @internal
 */
export function netEnd(core: KvCore, args: KvArgs["net.end"]): Answer<"net.end"> {
  const { net, chain } = core;
  if (chain.stages !== null) return { err: invalid("feature_conflict") };
  const transfer = net.find(args.transfer);
  const isTimeout = args.outcome === "timeout";
  if (transfer === undefined) {
    return net.wasClosed(args.transfer)
      ? { ok: { released: {}, late: true } }
      : { err: invalid("name_state") };
  }
  const writer = args.writer ?? ANY_WRITER;
  const isKnown = transfer.named.has(writer) || (isTimeout && args.writer === undefined);
  // Nobody can have read or written what nobody was told of, but a peer may give up before.
  if (!isKnown || (transfer.use === null && args.outcome === "ok"))
    return { err: invalid("name_state") };
  if (!isTimeout && !transfer.writers.has(writer)) return { ok: { released: {}, late: true } };
  net.endWriter(transfer, writer);
  const isOver =
    isTimeout ||
    transfer.writers.size === 0 ||
    (transfer.direction === "send" && args.outcome === "failed");
  if (!isOver) return { ok: { released: {}, late: false } };
  net.close(transfer.name);
  if (transfer.use !== null) chain.ledger.endTransfer(transfer.use);
  core.releaseDeferred();
  return { ok: { released: core.lists.take(), late: false } };
}

/** The rule broken where a transfer may not open under this name, or null. */
function notToOpen(core: KvCore, name: string): OperationError | null {
  const { net, chain } = core;
  if (net.find(name) !== undefined || net.wasClosed(name)) return invalid("name_state");
  return chain.stages === null ? null : invalid("feature_conflict");
}

function opened(
  core: KvCore,
  args: KvArgs["net.send"] | KvArgs["net.receive"],
  direction: Transfer["direction"],
  request: Request,
  slots: readonly number[],
): Transfer {
  const { first, end } = pagesTouched(core, args.from, args.to);
  const given = args.writers ?? [];
  const named = new Set(given.length === 0 ? [ANY_WRITER] : given);
  return {
    name: args.transfer,
    direction,
    serial: core.net.serial,
    epoch: core.chain.moveEpoch,
    req: request.name,
    first,
    end,
    virtual: direction === "receive" ? request.pages.slice(first, end) : [],
    slots,
    writers: new Set(named),
    named,
    isStalled: false,
    use: null,
  };
}

function enter(core: KvCore, transfer: Transfer): void {
  core.net.add(transfer);
  core.net.serial += 1;
}

/** Hands a transfer to the engine. A send first waits whoever still writes what it reads: the newest forward, copies; a
 * receive the newest forward and the copies that use what the peer will write, or may, if any began after the take. */
function start(core: KvCore, transfer: Transfer, places: Places): void {
  const { chain, net } = core;
  const { name, direction } = transfer;
  if (direction === "send") clearSources(core, places);
  else clearReaders(core, places);
  const use = chain.ledger.startTransfer(chain.bands, name, direction, places);
  use.isStalled = transfer.isStalled;
  net.publish(transfer, use, chain.moveEpoch);
  chain.scope.emit(["net", name, direction, placeLists(chain.bands, places)]);
}

function clearReaders(core: KvCore, places: Places): void {
  const { bands, usage, scope, steps } = core.chain;
  const isUsed =
    steps.hasUnretired &&
    bands.some((band) =>
      places[band.index]!.some(
        (page) => usage.isWritten(band, page) || usage.readersOf(band, page).length > 0,
      ),
    );
  if (isUsed) scope.wait(steps.newestUnretired);
  waitCopies(core, places, () => true);
}

function clearSources(core: KvCore, places: Places): void {
  const { bands, usage, scope, steps } = core.chain;
  const isWritten = bands.some((band) =>
    places[band.index]!.some((page) => usage.isWritten(band, page)),
  );
  if (isWritten) scope.wait(steps.newestUnretired);
  waitCopies(core, places, (copy) => copy.direction === "in");
}

function waitCopies(core: KvCore, places: Places, concerns: (copy: HostCopy) => boolean): void {
  const { bands, ledger } = core.chain;
  const copies = bands.flatMap((band) =>
    places[band.index]!.flatMap((page) =>
      band.usesAt(page).flatMap((use) => (use.kind === "copy" && concerns(use) ? [use] : [])),
    ),
  );
  copies.sort((left, right) => left.order - right.order);
  for (const copy of copies) ledger.waitCopy(copy);
}
