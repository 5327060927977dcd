// Copies between device and host on the simulated device, as late as the rules allow: a copy runs when the schedule stream
// waits it or the host has seen its end. Its stream waits the forward stream first, so the forwards launched before it run
// before it. Until then its places carry its name, so that every access that is not ordered behind it is found at once.
import type { Extents } from "../base/operations.js";
import type { ModelArena } from "./model-arena.js";
import { fail } from "./model-fault.js";
import type { ForwardStream } from "./model-forwards.js";
import type { HostPage } from "./model-host.js";
import { ACT, type BandPages, ID, offsetOf, PAGE } from "./model-pages.js";
import { listedPlaces, type Places } from "./model-places.js";
import type { ModelUse } from "./model-uses.js";

/** Names of copies that are over are remembered: a later wait for one is no error. */
const NAMES_MAX = 65_536;

/** One page of a copy. @internal */
export interface CopiedPage {
  readonly band: BandPages;
  readonly place: number;
  readonly host: HostPage; // written by a copy out, read by a copy in
}

interface CopyItem extends CopiedPage {
  readonly id: number;
  readonly generation: number;
  readonly expected: number; // content of the place when a copy out reads it
}

/** What an effect started. @internal */
export interface StartedCopy {
  readonly use: ModelUse;
  readonly places: Places;
  readonly forward: number; // the newest one launched before
}

interface OpenCopy {
  readonly started: StartedCopy;
  readonly items: readonly CopyItem[];
}

/** Copies by name. @internal */
export class HostCopies {
  readonly #arena: () => ModelArena;
  readonly #forwards: () => ForwardStream;
  readonly #open = new Map<string, OpenCopy>(); // not run
  readonly #known = new Set<string>(); // oldest first
  #started: StartedCopy | null = null;

  constructor(arena: () => ModelArena, forwards: () => ForwardStream) {
    this.#arena = arena;
    this.#forwards = forwards;
  }

  /** Whether a name is that of a copy. */
  knows(name: string): boolean {
    return this.#known.has(name);
  }

  /** Submits a copy; the operation's answer tells over what. */
  start(name: string, direction: "out" | "in", pages: Readonly<Record<string, Extents>>): void {
    const arena = this.#arena();
    if (this.#started !== null) fail("bad_effect", `${name} is started beside another copy`);
    if (this.#open.has(name)) fail("bad_effect", `copy ${name} is started twice`);
    const places = listedPlaces(arena, pages, `copy ${name}`);
    for (const band of arena.bands) {
      for (const page of places[band.index]!) {
        if (direction === "out") arena.requireFilled(name, band, page);
        else arena.requireUnused(name, band, page);
      }
    }
    const use = { name, kind: "copy", writes: direction === "in", places, isOver: false } as const;
    this.#started = { use, places, forward: this.#forwards().launched };
  }

  /** What the effects of the operation under way started, null for nothing. */
  takeStarted(): StartedCopy | null {
    const started = this.#started;
    this.#started = null;
    return started;
  }

  /** The same, which must be the copy of that name and direction, or none. */
  takeStartedAs(name: string, direction: "out" | "in"): StartedCopy | null {
    const started = this.takeStarted();
    if (started === null) return null;
    const { use } = started;
    if (use.name !== name || use.writes !== (direction === "in"))
      fail("bad_effect", `copy ${use.name} is started in place of ${name}`);
    return started;
  }

  /** Opens a started copy over bound pages. A copy in says from now on what they hold. */
  open(started: StartedCopy, pages: readonly CopiedPage[]): void {
    const arena = this.#arena();
    const { name, writes } = started.use;
    const items = pages.map((page) => this.#item(page, writes));
    arena.tap?.copy(name, writes ? "in" : "out", pages);
    this.#open.set(name, { started, items });
    this.#known.delete(name); // a name that comes back moves to the end
    this.#known.add(name);
    for (const oldest of this.#known) {
      if (this.#known.size <= NAMES_MAX) break;
      this.#known.delete(oldest);
    }
    arena.uses.open(started.use);
  }

  /** The schedule stream waits a copy, or the host has seen its end; nothing if it has run. */
  finish(name: string): void {
    const copy = this.#open.get(name);
    if (copy === undefined) return;
    this.#open.delete(name);
    this.#forwards().runThrough(copy.started.forward);
    this.#arena().uses.close(copy.started.use);
    for (const item of copy.items) {
      if (copy.started.use.writes) this.#write(item);
      else this.#read(name, item);
    }
  }

  /** Lets every copy that was submitted run. */
  drain(): void {
    for (const name of [...this.#open.keys()]) this.finish(name);
  }

  #item(page: CopiedPage, writes: boolean): CopyItem {
    const { band, place, host } = page;
    const id = band.holderOf(place);
    const ids = band.id(id);
    const i = offsetOf(id);
    const isWritten =
      band.page(place)[offsetOf(place) + PAGE.writer]! > this.#arena().finishedForward;
    const expected = isWritten ? band.issuedContent(id) : ids[i + ID.expected]!; // inside the block
    if (writes) band.hold(id, host.content);
    else host.expected = expected;
    return { ...page, id, generation: ids[i + ID.generation]!, expected };
  }

  #read(name: string, { band, place, host, expected }: CopyItem): void {
    const block = band.page(place);
    const p = offsetOf(place);
    const content = block[p + PAGE.content]!; // inside the block, as below
    host.physical = content;
    if (content === expected) return;
    const wrote = block[p + PAGE.byOperation]!;
    const message = `${name} copies other bytes from ${band.name} page ${place} than were there when it was submitted: operation ${wrote} wrote it`;
    fail("lost_write", message, band.name, place);
  }

  #write({ band, place, id, generation, host }: CopyItem): void {
    const arena = this.#arena();
    arena.claim(band, place, ACT.load);
    if (host.physical === null)
      fail(
        "lost_write",
        `${host.band.name} host page ${host.page} is loaded before it was written`,
        band.name,
        place,
      );
    arena.write(band, place, host.physical, ACT.load, arena.operation);
    const holder = band.holderOf(place);
    const owner = band.isBinding(id, generation) ? id : holder;
    if (owner > 0 && band.isBinding(owner, generation)) {
      const ids = band.id(owner);
      const i = offsetOf(owner);
      ids[i + ID.expected] = host.expected;
      ids[i + ID.byOperation] = arena.operation;
    }
    if (holder > 0) arena.verify(band, holder);
  }
}
