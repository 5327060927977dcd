// forward.launch, forward.record, forward.barrier, forward.process, event.fire.
import { toExtents } from "../../base/extents.js";
import type { Answer, Extents, KvArgs, OperationError, PageLists } from "../../base/operations.js";
import type { ForwardEntry, ForwardStep } from "../alloc/forward-steps.js";
import type { Band, PlaceUse } from "../alloc/band.js";
import { HazardSet } from "../alloc/clearance.js";
import { reservedPages } from "../cache/host-loads.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";
import { currentSlot } from "./states.js";

/** @internal */
export function forwardLaunch(
  core: KvCore,
  args: KvArgs["forward.launch"],
): Answer<"forward.launch"> {
  const { steps, scope } = core.chain;
  const broken = brokenLaunch(core, args);
  if (broken !== null) return { err: broken };
  const step = stepOf(core, args);
  const hazards = launchHazards(core, step);
  if ("code" in hazards) return { err: hazards };
  for (const { req, track } of args.batch) {
    if (track === undefined) continue;
    const request = core.requests.find(req)!; // checked: open
    core.requests.setTracked(request, request.trackCursor, track);
    core.requests.setTrackCursor(request, (request.trackCursor + 1) % request.slots.track.length);
  }
  steps.version += 1;
  if (args.mode === "prebuilt") {
    steps.unrecorded.push(step);
    return { ok: { resets: [] } };
  }
  if (core.records) steps.open = step;
  else steps.unrecorded.push(step);
  hazards.clear(scope, core.chain.ledger);
  const resets = toExtents(core.requests.takeMarks());
  if (resets.length > 0) scope.emit(["reset", resets]);
  scope.emit(["forward", args.step]);
  return { ok: { resets, ...core.ended() } };
}

/** The forward with the rows and slots that it uses, resolved now: later work never looks the row up again. */
function stepOf(core: KvCore, args: KvArgs["forward.launch"]): ForwardStep {
  const entries = new Map<Request, ForwardEntry>();
  for (const { req, from, to, track } of args.batch) {
    const request = core.requests.find(req)!; // checked: open
    const trackSlot = track === undefined ? 0 : currentSlot(request, "track");
    entries.set(request, { from, to, mainSlot: currentSlot(request, "main"), trackSlot });
  }
  return {
    kind: "forward",
    name: args.step,
    mode: args.mode,
    launch: core.chain.steps.clock,
    entries,
    explicit: null,
    unknownWrites: false,
    retired: false,
  };
}

/**
 * What the forward must clear: copies and transfers that write pages it reads, and all that use pages it writes. Earlier
 * forwards need no wait, the forward stream is in order. A row that names pages still reserved for a load is not ready.
 * Asked of the pages in use, not of the rows: those are long.
 */
function launchHazards(core: KvCore, step: ForwardStep): HazardSet | OperationError {
  const { chain } = core;
  const hazards = new HazardSet(chain.counts);
  if (step.mode === "prebuilt") return hazards;
  if (chain.steps.hasUnretired) chain.counts.note("forward", "forward");
  for (const band of chain.bands) {
    for (const page of reservedPages(core, band)) {
      if (!chain.usage.uses(step, band, page, "reads")) continue;
      chain.counts.note("forward", "fixed");
      return invalid("name_state", { req: namedBy(core, step, band, page) });
    }
  }
  for (const use of [...chain.ledger.copies, ...chain.ledger.transfers])
    if (meets(core, step, use)) hazards.add("forward", use);
  return chain.stalled(hazards) ?? hazards;
}

/** The first request of a batch whose row names a page. */
function namedBy(core: KvCore, step: ForwardStep, band: Band, page: number): string {
  const id = band.p2v[page]!;
  for (const [request, entry] of step.entries) {
    const named =
      band.plan.kind === "state"
        ? entry.mainSlot
        : (request.pages[core.chain.virtual.position[id]!] ?? 0);
    if (named === id) return request.name;
  }
  return ""; // the forward uses the page, so some row names it
}

/** Whether a forward reads what a copy or transfer writes, or writes what it uses. */
function meets(core: KvCore, step: ForwardStep, use: PlaceUse): boolean {
  const { bands, usage } = core.chain;
  const isWriter = use.direction === "in" || use.direction === "receive";
  return use.places.some((pages, index) => {
    const band = bands[index]!; // places by band
    return pages.some(
      (page) =>
        band.usesAt(page).includes(use) &&
        (usage.uses(step, band, page, "writes") ||
          (isWriter && usage.uses(step, band, page, "reads"))),
    );
  });
}

function brokenLaunch(core: KvCore, args: KvArgs["forward.launch"]): OperationError | null {
  const { steps } = core.chain;
  for (const { req } of args.batch) {
    if (core.requests.find(req) === undefined) return invalid("unknown_request", { req });
  }
  for (const { req, from, to } of args.batch) {
    if (to > (core.requests.find(req)?.allocated ?? 0) || from > to)
      return invalid("beyond_row", { req });
  }
  if (steps.open !== null) return invalid("launch_open");
  for (const { req, track } of args.batch) {
    const tracked = core.requests.find(req)?.slots.track.length ?? 0;
    if (track !== undefined && tracked === 0) return invalid("nothing_tracked", { req });
  }
  const known = [...steps.unprocessed, ...steps.unrecorded].some((step) => step.name === args.step);
  return known ? invalid("name_state") : null;
}

/** @internal */
export function forwardRecord(
  core: KvCore,
  args: KvArgs["forward.record"],
): Answer<"forward.record"> {
  const { steps, scope } = core.chain;
  const waiting = steps.unrecorded.find((step) => step.name === args.step);
  if (waiting?.mode === "prebuilt") return { err: invalid("record_of_prebuilt") };
  if (waiting !== undefined) return { ok: {} }; // without overlap nothing is recorded
  if (steps.open?.name !== args.step) return { err: invalid("name_state") };
  const step = steps.open;
  step.unknownWrites = args.writes === "unknown";
  steps.record(step);
  scope.emit(["event", args.step]);
  return { ok: {} };
}

/** @internal */
export function forwardBarrier(
  core: KvCore,
  args: KvArgs["forward.barrier"],
): Answer<"forward.barrier"> {
  const { steps, scope } = core.chain;
  if (steps.unrecorded.some((step) => step.name === args.step && step.mode !== "prebuilt"))
    return { ok: {} };
  if (!steps.unprocessed.some((step) => step.name === args.step))
    return { err: invalid("name_state") };
  scope.emit(["barrier", args.step]);
  return { ok: {} };
}

/** @internal */
export function forwardProcess(
  core: KvCore,
  args: KvArgs["forward.process"],
): Answer<"forward.process"> {
  const { steps, bands } = core.chain;
  const inert = steps.unrecorded.findIndex((step) => step.name === args.step);
  if (inert >= 0) {
    // A prebuilt step is inert wherever it stands; without recording, launch order still holds.
    const isNext = steps.unrecorded.findIndex((step) => step.mode !== "prebuilt") === inert;
    if (steps.unrecorded[inert]!.mode !== "prebuilt" && !isNext)
      return { err: invalid("process_out_of_order") };
    steps.unrecorded.splice(inert, 1);
    steps.version += 1;
    return { ok: { released: {} } };
  }
  if (steps.unprocessed[0]?.name !== args.step) return { err: invalid("process_out_of_order") };
  const step = steps.processOldest();
  const released: Record<string, Extents> = {};
  for (const band of bands) {
    const pages = band.releasePendingThrough(step.launch);
    if (pages.length > 0) released[band.plan.name] = toExtents(pages);
  }
  return { ok: { released: released satisfies PageLists } };
}

/** A hint to one rank's device that an event has completed; it decides nothing. @internal */
export function eventFire(core: KvCore, args: KvArgs["event.fire"]): Answer<"event.fire"> {
  const known = core.chain.steps.unprocessed.some((step) => step.name === args.event);
  return known ? { ok: {} } : { err: invalid("name_state") };
}
