// Mistakes that are made in a recorded run: one a kind and run, at a place drawn by the seed.
import type { Effect, MovePair } from "../../../src/base/effects.js";
import { expand, toExtents } from "../../../src/base/extents.js";
import type { Extents } from "../../../src/base/operations.js";
import type { Prng } from "../../../src/base/prng.js";
import type { LooseLine as Loose } from "../../device/story.js";
import type { Line } from "./runs.js";

/** Changes a copy of a line and says so, or says false where the mistake cannot be made there. */
export type Mutate = (line: Loose, prng: Prng) => boolean;

const BANDS = (lists: Loose): string[] =>
  Object.keys(lists ?? {}).filter((name) => name !== "virtual" && name !== "slots");

function effects(line: Loose): Effect[] {
  return line.answer.fx ?? [];
}
const isGranted = (line: Loose): boolean => line.answer.ok !== undefined;

/** Drops one effect of these kinds. */
const drop =
  (...kinds: readonly string[]): Mutate =>
  (line, prng) => {
    const at = effects(line).flatMap((effect, index) => (kinds.includes(effect[0]) ? [index] : []));
    if (at.length === 0 || !isGranted(line)) return false;
    line.answer.fx.splice(prng.pick(at), 1);
    return true;
  };
/** Drops a wait whose signal matches. */
const dropWait =
  (signal: RegExp): Mutate =>
  (line, prng) => {
    const at = effects(line).flatMap((effect, index) =>
      effect[0] === "wait" && signal.test(effect[1]) ? [index] : [],
    );
    if (at.length === 0) return false;
    line.answer.fx.splice(prng.pick(at), 1);
    return true;
  };

/** Lists of pages that an answer hands out, as places that can be changed. */
function takenLists(line: Loose): { readonly lists: Loose; readonly band: string }[] {
  const { ok } = line.answer;
  const { op } = line.operation;
  if (ok === undefined) return [];
  const all: Loose[] =
    op === "tokens.extend" || op === "tokens.decode" ? Object.values(ok.pages) : [];
  if (["net.receive", "host.load_reserve", "request.restore"].includes(op)) all.push(ok.pages);
  return all.flatMap((lists) => BANDS(lists).map((band) => ({ lists, band })));
}

/** Lists of pages that an answer frees. */
function freedLists(line: Loose): { readonly lists: Loose; readonly band: string }[] {
  const freed = line.answer.ok?.freed;
  return Array.isArray(freed) ? [] : BANDS(freed).map((band) => ({ lists: freed, band }));
}

function changeIds(lists: Loose, name: string, change: (ids: number[]) => boolean): boolean {
  const ids = expand(lists[name] as Extents);
  if (!change(ids)) return false;
  lists[name] = toExtents(ids);
  return true;
}

function replaceInZeroing(line: Loose, band: string, from: number, to: number): void {
  for (const effect of effects(line) as Loose[]) {
    if (effect[0] !== "zero" || effect[1] !== band) continue;
    effect[2] = toExtents(expand(effect[2]).map((page) => (page === from ? to : page)));
  }
}

const moves = (line: Loose): Loose[] => effects(line).filter(([kind]) => kind === "move");

/** Every kind of mistake by name. `most`: the share in percent that must be found at least. */
export const MUTATIONS: Readonly<
  Record<string, { readonly mutate: Mutate; readonly most: number }>
> = {
  "drop a wait for a forward": { most: 60, mutate: dropWait(/^f/) },
  "drop a wait for a copy": { most: 60, mutate: dropWait(/^c/) },
  "drop a host wait": { most: 100, mutate: drop("hostwait") },
  "wait behind what needs it": {
    most: 100,
    mutate: (line) => {
      const fx = effects(line);
      const at = fx.findIndex(([kind]) => kind === "wait");
      const needs = fx.findLastIndex(([kind]) => kind === "zero");
      if (at < 0 || needs < at) return false;
      line.answer.fx.push(...line.answer.fx.splice(at, 1));
      return true;
    },
  },
  "read on the host behind a wait": {
    most: 100,
    mutate: (line) => {
      const at = effects(line).findIndex(([kind]) => kind === "wait");
      if (at < 0 || !isGranted(line)) return false;
      line.answer.fx.splice(at + 1, 0, ["hostread", "recovery"]);
      return true;
    },
  },
  "drop a zero": { most: 100, mutate: drop("zero") },
  "zero a page less": {
    most: 100,
    mutate: (line, prng) => {
      const zeros = effects(line).filter(([kind]) => kind === "zero") as Loose[];
      if (zeros.length === 0) return false;
      const zero = prng.pick(zeros);
      const pages = expand(zero[2]);
      pages.splice(prng.below(pages.length), 1);
      zero[2] = toExtents(pages);
      return true;
    },
  },
  "zero a page that was not handed out": {
    most: 100,
    mutate: (line, prng) => {
      const zeros = effects(line).filter(([kind]) => kind === "zero") as Loose[];
      if (zeros.length === 0) return false;
      const zero = prng.pick(zeros);
      const pages = expand(zero[2]);
      zero[2] = toExtents([...pages, Math.max(...pages) + 1]);
      return true;
    },
  },
  "drop a move": {
    most: 100,
    mutate: (line, prng) => {
      const all = moves(line);
      if (all.length === 0) return false;
      const move = prng.pick(all);
      move[2].splice(prng.below(move[2].length), 1);
      return true;
    },
  },
  "move twice": {
    most: 100,
    mutate: (line, prng) => {
      const all = moves(line);
      if (all.length === 0) return false;
      const move = prng.pick(all);
      move[2].push([...prng.pick(move[2] as MovePair[])]);
      return true;
    },
  },
  "move one page further": {
    most: 100,
    mutate: (line, prng) => {
      const all = moves(line);
      if (all.length === 0) return false;
      const pair = prng.pick(prng.pick(all)[2] as number[][]);
      pair[1]! += pair[1]! > pair[0]! ? -1 : 1;
      return true;
    },
  },
  "move from a free page": {
    most: 100,
    mutate: (line, prng) => {
      const all = moves(line);
      if (all.length === 0) return false;
      const pair = prng.pick(prng.pick(all)[2] as number[][]);
      pair.reverse();
      return true;
    },
  },
  "shift overlapping pages in one batch": {
    most: 100,
    mutate: (line) => {
      const { fx } = line.answer;
      const at = effects(line).findIndex((effect, index, list) => {
        const next = list[index + 1];
        if (effect[0] !== "move" || next?.[0] !== "move" || next[1] !== effect[1]) return false;
        return effect[2].some(([src]) => next[2].some(([, dst]) => dst === src));
      });
      if (at < 0) return false;
      fx[at][2].push(...fx[at + 1][2]);
      fx.splice(at + 1, 1);
      return true;
    },
  },
  "swap two pages of an answer": {
    most: 100,
    mutate: (line, prng) => {
      const found = takenLists(line).filter(
        ({ lists, band }) => new Set(expand(lists[band]).filter((page) => page > 0)).size > 1,
      );
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        const [first, second] = ids.flatMap((page, index) => (page > 0 ? [index] : []));
        [ids[first!], ids[second!]] = [ids[second!]!, ids[first!]!];
        return true;
      });
    },
  },
  "shift a page, zeroing too": {
    most: 95,
    mutate: (line, prng) => {
      const found = takenLists(line).filter(({ lists, band }) =>
        expand(lists[band]).some((page) => page > 0),
      );
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        const at = prng.pick(ids.flatMap((page, index) => (page > 0 ? [index] : [])));
        replaceInZeroing(line, band, ids[at]!, ids[at]! + 1);
        ids[at]! += 1;
        return true;
      });
    },
  },
  "hand out another id": {
    most: 100,
    mutate: (line, prng) => {
      const lists = takenLists(line)
        .map((one) => one.lists)
        .filter((one) => one.virtual !== undefined);
      if (lists.length === 0) return false;
      return changeIds(prng.pick(lists), "virtual", (ids) => {
        ids[ids.length - 1]! += 1;
        return true;
      });
    },
  },
  "free a page less": {
    most: 100,
    mutate: (line, prng) => {
      const found = freedLists(line);
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        ids.splice(prng.below(ids.length), 1);
        return true;
      });
    },
  },
  "free a page twice": {
    most: 100,
    mutate: (line, prng) => {
      const found = freedLists(line);
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        ids.push(prng.pick(ids));
        return true;
      });
    },
  },
  "free a neighbour": {
    most: 100,
    mutate: (line, prng) => {
      const found = freedLists(line);
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        ids[ids.length - 1]! += 1;
        return true;
      });
    },
  },
  "free out of order": {
    most: 90, // evictions and ends of transfers have an order of their own
    mutate: (line, prng) => {
      if (line.operation.op === "tree.evict" || line.operation.op === "contents.discard")
        return false;
      const found = freedLists(line).filter(({ lists, band }) => expand(lists[band]).length > 1);
      if (found.length === 0) return false;
      const { lists, band } = prng.pick(found);
      return changeIds(lists, band, (ids) => {
        ids.reverse();
        return true;
      });
    },
  },
  "keep an id": {
    most: 100,
    mutate: (line) => {
      const freed = line.answer.ok?.freed;
      if (freed?.virtual === undefined) return false;
      return changeIds(freed, "virtual", (ids) => {
        ids.pop();
        return true;
      });
    },
  },
  "free what is deferred": {
    most: 100,
    mutate: (line) => {
      const { ok } = line.answer;
      const [band] = BANDS(ok?.deferred);
      if (band === undefined || Array.isArray(ok.freed)) return false;
      ok.freed = { ...ok.freed, [band]: [...(ok.freed[band] ?? []), ...ok.deferred[band]] };
      delete ok.deferred[band];
      return true;
    },
  },
  "release a page less": {
    most: 60, // of a batch that settled in part nothing is known
    mutate: (line, prng) => {
      const released =
        line.operation.op === "forward.process" ? line.answer.ok?.released : undefined;
      const [band] = BANDS(released);
      if (band === undefined) return false;
      return changeIds(released, band, (ids) => {
        ids.splice(prng.below(ids.length), 1);
        return true;
      });
    },
  },
  "give another row": {
    most: 100,
    mutate: (line) => {
      const rows = line.operation.op === "row.alloc" ? line.answer.ok?.rows : undefined;
      const [req] = Object.keys(rows ?? {});
      if (req === undefined) return false;
      rows[req] += 1;
      return true;
    },
  },
  "an effect in a refusal": {
    most: 100,
    mutate: (line) => {
      if (isGranted(line)) return false;
      line.answer.fx = [["hostread", "recovery"]];
      return true;
    },
  },
  "a refusal changes a digest": {
    most: 100,
    mutate: (line) => {
      if (isGranted(line)) return false;
      line.answer.digest = { full: "00000000deadbeef" };
      return true;
    },
  },
  "a question changes a digest": {
    most: 100,
    mutate: (line) => {
      if (!line.operation.op.startsWith("ask.")) return false;
      line.answer.digest = { chain: "00000000deadbeef" };
      return true;
    },
  },
  "drop a forward's effect": { most: 100, mutate: drop("forward", "event", "barrier") },
  "drop a reset": { most: 100, mutate: drop("reset") },
  "drop a host copy": { most: 100, mutate: drop("hostcopy") },
  "drop a transfer's start": { most: 100, mutate: drop("net") },
  "drop a state copy": { most: 100, mutate: drop("copy") },
  "copy another page to the host": {
    most: 100,
    mutate: (line) => {
      const copy = effects(line).find(([kind]) => kind === "hostcopy" || kind === "net") as Loose;
      const [band] = BANDS(copy?.[3]);
      if (band === undefined) return false;
      return changeIds(copy[3], band, (ids) => {
        ids[0]! += 1;
        return true;
      });
    },
  },
  "answer a smaller step": {
    most: 95, // a relief may move nothing
    mutate: (line) => {
      const { ok } = line.answer;
      if (moves(line).length === 0 || ok?.step === undefined) return false;
      ok.step = "no_move";
      return true;
    },
  },
  "count an epoch more": {
    most: 100,
    mutate: (line) => {
      if (line.answer.ok?.epoch === undefined) return false;
      line.answer.ok.epoch += 1;
      return true;
    },
  },
  "retire a page more": {
    most: 100,
    mutate: (line) => {
      if (line.operation.op !== "window.retire" || !isGranted(line)) return false;
      const [part] = Object.values<Loose>(line.answer.ok);
      if (part === undefined) return false;
      part.cursor += 1;
      return true;
    },
  },
  "match a page more": {
    most: 80, // what an open group evicted is not known
    mutate: (line) => {
      if (line.operation.op !== "tree.match" || (line.answer.ok?.len ?? 0) === 0) return false;
      line.answer.ok.len = 0;
      return true;
    },
  },
  "count a new page less": {
    most: 100,
    mutate: (line) => {
      const counts = line.operation.op === "tree.insert" ? line.answer.ok : line.answer.ok?.tree;
      if (counts === undefined || counts.new_pages === 0) return false;
      counts.new_pages -= 1;
      return true;
    },
  },
  "translate to another page": {
    most: 90, // pages that were given back and wait are not compared
    mutate: (line) => {
      const pages = line.operation.op === "ask.translate" ? line.answer.ok?.pages : undefined;
      const [band] = BANDS(pages);
      if (band === undefined) return false;
      return changeIds(pages, band, (ids) => {
        ids[0]! += 1;
        return true;
      });
    },
  },
  "count free rows wrongly": {
    most: 100,
    mutate: (line) => {
      const { err } = line.answer;
      if (!["refused_rows", "refused_ids", "refused_state"].includes(err?.code)) return false;
      err.free += 1;
      return true;
    },
  },
};

/** The run with one mistake of a kind, at a place drawn; null where it cannot be made. */
export function mutated(
  lines: readonly Line[],
  mutate: Mutate,
  prng: Prng,
): { readonly lines: readonly Line[]; readonly n: number } | null {
  const start = 1 + prng.below(lines.length - 1);
  for (let step = 0; step < lines.length - 1; step++) {
    const n = 1 + ((start + step) % (lines.length - 1));
    const copy = structuredClone(lines[n]!) as Loose;
    if (!mutate(copy, prng)) continue;
    if (JSON.stringify(copy) === JSON.stringify(lines[n])) continue;
    return { lines: lines.with(n, copy), n };
  }
  return null;
}
