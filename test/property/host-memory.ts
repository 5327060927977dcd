// A memory that knows only effects and answers, with host copies as late as the books allow: a copy out reads its places
// when somebody waits for it or when its end is announced, a copy in writes them then. Whatever used a page or a host
// page too early shows as a wrong stamp.
import { expand, expandHost } from "../../src/base/extents.js";
import type { Effect } from "../../src/base/effects.js";
import type { Extents, PageLists } from "../../src/base/operations.js";

/** What a page of a band holds, by band name and page; 0 = zeroed. */
type Bytes = Map<string, Map<number, number>>;

interface PendingCopy {
  readonly direction: "out" | "in";
  readonly device: ReadonlyMap<string, readonly number[]>;
  readonly host: ReadonlyMap<string, readonly number[]>; // empty: stamps come from `stamps` alone
  readonly stamps: ReadonlyMap<string, readonly number[]>; // what the copy must find, by band
}

export class HostMemory {
  readonly device: Bytes = new Map();
  readonly host: Bytes = new Map();
  readonly pending = new Map<string, PendingCopy>();
  /** What went wrong first; null while nothing did. */
  wrong: string | null = null;
  #next = 1;

  /** A stamp that no page held before. */
  stamp(): number {
    return this.#next++;
  }
  read(bytes: Bytes, band: string, page: number): number {
    return bytes.get(band)?.get(page) ?? -1;
  }
  write(bytes: Bytes, band: string, page: number, stamp: number): void {
    let pages = bytes.get(band);
    if (pages === undefined) bytes.set(band, (pages = new Map()));
    pages.set(page, stamp);
  }

  /** Carries out the effects of one operation. @param hostPages - of the copy that it submits, by band */
  apply(fx: readonly Effect[], hostPages: PageLists): void {
    for (const effect of fx) {
      if (effect[0] === "wait") this.end(effect[1], true);
      if (effect[0] === "zero")
        for (const page of expand(effect[2])) this.write(this.device, effect[1], page, 0);
      if (effect[0] === "move") this.#move(effect[1], effect[2]);
      if (effect[0] === "hostcopy") this.#submit(effect, hostPages);
    }
  }

  #move(band: string, pairs: readonly (readonly [number, number])[]): void {
    const read = pairs.map(([source]) => this.read(this.device, band, source));
    for (const [index, [, target]] of pairs.entries())
      this.write(this.device, band, target, read[index]!);
  }

  #submit(
    [, name, direction, pages]: Effect & readonly ["hostcopy", ...unknown[]],
    on: PageLists,
  ): void {
    const device = new Map<string, number[]>();
    const host = new Map<string, number[]>();
    const stamps = new Map<string, number[]>();
    for (const [band, extents] of Object.entries(pages as Record<string, Extents>)) {
      const places = expand(extents);
      device.set(band, places);
      const hosts = on[band] === undefined ? [] : expandHost(on[band]);
      host.set(band, hosts);
      if (hosts.length !== places.length && hosts.length > 0)
        this.wrong ??= `${name}: ${band} has ${places.length} pages and ${hosts.length} host pages`;
      if (
        direction === "out" &&
        places.some((page) => this.settled(band, page) !== this.read(this.device, band, page))
      )
        this.wrong ??= `${name}: reads pages of ${band} that another copy still writes`;
      if (direction === "out")
        stamps.set(
          band,
          places.map((page) => this.read(this.device, band, page)),
        );
      else if (hosts.length > 0)
        stamps.set(
          band,
          hosts.map((page) => this.read(this.host, band, page)),
        );
      else
        stamps.set(
          band,
          places.map(() => this.stamp()),
        );
    }
    this.pending.set(name, {
      direction: direction,
      device,
      host,
      stamps,
    });
  }

  /** Ends a copy: now at the latest it runs. One that failed leaves whatever. */
  end(name: string, isOk: boolean): void {
    const copy = this.pending.get(name);
    if (copy === undefined) return; // ran before
    this.pending.delete(name);
    for (const [band, places] of copy.device) {
      for (const [index, page] of places.entries()) {
        const wanted = copy.stamps.get(band)![index]!;
        const host = copy.host.get(band)?.[index];
        const from = copy.direction === "out" ? this.device : this.host;
        const source = copy.direction === "out" ? page : host;
        if (source !== undefined && this.read(from, band, source) !== wanted)
          this.wrong ??= `${name}: the source ${band} ${source} was written before it was read`;
        const stamp = isOk ? wanted : this.stamp();
        if (copy.direction === "in") this.write(this.device, band, page, stamp);
        else if (host !== undefined) this.write(this.host, band, host, stamp);
      }
    }
  }

  /** What a reader of a device page that waits for the copies into it finds. */
  settled(band: string, page: number): number {
    for (const { direction, device, stamps } of this.pending.values()) {
      const index = direction === "in" ? (device.get(band)?.indexOf(page) ?? -1) : -1;
      if (index >= 0) return stamps.get(band)![index]!;
    }
    return this.read(this.device, band, page);
  }
}
