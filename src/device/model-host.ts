// Host memory of the simulated device: which host pages are held, and what they hold once their copy has run.
import type { DirectConfig, Extents, PageLists } from "../base/operations.js";
import { fail } from "./model-fault.js";
import type { BandPages, PageContent } from "./model-pages.js";

/** Where the tree keeps host copies. @internal */
export interface HostHome {
  /** Host copies of the pages from `page` on, here and below. */
  hostBehind(page: number): readonly HostPage[];
}

/** One host page while it is held. @internal */
export class HostPage {
  readonly band: BandPages;
  readonly page: number;
  readonly content: PageContent; // of the page which it was taken for
  readonly keeper: string | null; // the copy of a retracted request that keeps it; null: the tree
  expected: number; // what it shall hold once a copy has written it
  physical: number | null = null; // what it holds; null until then
  isReady = false; // its copy is done
  isGone = false; // it was given back
  locks = 0; // loads that read it
  isMadeUp = false; // no copy wrote it: its content is a stated demand's own
  home: HostHome | null = null; // the tree's node of it
  position = 0; // of its page, from the root

  constructor(band: BandPages, page: number, content: PageContent, keeper: string | null) {
    this.band = band;
    this.page = page;
    this.content = content;
    this.keeper = keeper;
    this.expected = content.a;
  }
  get name(): string {
    return `host page ${this.page} of ${this.band.name}`;
  }
}

/** All host pages, by band. @internal */
export class HostMemory {
  readonly #sizes: readonly number[]; // by band index
  readonly #held: readonly Map<number, HostPage>[]; // by band index

  constructor(bands: readonly BandPages[], config: DirectConfig) {
    this.#sizes = bands.map((band) => config.host?.[band.name] ?? 0);
    this.#held = bands.map(() => new Map<number, HostPage>());
  }

  /**
   * Takes a host page for what `content` is. One that the tree holds was evicted for it, which no answer tells: nobody
   * may need it any more.
   * @param keeper - as in `HostPage`
   */
  take(band: BandPages, page: number, content: PageContent, keeper: string | null): HostPage {
    const size = this.#sizes[band.index]!; // one a band, as below
    const taken = new HostPage(band, page, content, keeper);
    if (page < 0 || page >= size)
      fail("bad_effect", `${taken.name} is handed out, there are ${size}`, band.name);
    const before = this.#held[band.index]!.get(page);
    if (before !== undefined) {
      this.#requireIdle(before);
      this.release(before);
      this.releaseBehind(before);
    }
    this.#held[band.index]!.set(page, taken);
    return taken;
  }

  /** Gives a host page back; nothing if it is gone already. */
  release(page: HostPage): void {
    if (page.isGone) return;
    page.isGone = true;
    this.#held[page.band.index]!.delete(page.page); // one map a band
  }

  releaseAll(): void {
    for (const held of this.#held) for (const page of held.values()) this.release(page);
  }

  /** Gives back what stood behind an evicted host page: a copy goes before the one of its prefix. */
  releaseBehind({ home, position }: HostPage): void {
    for (const behind of home?.hostBehind(position) ?? []) this.release(behind);
  }

  /** Evicts a host page that an answer lists. */
  evict(band: BandPages, page: number): HostPage {
    const held = this.#held[band.index]!.get(page); // one map a band
    if (held === undefined)
      fail("bad_effect", `host page ${page} of ${band.name} is evicted and not held`, band.name);
    this.#requireIdle(held);
    this.release(held);
    return held;
  }

  #requireIdle(held: HostPage): void {
    const { keeper, isReady, locks, name, band } = held;
    if (keeper !== null)
      fail("bad_effect", `${name} is given away while ${keeper} keeps it`, band.name);
    if (!isReady) fail("bad_effect", `${name} is given away while it is being written`, band.name);
    if (locks > 0) fail("bad_effect", `${name} is given away while a load reads it`, band.name);
  }
}

/** Host pages of a list, in order; 0 is a page like any other. @internal */
export function hostPagesOf(extents: Extents): number[] {
  const pages: number[] = [];
  for (const [first, count] of extents) {
    const step = count < 0 ? -1 : 1;
    for (let at = 0; at < Math.abs(count); at++) pages.push(first + step * at);
  }
  return pages;
}

/** Host pages by band index that an answer lists. @internal */
export function hostLists(bands: readonly BandPages[], lists: PageLists): number[][] {
  for (const name of Object.keys(lists))
    if (!bands.some((band) => band.name === name)) fail("bad_effect", `there is no band ${name}`);
  return bands.map((band) => hostPagesOf(lists[band.name] ?? []));
}
