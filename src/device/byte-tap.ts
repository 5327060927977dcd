// Turns what the simulated device issues into scripts for an arena of bytes. Binds, expectations and row cells are gathered
// and go over together before the next piece of work that may see them; that is how one operation becomes one script.
import { hashName } from "../base/digest.js";
import type { Effect } from "../base/effects.js";
import type { Extents, ForwardEntry } from "../base/operations.js";
import { CHANGED, DIRTY, Gathered, PLACED, RENEWED } from "./byte-gathered.js";
import { Handles } from "./byte-handles.js";
import { type Script, STREAM, VERB } from "./bytes-script.js";
import { writerOf } from "./model-pages.js";
import type { ModelRun } from "./model-run.js";
import type { ModelTap, TapBand, TapCopiedPage, TapRow, TransferredPage } from "./model-tap.js";

/** How long work is held up, to make a missing wait show; drawn from the seed of the device, 0 for never. @internal */
export interface Delays {
  /** Microseconds before the payload of the next forward, copy or transfer. */
  next(): number;
}

/** Numbers of one write of a forward. */
const WRITE_WORDS = 6;

/** @internal */
export class ByteTap implements ModelTap {
  readonly handles = new Handles();
  readonly #script: Script;
  readonly #run: () => ModelRun;
  readonly #delays: Delays | null;
  readonly #gathered: Gathered[] = [];
  readonly #rows = new Set<TapRow>();
  readonly #writes: number[] = []; // of the forward under way, six numbers each
  readonly #written = new Set<number>(); // ids of `#writes`, with their band
  readonly #states: number[] = []; // two numbers each
  readonly #guards: boolean;
  #unguarded = 0; // handle of the newest forward whose metadata nothing waits for yet
  readonly #received = new Map<string, readonly TransferredPage[]>(); // by transfer, not over

  /**
   * @param guards - whether rows and places wait for the metadata of launched forwards where no barrier operation came
   * between: the engine's own obligation, which a list of operations may leave out
   */
  constructor(script: Script, run: () => ModelRun, delays: Delays | null, guards: boolean) {
    this.#guards = guards;
    this.#script = script;
    this.#run = run;
    this.#delays = delays;
  }

  /** Starts anew; rows are told again when they change. @param ids - ids of each band's table */
  reset(ids: readonly number[]): void {
    this.handles.clear();
    this.#unguarded = 0;
    this.#received.clear();
    this.#rows.clear();
    this.#gathered.length = 0;
    for (const count of ids) this.#gathered.push(new Gathered(count));
  }

  /** Ids whose bytes may differ from what was last looked at; they count as looked at from now on. */
  takeDirty(band: TapBand): number[] {
    const { dirty } = this.#of(band);
    const ids = [...dirty];
    this.#of(band).clear(dirty, DIRTY);
    return ids;
  }

  /** Whether a peer is writing a page: what lies there is nobody's expectation until it ends. */
  isReceiving(band: TapBand, page: number): boolean {
    for (const pages of this.#received.values())
      if (pages.some((item) => item.band === band && item.place === page)) return true;
    return false;
  }

  /** The host waits for a completion before the operation that tells of it. */
  hostWait(name: string): void {
    for (const handle of this.handles.take(name)) {
      if (handle === this.#unguarded) this.#unguarded = 0;
      this.#script.verb(VERB.hostWait, handle);
      this.#script.verb(VERB.forget, handle);
    }
  }

  effect(effect: Effect): void {
    this.flush();
    const script = this.#script;
    switch (effect[0]) {
      case "hostread":
        script.verb(VERB.hostRead);
        return;
      case "wait":
        for (const handle of this.handles.of(effect[1])) script.verb(VERB.wait, handle);
        return;
      case "barrier":
        for (const handle of this.handles.of(effect[1])) {
          script.verb(VERB.barrier, handle);
          if (handle === this.#unguarded) this.#unguarded = 0;
        }
        return;
      case "event":
        for (const handle of this.handles.of(effect[1])) script.verb(VERB.record, handle);
        return;
      case "hostwait":
        this.hostWait(effect[1]);
        return;
      case "move":
        this.#move(effect[1], effect[2], false);
        return;
      case "copy":
        this.#move(effect[1], effect[2], true);
        return;
      case "zero":
        script.begin(VERB.zero).put(this.#bandIndex(effect[1]));
        putExtents(script, effect[2]);
        return;
      case "reset":
        script.begin(VERB.reset);
        putExtents(script, effect[1]);
        return;
      default: // told with all they need by `forward`, `copy` and `transfer`
        return;
    }
  }

  renewed(band: TapBand, id: number): void {
    const gathered = this.#of(band);
    gathered.renew(id);
    gathered.write(id);
  }
  bound(band: TapBand, id: number, page: number): void {
    this.#of(band).place(id, page);
  }
  unbound(band: TapBand, id: number): void {
    const gathered = this.#of(band);
    gathered.place(id, 0);
    gathered.forget(id);
  }
  changed(band: TapBand, id: number): void {
    this.#of(band).change(id);
  }
  letGo(band: TapBand, id: number): void {
    const gathered = this.#of(band);
    gathered.renew(id);
    if (!gathered.has(id, PLACED)) gathered.place(id, band.placeOf(id));
  }
  revealed(band: TapBand, id: number, page: number): void {
    const stamps = band.contentOf(id).stamps;
    const written = [...stamps.keys()].filter((unit) => stamps[unit] !== 0);
    if (written.length > 0) this.changed(band, id); // its binding is fresh, its content is not
    this.flush();
    const script = this.#script;
    if (written.length === 0) return;
    script.begin(VERB.stamp).put(band.index).put(written.length);
    for (const unit of written) script.put(page).put(unit).put(stamps[unit]!); // in range
    script.end();
  }
  rowChanged(row: TapRow): void {
    this.#rows.add(row);
  }

  issued(
    band: TapBand,
    id: number,
    from: number,
    to: number,
    firstToken: number,
    writer: number,
  ): void {
    this.#giveWay(band.index, id, from, to);
    this.#writes.push(band.index, id, from, to, firstToken, writer);
    if (band.isState) this.#states.push(band.index, id);
    this.#of(band).write(id);
  }

  /** A unit that two requests of a batch write is the last one's: writes of one forward have no order among them. */
  #giveWay(band: number, id: number, from: number, to: number): void {
    const key = band * 2 ** 32 + id;
    if (!this.#written.has(key)) {
      this.#written.add(key);
      return;
    }
    const writes = this.#writes;
    const count = writes.length;
    for (let at = 0; at < count; at += WRITE_WORDS) {
      if (writes[at] !== band || writes[at + 1] !== id) continue;
      const [first, last] = [writes[at + 2]!, writes[at + 3]!]; // inside the entry
      if (last <= from || first >= to) continue;
      writes[at + 3] = Math.max(first, from); // what is left of it before, perhaps nothing
      if (last > to) writes.push(band, id, to, last, writes[at + 4]!, writes[at + 5]!);
    }
  }

  forward(step: string, batch: readonly ForwardEntry[], isWaited: boolean): void {
    const { rows } = this.#run();
    const script = this.#script;
    const late = this.#delay();
    if (late > 0) script.verb(VERB.delay, STREAM.forward, late);
    this.#end(step); // a name may come back
    const handle = this.#begin(step);
    script.begin(VERB.forward).put(handle).put(this.#delay());
    script.put(batch.length).put(this.#states.length / 2);
    script.put(this.#writes.length / WRITE_WORDS);
    for (const { req, to } of batch) script.put(rows.require(req).row).put(rows.pagesOf(to));
    script.putAll(this.#states).putAll(this.#writes).end();
    this.#states.length = 0;
    this.#writes.length = 0;
    this.#written.clear();
    if (!isWaited) {
      this.#unguarded = this.#guards ? handle : 0;
      return;
    }
    script.verb(VERB.record, handle);
    script.verb(VERB.wait, handle);
  }

  copy(name: string, direction: "out" | "in", pages: readonly TapCopiedPage[]): void {
    this.flush();
    const script = this.#script;
    const kept = pages.filter(({ host }) => !host.isMadeUp);
    const madeUp = pages.filter(({ host }) => host.isMadeUp);
    this.#end(name); // a name may come back
    if (kept.length > 0) {
      script
        .begin(VERB.hostCopy)
        .put(this.#begin(name))
        .put(direction === "in" ? 1 : 0);
      script.put(this.#delay()).put(kept.length);
      for (const { band, place, host } of kept) script.put(band.index).put(place).put(host.page);
      script.end();
    }
    if (madeUp.length === 0) return;
    script.begin(VERB.fill).put(this.#begin(name)).put(this.#delay()).put(madeUp.length);
    for (const { band, place, host } of madeUp) {
      const writer = writerOf(hashName(name), hashName(band.name));
      script.put(band.index).put(place).put(0).put(band.units);
      script.put(host.page * band.units).put(writer);
    }
    script.end();
  }

  transfer(name: string, direction: "send" | "receive", pages: readonly TransferredPage[]): void {
    this.flush();
    if (direction === "receive") this.#receive(name, pages);
    else this.#send(name, pages);
  }

  transferOver(name: string): void {
    this.#received.delete(name);
  }

  /** Tells what was gathered. */
  flush(): void {
    if (this.#unguarded !== 0 && this.#hasGathered()) {
      this.#script.verb(VERB.barrier, this.#unguarded);
      this.#unguarded = 0;
    }
    for (const [index, gathered] of this.#gathered.entries()) {
      if (gathered.placed.length > 0) this.#tellPlaces(index, gathered);
      if (gathered.changed.length > 0) this.#tellChanged(index, gathered);
    }
    for (const row of this.#rows) {
      const count = row.pageCount - row.changedFrom;
      if (count > 0) {
        this.#script.begin(VERB.row).put(row.row).put(row.changedFrom).put(count);
        this.#script.putAll(row.virtual.subarray(row.changedFrom, row.pageCount)).end();
      }
      row.changedFrom = Infinity;
    }
    this.#rows.clear();
  }

  #hasGathered(): boolean {
    return (
      this.#rows.size > 0 ||
      this.#gathered.some(({ placed, changed }) => placed.length > 0 || changed.length > 0)
    );
  }

  // Ids that keep what is expected in them, then those that begin anew.
  #tellPlaces(band: number, gathered: Gathered): void {
    const { placed, places } = gathered;
    for (const isFresh of [false, true]) {
      const count = placed.reduce(
        (sum, id) => sum + Number(gathered.has(id, RENEWED) === isFresh),
        0,
      );
      if (count === 0) continue;
      const script = this.#script
        .begin(VERB.bind)
        .put(band)
        .put(isFresh ? 1 : 0)
        .put(count);
      for (const id of placed)
        if (gathered.has(id, RENEWED) === isFresh) script.put(id).put(places[id]!); // a known id
      script.end();
    }
    gathered.clear(placed, PLACED | RENEWED); // what was renewed without a place is told with its place
  }

  #tellChanged(index: number, gathered: Gathered): void {
    const band = this.#run().arena.bands[index]!; // one a band
    const ids = gathered.changed.filter((id) => gathered.has(id, CHANGED));
    if (ids.length > 0) {
      const script = this.#script.begin(VERB.expect).put(index).put(ids.length);
      for (const id of ids) script.put(id).putAll(band.contentOf(id).stamps);
      script.end();
    }
    gathered.clear(gathered.changed, CHANGED);
  }

  #move(band: string, pairs: readonly (readonly [number, number])[], isOrdered: boolean): void {
    const script = this.#script.begin(VERB.move).put(this.#bandIndex(band));
    script.put(isOrdered ? 1 : 0).put(pairs.length);
    for (const [from, to] of pairs) script.put(from).put(to);
    script.end();
  }

  #receive(name: string, pages: readonly TransferredPage[]): void {
    const written = pages.filter(({ from, to }) => from < to);
    this.#end(name);
    if (written.length === 0) return;
    const script = this.#script.begin(VERB.receive).put(this.#begin(name)).put(this.#delay());
    script.put(written.length);
    for (const { band, place, from, to, firstToken, writer } of written)
      script.put(band.index).put(place).put(from).put(to).put(firstToken).put(writer);
    script.end();
    this.#received.set(name, written);
  }

  #send(name: string, pages: readonly TransferredPage[]): void {
    // What nobody wrote since it was handed out, or is being received, is read and not compared.
    const isKnown = ({ band, place, id, expected }: TransferredPage): boolean =>
      id > 0 && expected === band.issuedContent(id) && !this.isReceiving(band, place);
    const read = pages.filter(({ id }) => id > 0);
    this.#end(name);
    if (read.length === 0) return;
    const maskWords = Math.max(...read.map(({ band }) => maskWordsOf(band)));
    const script = this.#script.begin(VERB.send).put(this.#begin(name)).put(this.#delay());
    script.put(maskWords).put(read.length);
    for (const page of read) {
      const { band, place, id, expected } = page;
      script
        .put(band.index)
        .put(place)
        .put(isKnown(page) ? expected : 0);
      if (isKnown(page)) putMask(script, band, id, maskWords);
      else for (let word = 0; word < maskWords; word++) script.put(0);
    }
    script.end();
  }

  #begin(name: string): number {
    const surplus = this.handles.surplus;
    if (surplus !== null) this.#end(surplus);
    return this.handles.add(name);
  }
  #end(name: string): void {
    for (const handle of this.handles.take(name)) {
      // A forward that is forgotten has a newer one behind it on its stream, or is waited whole.
      if (handle === this.#unguarded) {
        this.#script.verb(VERB.barrier, handle);
        this.#unguarded = 0;
      }
      this.#script.verb(VERB.forget, handle);
    }
  }
  #delay(): number {
    return this.#delays?.next() ?? 0;
  }
  #of(band: TapBand): Gathered {
    return this.#gathered[band.index]!; // one a band
  }
  #bandIndex(name: string): number {
    return this.#run().arena.band(name).index;
  }
}

/** A count and the numbers of a list; ends the verb. */
function putExtents(script: Script, extents: Extents): void {
  const at = script.position;
  script.put(0);
  for (const [first, count] of extents) {
    const step = count < 0 ? -1 : 1;
    for (let k = 0; k < Math.abs(count); k++) script.put(first + step * k);
  }
  script.set(at, script.position - at - 1);
  script.end();
}

/** Words of a mask over a band's units. @internal */
export function maskWordsOf(band: TapBand): number {
  return Math.ceil(band.units / 32);
}

function putMask(script: Script, band: TapBand, id: number, words: number): void {
  const { stamps } = band.contentOf(id);
  for (let word = 0; word < words; word++) {
    let mask = 0;
    for (let bit = 0; bit < 32; bit++) if ((stamps[word * 32 + bit] ?? 0) !== 0) mask |= 1 << bit;
    script.put(mask);
  }
}
