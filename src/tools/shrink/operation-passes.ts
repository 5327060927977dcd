// Passes over operations: what follows the failure, whole objects, stretches of operations down to single ones, entries
// of lists, growth joined with the growth before it.
import type { KvOperation } from "../../base/operations.js";
import { fieldSpec } from "../../trace/fields.js";
import { growthOf, openedBy, specOf, withArgs, withoutNames } from "./arguments.js";
import type { Bag } from "./arguments.js";
import type { Work } from "./case.js";
import { rewrite, without } from "./rewrite.js";
import type { Changes } from "./rewrite.js";
import type { Search } from "./search.js";

/** Drops what follows the failing operation. @internal */
export async function cutAfterFailure(search: Search): Promise<boolean> {
  return search.sweep("cut", 0, function* (best) {
    const left = search.finding.n + 1;
    if (left >= best.pieces.length) return;
    const indexes = Array.from(best.pieces.keys()).slice(left);
    yield { work: without(best, indexes, false), cursor: 0 };
  });
}

/** Drops requests, forwards, copies, loads and transfers with everything that names them. @internal */
export async function dropObjects(search: Search): Promise<boolean> {
  return inChunks(search, "objects", (best) => {
    const objects: (readonly [index: number, name: string])[] = [];
    for (const [index, { operation }] of best.pieces.entries()) {
      for (const name of openedBy(operation)) objects.push([index, name]);
    }
    return {
      count: objects.length,
      drop: function* (start, end) {
        const names = new Map<number, Set<string>>();
        for (const [index, name] of objects.slice(start, end)) {
          names.set(index, (names.get(index) ?? new Set()).add(name));
        }
        const changes = new Map<number, KvOperation | null>();
        for (const [index, gone] of names) {
          const operation = best.pieces[index]?.operation;
          if (operation === undefined) continue;
          const left = withoutNames(operation, (name, role) => role === "opens" && gone.has(name));
          changes.set(index, left);
        }
        yield* inBothWays(best, changes);
      },
    };
  });
}

/** Drops stretches of operations, halving down to single ones. @internal */
export async function dropOperations(search: Search): Promise<boolean> {
  return inChunks(search, "operations", (best) => ({
    count: best.pieces.length - 1, // boot stays
    drop: function* (start, end) {
      const changes = new Map<number, null>();
      for (let index = start + 1; index <= end; index++) changes.set(index, null);
      yield* inBothWays(best, changes);
    },
  }));
}

/** Later positions first follow what is gone, then stay where they were. */
function* inBothWays(best: Work, changes: Changes): Iterable<Work | null> {
  const moved = rewrite(best, changes, true);
  const stayed = rewrite(best, changes, false);
  yield moved;
  if (JSON.stringify(moved) !== JSON.stringify(stayed)) yield stayed;
}

interface Chunked {
  readonly count: number;
  readonly drop: (start: number, end: number) => Iterable<Work | null>;
}

/** From the last chunk to the first, with chunks of half of all, a quarter, …, one. */
async function inChunks(
  search: Search,
  name: string,
  chunked: (best: Work) => Chunked,
): Promise<boolean> {
  let isBetter = false;
  for (let size = halfOf(chunked(search.best).count); size >= 1; size = Math.floor(size / 2)) {
    const wasBetter = await search.sweep(name, Infinity, function* (best, cursor) {
      const { count, drop } = chunked(best);
      for (let end = Math.min(cursor, count); end > 0; end -= size) {
        const start = Math.max(0, end - size);
        for (const work of drop(start, end)) yield { work, cursor: start };
      }
    });
    isBetter ||= wasBetter;
  }
  return isBetter;
}

function halfOf(count: number): number {
  return Math.max(1, Math.ceil(count / 2));
}

/** Drops single entries of batches and other lists. @internal */
export async function dropEntries(search: Search): Promise<boolean> {
  return search.sweep("entries", Infinity, function* (best, cursor) {
    for (const [index, { operation }] of fromEnd(best, cursor)) {
      for (const smaller of withoutEntries(operation)) {
        const changes = new Map([[index, smaller]]);
        for (const work of inBothWays(best, changes)) yield { work, cursor: index };
      }
    }
  });
}

function* withoutEntries(operation: KvOperation): Iterable<KvOperation> {
  const args = operation.args as Bag; // the arguments of every operation are an object
  for (const [key, list] of Object.entries(args)) {
    if (!Array.isArray(list) || list.length < 2) continue;
    for (let index = list.length - 1; index >= 0; index--) {
      yield withArgs(operation, { ...args, [key]: list.toSpliced(index, 1) });
    }
  }
}

/**
 * Joins the growth of a request with the growth before it, and the entries of an operation that is one list with those
 * of the last operation of its kind. @internal
 */
export async function joinOperations(search: Search): Promise<boolean> {
  return search.sweep("joined", Infinity, function* (best, cursor) {
    for (const [index, { operation }] of fromEnd(best, cursor)) {
      for (const changes of [
        ...joinedGrowth(best, index, operation),
        ...joinedLists(best, index),
      ]) {
        yield { work: replaced(best, changes), cursor: index };
      }
    }
  });
}

function* joinedGrowth(best: Work, index: number, operation: KvOperation): Iterable<Changes> {
  if (operation.op !== "tokens.extend" && operation.op !== "tokens.decode") return;
  for (const { req, from, to } of growthOf(operation)) {
    for (let earlier = index - 1; earlier > 0; earlier--) {
      const before = best.pieces[earlier]?.operation;
      if (before === undefined || !growthOf(before).some((entry) => entry.req === req)) continue;
      if (before.op !== "tokens.extend") break;
      const batch = before.args.batch.map((entry) =>
        entry.req === req && entry.to === from ? { ...entry, to } : entry,
      );
      const left = withoutNames(operation, (name) => name === req);
      yield new Map([
        [earlier, { op: before.op, args: { batch } }],
        [index, left],
      ]);
      break;
    }
  }
}

function* joinedLists(best: Work, index: number): Iterable<Changes> {
  const later = best.pieces[index]?.operation;
  const key = later === undefined ? null : listOf(later);
  if (later === undefined || key === null) return;
  for (let earlier = index - 1; earlier > 0; earlier--) {
    const before = best.pieces[earlier]?.operation;
    if (before?.op !== later.op) continue;
    const lists = [before, later].flatMap(({ args }) => (args as Bag)[key] as readonly unknown[]);
    yield new Map([
      [earlier, withArgs(before, { [key]: lists })],
      [index, null],
    ]);
    return;
  }
}

/** The changes and nothing else: what was opened in one place is now opened in another. */
function replaced(best: Work, changes: Changes): Work {
  const pieces = best.pieces.flatMap((piece, index) => {
    const operation = changes.get(index);
    if (operation === undefined) return [piece];
    return operation === null ? [] : [{ ...piece, operation }];
  });
  return { ...best, pieces };
}

/** The list that is all of an operation's arguments, null where there is more or less. */
function listOf(operation: KvOperation): string | null {
  const { args } = specOf(operation);
  const fields = args.type === "object" ? Object.entries(args.fields) : [];
  const [only] = fields;
  if (only === undefined || fields.length > 1) return null;
  return fieldSpec(only[1]).spec.type === "list" ? only[0] : null;
}

/** Pieces below `cursor`, the last first, without boot. @internal */
export function* fromEnd(
  best: Work,
  cursor: number,
): Iterable<readonly [index: number, piece: Work["pieces"][number]]> {
  for (let index = Math.min(cursor, best.pieces.length - 1); index > 0; index--) {
    const piece = best.pieces[index];
    if (piece !== undefined) yield [index, piece];
  }
}
