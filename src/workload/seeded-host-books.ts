// What the seeded workload knows of host copies: loads by their phase, copies under way, retracted requests that the host
// keeps.
import type { Answer, Demand, Operation, PageLists, StatePurpose } from "../base/operations.js";
import { expand } from "../base/extents.js";
import { addSlots, dropLoad, extendRow, type LoadedRow, type ModelRequest } from "./seeded-rows.js";
import type { TreeBooks, TreePlace } from "./seeded-tree-books.js";

/** What the host's books need of the model that they are part of. @internal */
export interface HostOwner {
  readonly requests: ReadonlyMap<string, ModelRequest>;
  readonly windows: readonly { readonly name: string; readonly window: number }[];
  readonly state: string | null;
  readonly tree: TreeBooks;
  open(name: string): ModelRequest;
}

/** A load that is not submitted. @internal */
export interface ModelLoad {
  readonly name: string;
  readonly place: TreePlace | null; // null: for a demand
  readonly demand: Demand;
  isBound: boolean;
  request: ModelRequest | null; // whose row it was bound to
  row: LoadedRow; // how it changed that row
}

const UNTOUCHED: LoadedRow = { from: 0, before: [], set: [] };
/** A retracted request as the host keeps it. @internal */
export interface KeptRequest {
  readonly copy: string;
  readonly row: ModelRequest; // as it was
}
/** A copy whose end has yet to come. @internal */
export type ModelCopy =
  | { readonly kind: "backup"; readonly name: string; readonly place: TreePlace }
  | { readonly kind: "retract"; readonly name: string; readonly kept: KeptRequest }
  | { readonly kind: "load"; readonly name: string; readonly load: ModelLoad }
  | {
      readonly kind: "restore";
      readonly name: string;
      readonly load: ModelLoad;
      readonly kept: KeptRequest;
    };

/** @internal */
export class HostBooks {
  readonly #model: HostOwner;
  readonly loads = new Map<string, ModelLoad>();
  readonly copies = new Map<string, ModelCopy>();
  readonly kept: KeptRequest[] = []; // copied to the host whole
  isUsed = false; // whether the host may hold anything that was not discarded
  backedUp: TreePlace | null = null; // the path that was copied to the host last
  readonly doneCopies: string[] = []; // ended
  readonly doneLoads: string[] = []; // submitted or cancelled

  constructor(model: HostOwner) {
    this.#model = model;
  }

  /** Whether a load that is not submitted holds pages of the row. */
  reserves(request: ModelRequest): boolean {
    for (const load of this.loads.values()) if (load.request === request) return true;
    return false;
  }

  /** Whether a copy into the row is under way: it may fail and take the pages with it. */
  isLoading(request: ModelRequest): boolean {
    for (const copy of this.copies.values())
      if ("load" in copy && copy.load.request === request) return true;
    return false;
  }

  learn(operation: Operation, answer: Answer): void {
    switch (operation.op) {
      case "host.backup": {
        const { copy, key, len } = operation.args;
        this.#start({ kind: "backup", name: copy, place: { key, len } });
        break;
      }
      case "request.retract": {
        const { req, backup } = operation.args;
        const row = this.#model.requests.get(req);
        if (backup === undefined || row === undefined) break;
        this.#start({ kind: "retract", name: backup, kept: { copy: backup, row } });
        break;
      }
      case "host.backup_done": {
        const copy = this.#end(operation.args.copy);
        if (operation.args.outcome === "failed") break;
        if (copy?.kind === "retract") this.kept.push(copy.kept);
        if (copy?.kind === "backup") this.backedUp = copy.place;
        break;
      }
      case "request.restore":
        this.#restore(operation.args, answer);
        break;
      case "contents.discard":
        this.doneCopies.push(...this.kept.splice(0).map(({ copy }) => copy));
        this.isUsed = false;
        break;
      default:
        this.#learnLoad(operation);
    }
  }

  #learnLoad(operation: Operation): void {
    switch (operation.op) {
      case "host.load_reserve": {
        const { load: name, key, len, demand } = operation.args;
        const place = key === undefined || len === undefined ? null : { key, len };
        const fresh = { isBound: false, request: null, row: UNTOUCHED };
        this.loads.set(name, { name, place, demand: demand ?? {}, ...fresh });
        break;
      }
      case "host.load_bind":
        this.#bind(operation.args.load, operation.args.req);
        break;
      case "host.load_submit": {
        const load = this.#closeLoad(operation.args.load);
        if (load !== undefined) this.#start({ kind: "load", name: operation.args.copy, load });
        break;
      }
      case "host.load_cancel": {
        const load = this.#closeLoad(operation.args.load);
        if (load !== undefined) this.#giveUp(load);
        break;
      }
      case "host.load_done": {
        const copy = this.#end(operation.args.copy);
        if (copy?.kind !== "load" && copy?.kind !== "restore") break;
        this.#loaded(copy, operation.args.outcome === "ok");
        break;
      }
      default:
    }
  }

  #loaded(copy: Extract<ModelCopy, { readonly load: ModelLoad }>, isLoaded: boolean): void {
    const { place } = copy.load;
    if (isLoaded && place !== null) this.#model.tree.note(place.key, place.len);
    if (isLoaded) return;
    this.#giveUp(copy.load);
    if (copy.kind === "restore") this.kept.push(copy.kept);
  }

  #start(copy: ModelCopy): void {
    this.isUsed = true;
    this.copies.set(copy.name, copy);
  }
  #end(name: string): ModelCopy | undefined {
    const copy = this.copies.get(name);
    if (this.copies.delete(name)) this.doneCopies.push(name);
    return copy;
  }
  #closeLoad(name: string): ModelLoad | undefined {
    const load = this.loads.get(name);
    if (this.loads.delete(name)) this.doneLoads.push(name);
    return load;
  }

  /** The row takes the load's pages behind its own; windows go to the last ones. */
  #bind(name: string, req: string | undefined): void {
    const load = this.loads.get(name);
    if (load === undefined) return;
    load.isBound = true;
    const request = req === undefined ? undefined : this.#model.requests.get(req);
    if (request === undefined) return;
    load.request = request;
    const from = request.allocated;
    const before = [...request.cursors];
    const first = request.full.length;
    const pages = load.demand["full"] ?? 0;
    extendRow(request, from + pages * request.pageSize, undefined);
    for (const [index, { name: band }] of this.#model.windows.entries()) {
      const windows = load.demand[band] ?? 0;
      for (let page = first; page < first + pages - windows; page++)
        request.windows[index]![page] = false; // one list a window
      if (windows < pages) request.cursors[index] = (first + pages - windows) * request.pageSize;
    }
    for (let page = first; page < first + pages; page++) request.loaded.set(page, name);
    load.row = { from, before, set: [...request.cursors] };
    this.#addSlots(request, load);
  }

  #addSlots(request: ModelRequest, load: ModelLoad): void {
    const slots = this.#model.state === null ? 0 : (load.demand[this.#model.state] ?? 0);
    if (slots === 0) return;
    addSlots(request, "main" satisfies StatePurpose, slots);
    request.loadedSlots.set(load.name, slots);
  }

  /** A load that is cancelled or failed leaves its row, if that is still open. */
  #giveUp({ request, name, row }: ModelLoad): void {
    if (request !== null && this.#model.requests.get(request.name) === request)
      dropLoad(request, name, row);
  }

  #restore({ req, copy }: { readonly req: string; readonly copy: string }, answer: Answer): void {
    const index = this.kept.findIndex((each) => each.copy === copy);
    const [kept] = index < 0 ? [] : this.kept.splice(index, 1);
    if (kept === undefined) return;
    const request = this.#model.open(req);
    const { row } = kept;
    // what a granted restore answers
    const { pages } = answer.ok as { readonly pages: PageLists };
    const positions = [...row.full.keys()].filter((page) => row.full[page] === true);
    request.key = row.key;
    request.allocated = row.allocated;
    for (let page = 0; page < row.full.length; page++) {
      request.full[page] = row.full[page] === true;
      for (const list of request.windows) list[page] = false;
      if (request.full[page]) request.loaded.set(page, copy);
    }
    for (const [window, { name }] of this.#model.windows.entries()) {
      request.cursors[window] = row.cursors[window] ?? 0;
      for (const [place, id] of expand(pages[name] ?? []).entries()) {
        const page = positions[place];
        if (page !== undefined && id > 0) request.windows[window]![page] = true; // one list a window
      }
    }
    const slots = row.slots.get("main") ?? 0;
    const { state } = this.#model;
    const demand = state === null ? {} : { [state]: slots };
    const before = request.cursors.map(() => 0);
    const change = { from: 0, before, set: [...request.cursors] };
    const load = { name: copy, place: null, demand, isBound: true, request, row: change };
    this.#addSlots(request, load);
    this.#start({ kind: "restore", name: copy, load, kept });
  }
}
