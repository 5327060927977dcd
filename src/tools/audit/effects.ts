// The effects of one granted operation, in order: each is checked against what is known, then believed.
import { expand } from "../../base/extents.js";
import type { Effect, MovePair } from "../../base/effects.js";
import type {
  Extents,
  KvOperation,
  KvOperationName,
  PageLists,
  Step,
} from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import type { Books } from "./books.js";
import { checkFresh, checkLive, markAllReads } from "./hazards.js";
import { isStillRead } from "./room.js";
import { OrderCheck } from "./order-check.js";
import { revealSome } from "./unplaced.js";
import type { Use } from "./uses.js";

/** What the effects of an operation showed, for the handler of its answer. @internal */
export class Shown {
  readonly moves: { readonly band: BandBook; readonly pairs: readonly MovePair[] }[] = [];
  readonly zeroed: Map<BandBook, number[]> = new Map();
  readonly copies: { readonly band: BandBook; readonly src: number; readonly dst: number }[] = [];
  readonly hostCopies: {
    readonly name: string;
    readonly isIn: boolean;
    readonly pages: PageLists;
  }[] = [];
  readonly nets: { readonly name: string; readonly isSend: boolean; readonly pages: PageLists }[] =
    [];
  readonly resets: number[] = [];
  readonly steps: { readonly kind: "forward" | "event" | "barrier"; readonly step: string }[] = [];
  readonly hostReads: string[] = [];
  hasHostWait = false;

  movesIn(band: BandBook): number {
    let count = 0;
    for (const move of this.moves) if (move.band === band) count += move.pairs.length;
    return count;
  }
}

/** Checks and follows the effects of a granted operation. @internal */
export function followEffects(
  books: Books,
  operation: KvOperation,
  effects: readonly Effect[],
): Shown {
  const shown = new Shown();
  if (effects.length === 0) return shown;
  books.sawEffects();
  const order = new OrderCheck(books, operation.op);
  for (const effect of effects) {
    order.next(effect);
    follow(books, effect, shown);
  }
  return shown;
}

function follow(books: Books, effect: Effect, shown: Shown): void {
  switch (effect[0]) {
    case "hostread":
      shown.hostReads.push(effect[1]);
      if (effect[1] === "recovery") settleAll(books);
      return;
    case "wait":
      wait(books, effect[1]);
      return;
    case "hostwait":
      shown.hasHostWait = true;
      checkRecovered(books, effect[1], shown);
      hostWait(books, effect[1]);
      return;
    case "move":
      move(books, effect[1], effect[2], shown);
      return;
    case "copy": {
      const band = bandOf(books, effect[1]);
      for (const [src, dst] of band === null ? [] : effect[2])
        shown.copies.push({ band: band!, src, dst });
      return;
    }
    case "zero":
      zero(books, effect[1], effect[2], shown);
      return;
    case "reset":
      shown.resets.push(...expand(effect[1]));
      return;
    case "forward":
    case "event":
    case "barrier":
      shown.steps.push({ kind: effect[0], step: effect[1] });
      return;
    case "hostcopy":
      shown.hostCopies.push({ name: effect[1], isIn: effect[2] === "in", pages: effect[3] });
      return;
    case "net":
      shown.nets.push({ name: effect[1], isSend: effect[2] === "send", pages: effect[3] });
      return;
  }
}

function bandOf(books: Books, name: string): BandBook | null {
  const band = books.bandNamed(name);
  if (band === undefined)
    books.report("effect.stray", `an effect names ${name}, which is no band`, { component: name });
  return band ?? null;
}

// An urgent recovery settles whatever pends.
function settleAll(books: Books): void {
  for (const band of books.bands) for (const batch of band.batches) batch.isTouched = true;
}

function wait(books: Books, signal: string): void {
  if (books.op === "chain.flush") {
    const running = books.uses.unretired().find(({ name }) => name === signal);
    if (running !== undefined)
      books.report("wait.flush", `a flush waits ${signal}, which is running`, { actors: [signal] });
  }
  if (!books.uses.wait(signal))
    books.report(
      "wait.signal",
      `waits ${signal}, which is neither a recorded forward nor an open copy`,
      { actors: [signal] },
    );
}

const TAKES: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "chain.relieve",
  "tokens.extend",
  "tokens.decode",
  "state.alloc",
  "host.load_reserve",
  "request.restore",
  "net.receive",
]);

// In place a take keeps out of bytes that a transfer uses; only a relief may wait for one, when nothing else makes room.
function checkRecovered(books: Books, name: string, { hostReads }: Shown): void {
  if (!TAKES.has(books.op) || hostReads.includes("recovery")) return;
  books.report("take.step", `the host waits ${name}, and nothing was recovered first`, {
    actors: [name],
    component: "net",
  });
}

function hostWait(books: Books, name: string): void {
  const transfer = books.transfers.get(name);
  const use = transfer?.use ?? null;
  if (transfer === undefined || use === null) {
    books.report("wait.signal", `the host waits ${name}, which is no open transfer`, {
      actors: [name],
    });
    return;
  }
  books.uses.end(use);
  books.uses.transfers.delete(name);
  books.transfers.delete(name);
  books.endedNow.push(name);
}

function move(books: Books, name: string, pairs: readonly MovePair[], shown: Shown): void {
  const band = bandOf(books, name);
  if (band === null) return;
  if (shown.moves.length === 0) markAllReads(books);
  books.moveEffects += 1;
  shown.moves.push({ band, pairs });
  checkPairs(books, band, pairs);
  const moved: { readonly id: number; readonly dst: number; readonly src: number }[] = [];
  for (const [src, dst] of pairs) {
    if (band.idAt(src) === 0 && !(band.isState && revealSome(books, src))) {
      books.report("move.source", `moves ${band.name} page ${src}, which is not live`, {
        band,
        page: src,
      });
      continue;
    }
    checkSource(books, band, src);
    checkFresh(books, "move", band, dst);
    moved.push({ id: band.idAt(src), src, dst });
  }
  // All sources are read before any is bound anew: they are one batch.
  const newest = books.uses.forwards.at(-1)?.serial ?? 0;
  const records = moved.map(({ src }) => band.record(src));
  band.left = band.left.filter((page) => isStillRead(books, page));
  band.left.push(...records.map(({ uses }) => ({ forward: newest, uses })));
  for (const record of records) record.id = 0;
  for (const [at, { id, dst }] of moved.entries()) {
    const { takenAt } = records[at]!; // one a move
    const target = band.bind(id, dst, books.n);
    target.takenAt = takenAt;
    target.batch = null;
  }
}

function checkPairs(books: Books, band: BandBook, pairs: readonly MovePair[]): void {
  const sources = new Set<number>();
  for (const [src] of pairs) {
    if (sources.has(src))
      books.report("move.source", `${band.name} page ${src} moves twice in one effect`, {
        band,
        page: src,
      });
    sources.add(src);
  }
  const targets = new Set<number>();
  for (const [src, dst] of pairs) {
    const about = { band, page: dst };
    if (targets.has(dst))
      books.report(
        "move.target",
        `${band.name} page ${dst} is moved to twice in one effect`,
        about,
      );
    if (sources.has(dst))
      books.report(
        "move.overlap",
        `${band.name} page ${src} moves to ${dst}, a source of the same effect`,
        about,
      );
    targets.add(dst);
  }
}

function checkSource(books: Books, band: BandBook, src: number): void {
  const record = band.record(src);
  const about = { band, page: src };
  if (record.fixedBy !== "")
    books.report("move.fixed", `moves ${band.name} page ${src}, which ${record.fixedBy} reserved`, {
      ...about,
      actors: [record.fixedBy],
    });
  // A flush may leave a send reading the old place; relief may not.
  const transfers = books.op === "chain.flush" ? "writers" : "all";
  checkLive(books, `move of ${band.name} page ${src}`, band, src, {
    forwards: "writers",
    copies: "writers",
    transfers,
  });
}

function zero(books: Books, name: string, extents: Extents, shown: Shown): void {
  const band = bandOf(books, name);
  if (band === null) return;
  const zeroed = shown.zeroed.get(band) ?? [];
  shown.zeroed.set(band, zeroed);
  for (const page of expand(extents)) {
    checkFresh(books, "zeroing", band, page);
    if (band.isUsable(page)) band.record(page).zeroedAt = books.n;
    zeroed.push(page);
  }
}

/** Begins a copy or transfer over listed pages. @internal */
export function beginUse(
  books: Books,
  kind: Use["kind"],
  name: string,
  writes: boolean,
  pages: PageLists,
): Use {
  const places = books.bands.flatMap((band) =>
    expand(pages[band.name] ?? []).map((page) => [band, page] as const),
  );
  const use: Use = { name, kind, writes, places, isOver: false };
  books.uses.begin(use);
  return use;
}

/** Steps that allow moves of ends, and of floats. @internal */
export function checkStep(books: Books, step: Step | undefined, shown: Shown): void {
  for (const { band } of shown.moves) {
    if (step === "relayout" || (step === "flush_ends" && band.grow !== "float")) continue;
    books.report(
      "take.step",
      `${band.name} pages move, and the step answered is ${step ?? "none"}`,
      { band },
    );
    return;
  }
  if (step !== undefined && step !== "no_move" && !shown.hostReads.includes("recovery"))
    books.reportMissing("take.step", `the step is ${step}, and nothing was recovered first`);
}
