// Operations on the whole run: boot, resize, groups, flush, relief, questions, the idle check.
import { expand } from "../../base/extents.js";
import type {
  BandGeometry,
  BootOk,
  DirectConfig,
  FreedOk,
  KvArgs,
  KvOk,
} from "../../base/operations.js";
import { type Books, listOf, type OpenGroup } from "./books.js";
import { checkStep, type Shown } from "./effects.js";
import { Eviction } from "./eviction.js";
import { FreeList } from "./free-list.js";
import { dueGeometry } from "./geometry.js";
import { release } from "./give-back.js";
import { checkZeroing } from "./takes.js";
import { placesOf } from "./operations-net.js";

const DEFAULT_MOVE_CAP = 4096;

/** Holds the answered geometry against the configuration. @internal */
export function checkBoot(
  books: Books,
  config: DirectConfig,
  boot: BootOk,
  arenaBytes: number,
): void {
  const { sink, chain, grids } = dueGeometry(config.page_size, config.sub_pools, arenaBytes);
  const names = Object.keys(boot.bands);
  if (boot.sink_bytes !== sink)
    books.report(
      "boot.geometry",
      `the sink has ${boot.sink_bytes} bytes, ${sink} follow from the configuration`,
    );
  if (names.join() !== chain.map(({ name }) => name).join())
    books.report(
      "boot.geometry",
      `the chain is ${names.join(", ")}, ${chain.map(({ name }) => name).join(", ")} follows from the configuration`,
    );
  for (const [index, pool] of chain.entries()) {
    const geometry = boot.bands[pool.name];
    if (geometry === undefined) continue;
    const due = grids[index]!; // one a sub-pool
    for (const [field, value] of Object.entries(due)) {
      const told = geometry[field as keyof BandGeometry]; // its fields
      if (told !== value)
        books.report(
          "boot.geometry",
          `${pool.name} has ${field} ${String(told)}, ${String(value)} follows from the configuration`,
          { component: pool.name },
        );
    }
  }
}

/** @internal */
export function resize(books: Books, args: KvArgs["arena.resize"], ok: BootOk): void {
  const live = books.bands.find((band) => band.places.size > 0);
  if (live !== undefined)
    books.report(
      "contract.name",
      `the arena is resized while ${live.name} has ${live.places.size} live pages`,
      { band: live },
    );
  checkBoot(books, books.config, ok, args.arena_bytes);
  books.setArena(ok.bands);
  books.unplaced.clear();
}

/** @internal */
export function installStages(books: Books, { stages }: KvArgs["stages.install"]): void {
  books.staged = true;
  books.stages = stages.map(
    ({ arena_bytes, sub_pools }) => dueGeometry(books.pageSize, sub_pools, arena_bytes).grids,
  );
}

/** @internal */
export function groupBegin(books: Books): void {
  if (books.group !== null) books.report("contract.name", "a group begins inside another");
  books.group = { list: new FreeList(), evicts: false, doubtful: new Map() };
}

/** @internal */
export function groupEnd(books: Books, ok: FreedOk): void {
  const { group } = books;
  if (group === null) {
    books.report("contract.name", "a group ends, and none is open");
    return;
  }
  books.group = null;
  for (const { band, id } of group.list.pages) band.given.delete(id);
  if (!group.evicts) {
    release(books, group.list, ok);
    return;
  }
  settleDoubts(books, group, ok);
  const known = new Set<string>();
  for (const { band, id } of group.list.pages) known.add(`${band.name} ${band.placeOf(id)}`);
  for (const id of group.list.virtual) known.add(`virtual ${id}`);
  for (const id of group.list.slots) known.add(`slots ${id}`);
  const eviction = new Eviction(books).withoutLocks();
  eviction.add(group.list, ok, known);
  addHidden(books, group, ok, known);
  release(books, group.list, ok, "any");
  eviction.finish();
}

// A finish gave its state to a node that had one: the answer tells which of the two was evicted.
function settleDoubts(books: Books, group: OpenGroup, { freed, deferred }: FreedOk): void {
  const listed = new Set([...expand(listOf(freed, "slots")), ...expand(listOf(deferred, "slots"))]);
  for (const [slot, node] of group.doubtful) {
    if (listed.has(slot)) group.list.slot(books, slot);
    else {
      if (node.state !== 0) {
        group.list.slot(books, node.state);
        books.tree.dropState(node.state);
      }
      books.tree.setState(node, slot);
    }
  }
}

// Pages that were evicted and whose place in the tree was taken again before the group's end.
function addHidden(
  books: Books,
  group: OpenGroup,
  { freed, deferred }: FreedOk,
  known: ReadonlySet<string>,
): void {
  const held = new Set([...books.rows.values()].flatMap((row) => row.ids));
  for (const lists of [freed, deferred]) {
    for (const id of expand(listOf(lists, "virtual"))) {
      if (
        known.has(`virtual ${id}`) ||
        group.list.virtual.includes(id) ||
        books.tree.pageOf.has(id) ||
        held.has(id)
      )
        continue;
      if (books.owner.isHeld(id)) group.list.virtual.push(id);
    }
    for (const id of expand(listOf(lists, "slots"))) {
      if (
        known.has(`slots ${id}`) ||
        group.list.slots.includes(id) ||
        books.stateBand?.isHeld(id) !== true
      )
        continue;
      if (!books.tree.stateOf.has(id) && !isRowSlot(books, id)) group.list.slots.push(id);
    }
  }
  for (const band of books.bands) {
    const ids = new Set(band.isState ? group.list.slots : group.list.virtual);
    for (const id of ids) {
      const has = group.list.pages.some((page) => page.band === band && page.id === id);
      if (!has && band.isHeld(id)) group.list.pages.push({ band, id });
    }
  }
}

function isRowSlot(books: Books, slot: number): boolean {
  return [...books.rows.values()].some(({ slots }) =>
    Object.values(slots).some((list) => list.includes(slot)),
  );
}

/** @internal */
export function flush(books: Books, ok: KvOk["chain.flush"], shown: Shown): void {
  const cap = books.config.move_cap ?? DEFAULT_MOVE_CAP;
  for (const band of books.bands) {
    const pairs = shown.moves.filter((move) => move.band === band).flatMap((move) => move.pairs);
    const told = ok[band.name]?.moves ?? [];
    if (JSON.stringify(pairs) !== JSON.stringify(told))
      books.reportMissing(
        "move.answer",
        `the answer moves ${JSON.stringify(told)} in ${band.name}, the effects ${JSON.stringify(pairs)}`,
        { band },
      );
    if (pairs.length > cap)
      books.report("move.cap", `${pairs.length} pages of ${band.name} move, at most ${cap} may`, {
        band,
      });
    const wrong = pairs.find(
      ([src, dst]) => band.grow === "float" || (band.grow === "up") !== dst < src,
    );
    if (wrong !== undefined)
      books.report(
        "move.direction",
        `${band.name} page ${wrong[0]} moves to ${wrong[1]}, away from its base`,
        { band, page: wrong[1] },
      );
    if (pairs.length > 0) requireNoneHeld(books, band.name);
  }
}

function requireNoneHeld(books: Books, name: string): void {
  for (const transfer of books.transfers.values()) {
    if (transfer.direction !== "receive" || transfer.use !== null) continue;
    if ((placesOf(books, transfer).get(name) ?? []).length > 0)
      books.report("move.held", `${name} is compacted while ${transfer.name} awaits publication`, {
        band: books.bandNamed(name),
        actors: [transfer.name],
      });
  }
}

/** @internal */
export function relieve(books: Books, ok: KvOk["chain.relieve"], shown: Shown): void {
  checkStep(books, ok.step, shown);
  checkZeroing(books, shown, null);
  for (const band of books.bands) {
    const [made, told] = [shown.movesIn(band), ok.moves[band.name] ?? 0];
    if (made !== told)
      books.reportMissing(
        "move.answer",
        `the relief counts ${told} moves of ${band.name}, its effects are ${made}`,
        { band },
      );
  }
}

/** @internal */
export function translate(
  books: Books,
  args: KvArgs["ask.translate"],
  ok: KvOk["ask.translate"],
): void {
  const row = args.req === undefined ? undefined : books.rows.get(args.req);
  let ids = expand(args.virtual ?? []);
  if (args.virtual === undefined) {
    if (row === undefined) return;
    const first = Math.floor((args.from ?? 0) / books.pageSize);
    const end = books.pagesOf(args.to ?? row.allocated);
    ids = Array.from({ length: Math.max(0, end - first) }, (_, at) => row.ids[first + at] ?? 0);
  }
  for (const band of books.tokenBands) {
    const told = expand(listOf(ok.pages, band.name));
    const at = ids.findIndex(
      (id, index) =>
        band.placeOf(id) !== (told[index] ?? 0) && !band.given.has(id) && !band.unpublished.has(id),
    );
    if (at < 0 || told.length === 0) continue;
    books.report(
      "question.answer",
      `virtual ${ids[at] ?? 0} translates to ${band.name} page ${told[at] ?? 0}, it lies in ${band.placeOf(ids[at] ?? 0)}`,
      { band },
    );
  }
}

/** @internal */
export function checkIdle(books: Books, ok: KvOk["check.idle"]): void {
  for (const violation of ok.violations)
    books.report("idle.violation", `check.idle finds ${JSON.stringify(violation)}`, {
      component: violation.band ?? "chain",
    });
}
