// What granted operations of domain `kv` answer. Types only.
import type { Demand, Extent, Extents, PageLists, Step } from "./values.js";

/** @public */
export interface BandGeometry {
  readonly grow: "up" | "down" | "float";
  readonly unit_bytes: number;
  readonly page_bytes: number;
  readonly pages: number; // pages on the grid, reserved ones included
  readonly first_page: number; // first usable page
}
/** @public */
export interface BootOk {
  readonly bands: Readonly<Record<string, BandGeometry>>;
  readonly sink_bytes: number;
  readonly targets?: Readonly<Record<string, number>>;
  readonly notices?: readonly string[];
}
/** What transfers that an operation ended had held back. @public */
export interface EndedTransfers {
  readonly transfers: readonly string[];
  readonly freed: PageLists;
}
/** @public */
export interface FreedOk {
  readonly freed: PageLists;
  readonly deferred?: PageLists;
  readonly ended?: EndedTransfers;
}
/** @public */
export interface TreeCounts {
  readonly new_pages: number;
  readonly duplicates: number;
  readonly rehomed: Demand;
}
/** @public */
export interface TakeOk {
  readonly pages: Readonly<Record<string, PageLists>>;
  readonly step: Step;
  readonly ended?: EndedTransfers;
}
/** `[first, count]` page spans and move counts per band, every band named. @public */
export interface PlanSpans {
  readonly spans: Readonly<Record<string, Extent>>;
  readonly moves: Readonly<Record<string, number>>;
}
/** @public */
export interface RetiredWindow {
  readonly cursor: number; // tokens
  readonly floor: number | null; // tokens
  readonly freed: Extents;
  readonly deferred?: Extents; // until the transfers that use them end
}
/** @public */
export interface FlushedBand {
  readonly moves: readonly (readonly [src: number, dst: number])[];
  readonly absorbed: number; // pages
}
/** @public */
export interface AdmitVerdict {
  readonly verdict: "admit" | "chunk" | "wait" | "abort";
  readonly tokens: number;
  readonly reason: "never_fits" | "unschedulable" | null;
}
/** An extent list per band, or per request and band. @public */
export interface PagesEpochOk {
  readonly pages: PageLists;
  readonly epoch: number;
}
/** A leak or broken conservation found by `check.idle`. @public */
export interface IdleViolation {
  readonly check: string;
  readonly band?: string;
  readonly page?: number;
  readonly slot?: number;
  readonly row?: number;
  readonly taken_by?: number; // operation that took it
  readonly detail?: string;
}
/** @public */
export type Empty = Readonly<Record<string, never>>;

/** What a granted operation answers, domain `kv`. @public */
export interface KvOk {
  readonly boot: BootOk;
  readonly "arena.resize": BootOk;
  readonly "row.alloc": { readonly rows: Readonly<Record<string, number>> };
  readonly "row.free": Empty;
  /** `slots`, the state band's name with its physical slots, `step`. */
  readonly "state.alloc": Readonly<Record<string, Extents | Step | EndedTransfers>>;
  readonly "state.free": FreedOk;
  readonly "state.copy": { readonly ended?: EndedTransfers };
  readonly "state.donate": {
    readonly slot: number | null;
    readonly replacement: number | null;
    readonly step?: Step;
    readonly ended?: EndedTransfers;
  };
  readonly "tokens.extend": TakeOk;
  readonly "tokens.decode": TakeOk;
  readonly "tokens.free": FreedOk;
  readonly "group.begin": Empty;
  readonly "group.end": FreedOk;
  readonly "window.retire": Readonly<Record<string, RetiredWindow>>;
  readonly "request.finish": FreedOk & { readonly tree?: TreeCounts };
  readonly "request.retract": FreedOk & { readonly host?: PageLists };
  readonly "request.restore": {
    readonly rows: Readonly<Record<string, number>>;
    readonly pages: PageLists;
    readonly step: Step;
    readonly ended?: EndedTransfers;
  };
  readonly "forward.launch": { readonly resets: Extents; readonly ended?: EndedTransfers };
  readonly "forward.record": Empty;
  readonly "forward.barrier": Empty;
  readonly "forward.process": { readonly released: PageLists };
  readonly "event.fire": Empty;
  readonly "chain.flush": Readonly<Record<string, FlushedBand>>;
  readonly "chain.relieve": PlanSpans & { readonly step: Step; readonly ended?: EndedTransfers };
  readonly "host.backup": { readonly host: PageLists };
  readonly "host.backup_done": Empty;
  readonly "host.load_reserve": {
    readonly pages: PageLists;
    readonly step: Step;
    readonly ended?: EndedTransfers;
  };
  readonly "host.load_bind": { readonly bound: PageLists };
  readonly "host.load_submit": { readonly pages: PageLists };
  readonly "host.load_cancel": FreedOk;
  readonly "host.load_done": FreedOk;
  readonly "host.evict": { readonly freed: PageLists; readonly nodes: number };
  readonly "net.send": PagesEpochOk;
  readonly "net.receive": PagesEpochOk & { readonly step: Step; readonly ended?: EndedTransfers };
  readonly "net.publish": PagesEpochOk & { readonly reread: boolean };
  readonly "net.stall": Empty;
  readonly "net.end": { readonly released: PageLists; readonly late: boolean };
  readonly "tree.match": {
    readonly len: number;
    readonly slots: Readonly<Record<string, number>>;
    readonly host: Readonly<Record<string, number>>;
  };
  readonly "tree.insert": TreeCounts & FreedOk;
  readonly "tree.lock": Empty;
  readonly "tree.unlock": Empty;
  readonly "tree.evict": FreedOk & { readonly nodes: number };
  readonly "admit.pass": Readonly<Record<string, AdmitVerdict>>;
  readonly "ask.plan": { readonly step: Step | "none" } & Partial<PlanSpans>;
  readonly "ask.fits": { readonly fits: boolean };
  readonly "ask.fits_after_frees": { readonly fits: boolean };
  readonly "ask.prealloc": { readonly fits: boolean };
  readonly "ask.max_new_tokens": { readonly tokens: number | null };
  readonly "ask.translate": { readonly pages: PageLists };
  readonly "ask.estimates": Readonly<
    Record<string, { readonly held: number; readonly available: number; readonly usage: number }>
  >;
  readonly "stages.install": Empty;
  readonly "stages.digest": { readonly digest: string };
  readonly "contents.discard": { readonly freed: PageLists };
  readonly "check.idle": {
    readonly violations: readonly IdleViolation[];
    readonly skipped: boolean;
  };
}
