// The page-safety harness: a modelled device of several ranks that carries out the effects of every operation on streams
// that overlap as real ones do. Each rank's queues advance by a schedule of its own, drawn from the seed; what lies
// before what follows from waits alone and is the same on all. After every operation it says which promises were broken.
import type { Effect } from "../../base/effects.js";
import { expand } from "../../base/extents.js";
import type {
  Answer,
  BootOk,
  DirectConfig,
  EndedTransfers,
  KvArgs,
  KvOperation,
} from "../../base/operations.js";
import { Prng } from "../../base/prng.js";
import { ACTOR, type Clock } from "./clocks.js";
import { HarnessForwards } from "./forwards.js";
import type { Sight, Work } from "./memory.js";
import { type HarnessFinding, HarnessRun, type HarnessTables } from "./run.js";
import { differenceOf } from "../../base/differences.js";
import { HarnessTransfers } from "./transfers.js";

export type { HarnessFinding, HarnessTables } from "./run.js";

const BARRIER_STREAM = 1999; // of a seed: which form of the barrier a run has

/** @public */
export interface HarnessOptions {
  readonly config: DirectConfig;
  readonly boot: BootOk; // the answer of operation 0
  /** The tables of rank 0 as they stand; asked after every operation. */
  readonly tables: () => HarnessTables;
  readonly seed: number; // of the completion schedules
  readonly ranks?: number; // default 2
}

/** What happened beside the answers. @public */
export interface HarnessCounts {
  waits: number; // stream waits, all ranks
  elided: number; // of them, those for work that had run already on that rank
  actions: number; // pieces of work queued
}

/** One run on the modelled device. @public */
export class Harness {
  readonly counts: HarnessCounts = { waits: 0, elided: 0, actions: 0 };
  readonly #options: HarnessOptions;
  readonly #hasReadEnd: boolean;
  #config: DirectConfig;
  #run: HarnessRun;
  #forwards: HarnessForwards;
  #transfers: HarnessTransfers;
  #isStaged = false;
  #operation = 0;
  #waitedOn: string | null = null; // unfinished work that the operation under way has waited for on the device
  #later: Effect[] = []; // copies and transfers into pages that the operation under way binds

  constructor(options: HarnessOptions) {
    this.#options = options;
    this.#config = options.config;
    // Most backends declare where their shared reads end.
    this.#hasReadEnd = new Prng(options.seed, BARRIER_STREAM).chance(3, 4);
    this.#run = this.#open(options.boot);
    this.#forwards = this.#makeForwards();
    this.#transfers = new HarnessTransfers(this.#run);
  }

  /** Whether barriers wait the end of a forward's shared reads alone. */
  get hasReadEnd(): boolean {
    return this.#hasReadEnd;
  }

  /** Follows the next operation (`boot` is number 0 and follows nothing). @param answers - one a rank, digests included */
  apply(operation: KvOperation, answers: readonly Answer[]): readonly HarnessFinding[] {
    const run = this.#run;
    run.operation = this.#operation++;
    this.#compareRanks(answers);
    const answer = answers[0];
    if (answer?.ok !== undefined && operation.op !== "boot") {
      this.#run.tables = this.#options.tables();
      if (operation.op === "arena.resize") this.#resize(operation.args, answer.ok as BootOk);
      else this.#follow(operation, answer);
    }
    for (const rank of this.#run.ranks) rank.pass();
    this.#verify();
    return this.#run.found.splice(0);
  }

  /** Lets everything run that was queued and verifies every live page. */
  end(): readonly HarnessFinding[] {
    for (const rank of this.#run.ranks) rank.drain();
    this.#verify();
    this.counts.actions += this.#run.actors.queues.reduce((sum, queue) => sum + queue.length, 0);
    return this.#run.found.splice(0);
  }

  #open(boot: BootOk): HarnessRun {
    const { tables, seed, ranks = 2 } = this.#options;
    return new HarnessRun(this.#config, boot, tables(), seed, ranks);
  }
  #makeForwards(): HarnessForwards {
    const isApart = (): boolean => this.#config.overlap === true || this.#isStaged;
    return new HarnessForwards(this.#run, isApart, this.#hasReadEnd);
  }

  /** Another arena; nothing is live, and whatever still ran is over. */
  #resize(args: KvArgs["arena.resize"], boot: BootOk): void {
    for (const rank of this.#run.ranks) rank.drain();
    this.counts.actions += this.#run.actors.queues.reduce((sum, queue) => sum + queue.length, 0);
    this.#config = { ...this.#config, arena_bytes: args.arena_bytes };
    const { found, operation } = this.#run;
    this.#run = this.#open(boot);
    this.#run.found.push(...found);
    this.#run.operation = operation;
    this.#forwards = this.#makeForwards();
    this.#transfers = new HarnessTransfers(this.#run);
  }

  #compareRanks(answers: readonly Answer[]): void {
    for (let rank = 1; rank < answers.length; rank++) {
      const other = differenceOf(answers[0], answers[rank]);
      if (other === null) continue;
      const message = `rank ${rank} answers otherwise than rank 0${other === "" ? "" : ` in ${other}`}`;
      const actors = ["rank 0", `rank ${rank}`];
      this.#run.found.push({ check: "rank_divergence", message, actors });
      return;
    }
  }

  #follow(operation: KvOperation, answer: Answer): void {
    this.#waitedOn = null;
    this.#before(operation);
    for (const effect of answer.fx ?? []) this.#execute(effect, operation);
    this.#bind(operation);
    for (const effect of this.#later.splice(0)) this.#startFilling(effect, operation, answer);
    this.#after(operation, answer);
  }

  /** What all ranks have agreed on before the operation was issued. */
  #before(operation: KvOperation): void {
    switch (operation.op) {
      case "forward.process":
        this.#forwards.process(operation.args.step);
        return;
      case "host.backup_done":
      case "host.load_done":
        this.#transfers.endCopy(operation.args.copy);
        return;
      case "net.end":
        this.#transfers.beforeEnd(operation.args);
        return;
      case "net.send":
        this.#transfers.open(operation.args, true);
        return;
      default:
        return;
    }
  }

  #after(operation: KvOperation, answer: Answer): void {
    if (operation.op === "net.receive") this.#transfers.open(operation.args, false);
    if (operation.op === "stages.install") this.#isStaged = true;
    if (operation.op === "row.alloc" || operation.op === "request.restore") {
      const { rows } = answer.ok as { readonly rows: Readonly<Record<string, number>> }; // both answer rows
      if (operation.op === "row.alloc") this.#forwards.handOut(Object.values(rows));
      else for (const row of Object.values(rows)) this.#forwards.writeWhole(row);
    }
    const { ended } = answer.ok as { readonly ended?: EndedTransfers }; // of those that may have it
    for (const name of ended?.transfers ?? []) this.#transfers.end(name);
  }

  #execute(effect: Effect, operation: KvOperation): void {
    const isLaunch = operation.op === "forward.launch";
    switch (effect[0]) {
      case "hostread":
        this.#hostRead(effect[1]);
        return;
      case "wait":
        this.#wait(effect[1], operation);
        return;
      case "hostwait":
        this.#transfers.end(effect[1]);
        return;
      case "move":
        this.#copyPages(effect[1], effect[2], true);
        return;
      case "copy":
        this.#copyPages(effect[1], effect[2], false);
        return;
      case "zero":
        this.#zero(effect[1], effect[2]);
        return;
      case "reset":
        this.#forwards.reset(expand(effect[1]), isLaunch);
        return;
      case "forward":
        if (isLaunch)
          this.#forwards.launch(
            effect[1],
            operation.args.batch,
            operation.args.mode,
            this.#isStaged,
          );
        return;
      case "event":
        if (operation.op === "forward.record")
          this.#forwards.record(effect[1], operation.args.writes);
        return;
      case "barrier":
        this.#forwards.barrier(effect[1]);
        return;
      case "hostcopy":
        if (effect[2] === "out") this.#transfers.startCopy(effect[1], "out", effect[3]);
        else this.#later.push(effect);
        return;
      case "net":
        this.#later.push(effect);
    }
  }

  /** The host reads what the device holds; behind a wait it would be parked until that is over. */
  #hostRead(what: string): void {
    const { found, actors } = this.#run;
    if (this.#waitedOn !== null) {
      const message = `the host reads for ${what} behind a wait for ${this.#waitedOn}, which is not over: it is parked until then`;
      found.push({ check: "host_read_after_wait", message, actors: ["host", this.#waitedOn] });
    }
    // A publication needs what it reads; a recovery may find that the host has it already.
    if (what === "publish") this.#run.hostSees(actors.snapshot(ACTOR.schedule));
  }

  #wait(signal: string, operation: KvOperation): void {
    const end: Clock | null = this.#forwards.endOf(signal) ?? this.#transfers.copyEnd(signal);
    if (end === null) return;
    for (const rank of this.#run.ranks) {
      this.counts.waits += 1;
      if (rank.covers(end)) this.counts.elided += 1;
      else this.#waitedOn ??= signal;
    }
    this.#run.actors.join(ACTOR.schedule, end);
    if (operation.op === "net.publish") this.#transfers.waitBeside(end);
  }

  #copyPages(name: string, pairs: readonly (readonly [number, number])[], isMove: boolean): void {
    const run = this.#run;
    const book = run.book(name);
    if (book === undefined) return;
    const what = isMove ? `move in ${name}` : `state copy in ${name}`;
    const early = this.#forwards.beforeCopy(what);
    if (early !== null) run.found.push({ ...early, band: name });
    const isOnGrid = (page: number): boolean => page > 0 && page < book.band.pages;
    const inside = pairs.filter((pair) => pair.every(isOnGrid));
    const { index } = book.band;
    const work = run.queue(ACTOR.schedule, isMove ? "move" : "state copy", {
      moves: inside.map(([source, target]) => [index, source, target] as const),
    });
    run.touch(work);
    for (const [source, target] of inside) {
      if (!isMove) {
        book.hold(book.holders[target]!, book.expectedAt(source), work); // on the grid
        continue;
      }
      const id = book.move(source, target, work);
      if (id > 0) run.writesCell(work, run.space.idCell(index, id));
    }
  }

  #zero(name: string, extents: Parameters<typeof expand>[0]): void {
    const run = this.#run;
    const book = run.book(name);
    if (book === undefined) return;
    const pages = expand(extents).filter((page) => page > 0 && page < book.band.pages);
    const { index } = book.band;
    const writes = pages.map((page) => ({ band: index, page, stamp: 0, isWhole: true }));
    const work = run.queue(ACTOR.schedule, "zero", { writes });
    run.touch(work);
    for (const page of pages) book.zeroed[page] = work;
  }

  /** The schedule stream writes the entries of ids and the cells of rows that the operation changed. */
  #bind(operation: KvOperation): void {
    const run = this.#run;
    let work: Work | null = null;
    const writer = (): Work => (work ??= run.queue(ACTOR.schedule, operation.op));
    for (const book of run.books)
      for (const id of book.follow(run.tables.places(book.band.index), run.operation))
        run.writesCell(writer(), run.space.idCell(book.band.index, id));
    for (const req of requestsOf(operation)) {
      const row = run.tables.row(req);
      if (row === undefined) continue;
      const first = row.row * run.space.rowPages;
      for (let page = 0; page < Math.min(row.pages.length, run.space.rowPages); page++) {
        const id = row.pages[page]!; // in range
        if (id === 0 || run.rowIds[first + page] === id) continue;
        run.rowIds[first + page] = id;
        run.writesCell(writer(), run.space.rowCell(row.row, page));
      }
    }
  }

  /** Copies and transfers start once the pages that they fill have their ids. */
  #startFilling(effect: Effect, operation: KvOperation, answer: Answer): void {
    if (effect[0] === "hostcopy") this.#transfers.startCopy(effect[1], "in", effect[3]);
    if (effect[0] !== "net") return;
    const isBeside =
      operation.op === "net.publish" &&
      operation.args.deferred === true &&
      !(answer.ok as { readonly reread: boolean }).reread; // what net.publish answers
    this.#transfers.start(effect[1], effect[3], isBeside && effect[2] === "receive");
  }

  /** Every live page whose writes have all run holds what they wrote. */
  #verify(): void {
    const run = this.#run;
    for (const rank of run.ranks) {
      for (const sight of rank.sights.splice(0)) run.found.push(this.#sightFinding(sight));
      for (const book of run.books) {
        const { places, expected, touched, band } = book;
        for (let id = 1; id < places.length; id++) {
          if (places[id] === 0 || expected[id]! < 0) continue;
          const work = touched[id] ?? null;
          if (work !== null && !rank.hasRun(work.actor, work.time)) continue;
          const cell = rank.firstOther(band.index, places[id]!, expected[id]!);
          if (cell < 0) continue;
          const page = places[id]!;
          const wrote = rank.writerOf(cell);
          const by = work === null ? "what it held" : `what ${nameOf(work)} wrote`;
          const message = `${band.name} page ${page} (id ${id}) lost ${by} on rank ${rank.rank}: its bytes are those of ${nameOf(wrote)}`;
          run.found.push(this.#lost(message, wrote, cell, book.band));
          expected[id] = -1; // told once
        }
      }
    }
  }

  #sightFinding({ check, reader, reading, cell }: Sight): HarnessFinding {
    const { space, ranks } = this.#run;
    const band = space.bands[reading.band]!; // it was read there
    const wrote = ranks[0]!.writerOf(cell);
    const what = `${nameOf(reader)} reads ${band.name} page ${reading.page}`;
    const message =
      check === "lost_write"
        ? `${what} and finds other bytes than were there for it: those of ${nameOf(wrote)}`
        : `${what}, where bytes of a state are left by ${nameOf(wrote)}`;
    return { ...this.#lost(message, wrote, cell, band, reader), check };
  }

  #lost(
    message: string,
    wrote: Work | null,
    cell: number,
    band: HarnessRun["space"]["bands"][number],
    reader?: Work,
  ): HarnessFinding {
    const { bytes } = this.#run.space.placeOf(cell, band);
    const actors = [...(reader === undefined ? [] : [nameOf(reader)]), nameOf(wrote)];
    return { check: "lost_write", message, actors, bytes, band: band.name };
  }
}

function nameOf(work: Work | null): string {
  return work === null ? "nobody" : `${work.name} of operation ${work.operation}`;
}

/** The requests whose rows an operation may write. */
function requestsOf(operation: KvOperation): readonly string[] {
  const { args } = operation as { readonly args: RowArgs };
  const batch = args.batch?.map(({ req }) => req) ?? [];
  return args.req === undefined ? batch : [args.req, ...batch];
}
interface RowArgs {
  readonly req?: string;
  readonly batch?: readonly { readonly req: string }[];
}
