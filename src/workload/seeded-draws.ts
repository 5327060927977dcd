// Draws that legal and illegal operations share: how much to ask for, of whom, which part of a row.
import type { Demand, KvOperation, KvOperationName } from "../base/operations.js";
import type { Prng } from "../base/prng.js";
import { NameSource } from "./names.js";
import { KeySource } from "./seeded-keys.js";
import type { SeededModel } from "./seeded-model.js";
import type { WeightProfile } from "./seeded-profiles.js";
import type { ModelRequest } from "./seeded-rows.js";

/** Builds a legal operation of one kind, or null where the run has nothing to use it on. @internal */
export type Builder = (draws: SeededDraws) => KvOperation | null;
/** Builders of one group of kinds. @internal */
export type Builders = Readonly<Partial<Record<KvOperationName, Builder>>>;

/** A run of pages of one row, half open. @internal */
export interface PageRun {
  readonly from: number;
  readonly to: number;
}

/** @internal */
export class SeededDraws {
  readonly model: SeededModel;
  readonly prng: Prng;
  readonly profile: WeightProfile;
  readonly keys: KeySource;
  mayFail = true; // whether enough operations are left for what a failure makes necessary
  readonly copyNames = new NameSource("c");
  readonly loadNames = new NameSource("l");
  readonly transferNames = new NameSource("t");
  readonly writerNames = new NameSource("w");
  readonly #requestNames = new NameSource("r");
  readonly #forwardNames = new NameSource("f");

  constructor(model: SeededModel, prng: Prng, profile: WeightProfile) {
    this.model = model;
    this.prng = prng;
    this.profile = profile;
    this.keys = new KeySource(model.pageSize, model.config.row_tokens);
  }

  /** Names for requests to be opened: some of them were open before. */
  requestNames(count: number): string[] {
    const names: string[] = [];
    const closed = this.model.closedNames;
    for (let i = 0; i < count; i++) {
      const reused = closed.length > 0 && this.prng.chance(1, 3) ? this.prng.pick(closed) : null;
      names.push(reused === null || names.includes(reused) ? this.#requestNames.fresh() : reused);
    }
    return names;
  }
  forwardName(): string {
    return this.#forwardNames.fresh();
  }

  /** Any open request that passes, undefined where none does. */
  request(passes: (request: ModelRequest) => boolean = () => true): ModelRequest | undefined {
    const list = [...this.model.requests.values()].filter(passes);
    return list.length === 0 ? undefined : this.prng.pick(list);
  }

  /** Any open request that passes and whose row nothing outside needs as it is: no load before its copy, no transfer
   * before its publication. */
  loose(passes: (request: ModelRequest) => boolean = () => true): ModelRequest | undefined {
    const { host, net } = this.model;
    return this.request((each) => passes(each) && !host.reserves(each) && !net.holds(each.name));
  }

  /** One to `most` different open requests that pass, in the order in which they were opened. */
  requests(most: number, passes: (request: ModelRequest) => boolean): ModelRequest[] {
    const list = [...this.model.requests.values()].filter(passes);
    if (list.length === 0) return [];
    let wanted = this.prng.between(1, Math.min(most, list.length));
    const chosen: ModelRequest[] = [];
    for (const [index, request] of list.entries()) {
      if (this.prng.chance(wanted, list.length - index)) {
        chosen.push(request);
        wanted -= 1;
      }
      if (wanted === 0) break;
    }
    return chosen;
  }

  /** Whether the run's profile uses tree, host, transfers and checkpoints, as far as its configuration has them. */
  get isWhole(): boolean {
    return this.profile.features !== undefined;
  }

  /** How many units of `bytes` each to ask for: few, nearly all that are free, or more than that. At least 1. */
  amount(bytes: number): number {
    const free = Math.floor(this.model.freeBytes / bytes);
    switch (this.prng.weighted(this.profile.appetite)) {
      case 0:
        return this.prng.between(1, Math.max(1, Math.floor(free / 6)));
      case 1:
        return Math.max(1, this.prng.between(Math.floor((free * 2) / 3), free));
      default:
        return free + this.prng.between(1, Math.max(1, Math.floor(free / 3)));
    }
  }

  /** A demand over some bands, near what is free in bytes; never without a unit. */
  demand(): Demand {
    const bands = [...this.model.pageBytes.keys()];
    const chosen = bands.filter(() => this.prng.chance(2, 3));
    if (chosen.length === 0) chosen.push(this.prng.pick(bands));
    let bytes = 0;
    for (const band of chosen) bytes += this.model.bytesOf(band);
    const units = this.amount(bytes);
    const demand: Record<string, number> = {};
    for (const band of chosen) {
      demand[band] = Math.max(1, Math.floor((units * this.prng.between(50, 120)) / 100));
    }
    return demand;
  }

  /** A length for `pages` more pages: often a token short of a full page, so that decoding soon needs the next. */
  lengthAfter(request: ModelRequest, pages: number): number {
    const { pageSize } = this.model;
    const whole = (this.model.pagesOf(request.allocated) + pages) * pageSize;
    const short = this.prng.chance(1, 2)
      ? this.prng.below(Math.min(3, pageSize))
      : this.prng.below(pageSize);
    return Math.max(request.allocated + 1, whole - short);
  }

  /** A maximal run of pages below `end` for which `has` holds, cut at random; undefined where there is none. */
  pageRun(end: number, has: (page: number) => boolean): PageRun | undefined {
    const pages: number[] = [];
    for (let page = 0; page < end; page++) if (has(page)) pages.push(page);
    if (pages.length === 0) return undefined;
    const from = this.prng.pick(pages);
    let to = from + 1;
    while (to < end && has(to) && this.prng.chance(3, 4)) to += 1;
    return { from, to };
  }
}

/** Pages of the row below the one that the next token goes to. @internal */
export function wholePages(request: ModelRequest, pageSize: number): number {
  return Math.max(0, Math.ceil(request.allocated / pageSize) - 1);
}
/** Whether the page is bound in some window band. @internal */
export function isInAnyWindow(request: ModelRequest, page: number): boolean {
  return request.windows.some((pages) => pages[page] === true);
}
