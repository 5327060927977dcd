// What a trace tells of the prefix tree, the host cache and network transfers: counted from the lines alone, in memory
// that follows what is open.
import type { OpLine } from "../trace/lines.js";

/** @public */
export interface MemoryStats {
  readonly tree: {
    readonly matches: number; // that a request's row took
    readonly hits: number; // of them with a cached prefix
    readonly hitTokens: number;
    readonly inserts: number; // finishes that inserted among them
    readonly evictions: number; // operations
    readonly evictedNodes: number;
    readonly checkpoints: number; // states that went to a node while their request ran
    readonly checkpointStalls: number; // that found no slot for the one they would give
  };
  readonly host: {
    readonly backups: number; // of nodes
    readonly loads: number; // submitted
    readonly cancelledLoads: number;
    readonly restores: number;
    readonly failedCopies: number;
    readonly evictions: number; // operations on the host
  };
  readonly retractionsWithBackup: number;
  readonly hostWaits: number; // effects
  readonly transfers: TransferStats;
}

/** Transfers by how they ended: one side of each, a pair's transfer counts in both of its runs. @public */
export interface TransferStats {
  readonly sends: number;
  readonly receives: number;
  readonly ok: number;
  readonly failed: number;
  readonly timeout: number;
  readonly waited: number; // a host wait ended it
  readonly unpublished: number; // its request closed before anybody was told of its places
  readonly late: number; // ends of writers of transfers that were over
}

interface OpenTransfer {
  readonly isSend: boolean;
  readonly writers: Set<string>; // that have yet to end
  isPublished: boolean;
  hasFailed: boolean;
}

/** Follows the runs of a trace. @internal */
export class MemoryCounter {
  readonly #tree = {
    matches: 0,
    hits: 0,
    hitTokens: 0,
    inserts: 0,
    evictions: 0,
    evictedNodes: 0,
    checkpoints: 0,
    checkpointStalls: 0,
  };
  readonly #host = {
    backups: 0,
    loads: 0,
    cancelledLoads: 0,
    restores: 0,
    failedCopies: 0,
    evictions: 0,
  };
  readonly #transfers = {
    sends: 0,
    receives: 0,
    ok: 0,
    failed: 0,
    timeout: 0,
    waited: 0,
    unpublished: 0,
    late: 0,
  };
  #retractionsWithBackup = 0;
  #hostWaits = 0;
  #open = new Map<string, OpenTransfer>();

  /** Another run begins. */
  run(): void {
    this.#open = new Map();
  }

  operation(line: OpLine): void {
    if (line.op === "state.donate" && line.err?.code === "checkpoint_stalled")
      this.#tree.checkpointStalls += 1;
    if (line.ok === undefined) return;
    for (const [kind] of line.fx ?? []) if (kind === "hostwait") this.#hostWaits += 1;
    this.#granted(line.op, line.args as Fields, line.ok as Fields);
    const { ended } = line.ok as { readonly ended?: { readonly transfers: readonly string[] } };
    for (const name of ended?.transfers ?? []) this.#over(name, null);
  }

  result(): MemoryStats {
    return {
      tree: this.#tree,
      host: this.#host,
      retractionsWithBackup: this.#retractionsWithBackup,
      hostWaits: this.#hostWaits,
      transfers: this.#transfers,
    };
  }

  #granted(op: string, args: Fields, ok: Fields): void {
    if (op.startsWith("tree.") || op.startsWith("state.")) this.#treeOperation(op, args, ok);
    else if (op.startsWith("host.")) this.#hostOperation(op, args);
    else if (op.startsWith("net.")) this.#netOperation(op, args, ok);
    else if (op === "request.finish" && ok["tree"] !== undefined) this.#tree.inserts += 1;
    else if (op === "request.restore") this.#host.restores += 1;
    else if (op === "request.retract" && args["backup"] !== undefined)
      this.#retractionsWithBackup += 1;
  }

  #treeOperation(op: string, args: Fields, ok: Fields): void {
    const tree = this.#tree;
    if (op === "tree.insert") tree.inserts += 1;
    else if (op === "tree.evict") {
      tree.evictions += 1;
      tree.evictedNodes += ok["nodes"] as number;
    } else if (op === "state.donate") tree.checkpoints += ok["slot"] === null ? 0 : 1;
    else if (op === "tree.match" && args["req"] !== undefined) {
      const len = ok["len"] as number;
      tree.matches += 1;
      tree.hits += len > 0 ? 1 : 0;
      tree.hitTokens += len;
    }
  }

  #hostOperation(op: string, args: Fields): void {
    const host = this.#host;
    if (op === "host.backup") host.backups += 1;
    else if (op === "host.load_submit") host.loads += 1;
    else if (op === "host.load_cancel") host.cancelledLoads += 1;
    else if (op === "host.evict") host.evictions += 1;
    if (args["outcome"] === "failed") host.failedCopies += 1;
  }

  #netOperation(op: string, args: Fields, ok: Fields): void {
    const name = args["transfer"] as string;
    if (op === "net.send" || op === "net.receive") {
      const isSend = op === "net.send";
      this.#transfers[isSend ? "sends" : "receives"] += 1;
      const given = (args["writers"] ?? []) as readonly string[];
      const writers = new Set(given.length === 0 ? [""] : given);
      const isPublished = isSend && args["held"] !== true;
      this.#open.set(name, { isSend, writers, isPublished, hasFailed: false });
    } else if (op === "net.publish") {
      const transfer = this.#open.get(name);
      if (transfer !== undefined) transfer.isPublished = true;
    } else if (op === "net.end") {
      if (ok["late"] === true) this.#transfers.late += 1;
      else this.#end(name, (args["writer"] ?? "") as string, args["outcome"] as string);
    }
  }

  #end(name: string, writer: string, outcome: string): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    transfer.writers.delete(writer);
    if (outcome === "failed") transfer.hasFailed = true;
    if (outcome === "timeout") this.#over(name, "timeout");
    else if (transfer.writers.size === 0 || (transfer.hasFailed && transfer.isSend))
      this.#over(name, transfer.hasFailed ? "failed" : "ok");
  }

  /** @param outcome - null: an operation ended it by itself */
  #over(name: string, outcome: "ok" | "failed" | "timeout" | null): void {
    const transfer = this.#open.get(name);
    if (transfer === undefined) return;
    this.#open.delete(name);
    this.#transfers[outcome ?? (transfer.isPublished ? "waited" : "unpublished")] += 1;
  }
}

type Fields = Readonly<Record<string, unknown>>;
