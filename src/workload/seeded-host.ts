// Legal operations on the host cache: backups, loads in every phase, evictions.
import type { Demand, KvOperation } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { cutKey } from "./seeded-keys.js";
import type { ModelCopy, ModelLoad } from "./seeded-host-books.js";
import type { ModelRequest } from "./seeded-rows.js";
import type { TreePlace } from "./seeded-tree-books.js";

function hasHost(draws: SeededDraws): boolean {
  return draws.model.config.host !== undefined;
}

function outcome(draws: SeededDraws): "ok" | "failed" {
  return draws.mayFail && draws.prng.chance(1, 6) ? "failed" : "ok";
}

function hostBackup(draws: SeededDraws): KvOperation | null {
  const { places } = draws.model.tree;
  if (!hasHost(draws) || places.length === 0) return null;
  const { key, len } = draws.prng.pick(places);
  return { op: "host.backup", args: { copy: draws.copyNames.fresh(), key, len } };
}

function copyOf(draws: SeededDraws, kinds: readonly ModelCopy["kind"][]): string | null {
  const list = [...draws.model.host.copies.values()].filter(({ kind }) => kinds.includes(kind));
  return list.length === 0 ? null : draws.prng.pick(list).name;
}

function hostBackupDone(draws: SeededDraws): KvOperation | null {
  const copy = copyOf(draws, ["backup", "retract"]);
  if (copy === null) return null;
  return { op: "host.backup_done", args: { copy, outcome: outcome(draws) } };
}

function hostLoadDone(draws: SeededDraws): KvOperation | null {
  const copy = copyOf(draws, ["load", "restore"]);
  if (copy === null) return null;
  return { op: "host.load_done", args: { copy, outcome: outcome(draws) } };
}

function hostLoadReserve(draws: SeededDraws): KvOperation | null {
  // With stages a reservation has to be bound or given up at once, and a group would keep what is given up.
  if (!hasHost(draws) || (draws.model.hasStages && draws.model.isGroupOpen)) return null;
  const { loadable } = draws.model.tree;
  if (loadable.length > 0 && draws.prng.chance(2, 3))
    return reserveOf(draws, draws.prng.pick(loadable));
  if (draws.prng.chance(1, 2)) return null;
  return { op: "host.load_reserve", args: { load: draws.loadNames.fresh(), demand: few(draws) } };
}

/** A load of what a path lacks. @internal */
export function reserveOf(draws: SeededDraws, { key, len }: TreePlace): KvOperation | null {
  const { hasStages, isGroupOpen, host } = draws.model;
  const copies = [...host.copies.values()];
  const loads = [
    ...host.loads.values(),
    ...copies.flatMap((copy) => ("load" in copy ? [copy.load] : [])),
  ];
  // With stages a page that stays without a name bars every take: one that another load brings too, or whose
  // predecessor waits in a group.
  if (hasStages && (isGroupOpen || loads.some(({ place }) => place !== null))) return null;
  const load = draws.loadNames.fresh();
  return { op: "host.load_reserve", args: { load, key: cutKey(key, len), len } };
}

/** A demand whose window pages are no more than its full ones: a row of its own can take it. */
function few(draws: SeededDraws): Demand {
  const { model, prng } = draws;
  const full = Math.min(draws.amount(model.tokenPageBytes), 6);
  const demand: Record<string, number> = {};
  if (model.state !== null && prng.chance(1, 3)) demand[model.state] = 1;
  for (const { name } of model.windows) demand[name] = prng.between(0, full);
  return { ...demand, full };
}

/** Rows that a load for a demand can go to: they end with a page, and have room. */
function mayTake(draws: SeededDraws, load: ModelLoad): (request: ModelRequest) => boolean {
  const { config, pageSize } = draws.model;
  const pages = load.demand["full"] ?? 0;
  return ({ allocated }) =>
    allocated % pageSize === 0 && allocated + pages * pageSize <= config.row_tokens;
}

function hostLoadBind(draws: SeededDraws): KvOperation | null {
  const waiting = [...draws.model.host.loads.values()].filter((load) => !load.isBound);
  return waiting.length === 0 ? null : bindOf(draws, draws.prng.pick(waiting).name);
}

/** Binds a load that is not bound yet. @internal */
export function bindOf(draws: SeededDraws, name: string): KvOperation | null {
  const load = draws.model.host.loads.get(name);
  if (load === undefined || load.isBound) return null;
  if (load.place !== null) return { op: "host.load_bind", args: { load: name } };
  const request = draws.loose(mayTake(draws, load));
  if (request === undefined) return null;
  const args = { load: name, req: request.name, from: request.allocated };
  return { op: "host.load_bind", args };
}

function hostLoadSubmit(draws: SeededDraws): KvOperation | null {
  const bound = [...draws.model.host.loads.values()].filter((load) => load.isBound);
  if (bound.length === 0) return null;
  const load = draws.prng.pick(bound).name;
  return { op: "host.load_submit", args: { load, copy: draws.copyNames.fresh() } };
}

function hostLoadCancel(draws: SeededDraws): KvOperation | null {
  const { loads } = draws.model.host;
  if (loads.size === 0) return null;
  return { op: "host.load_cancel", args: { load: draws.prng.pick([...loads.keys()]) } };
}

function hostEvict(draws: SeededDraws): KvOperation | null {
  const { host } = draws.model.config;
  if (host === undefined) return null;
  const demand: Record<string, number> = {};
  for (const [band, pages] of Object.entries(host)) {
    if (draws.prng.chance(2, 3)) demand[band] = draws.prng.between(1, Math.max(1, pages));
  }
  return { op: "host.evict", args: { demand } };
}

/** @internal */
export const HOST_BUILDERS: Builders = {
  "host.backup": hostBackup,
  "host.backup_done": hostBackupDone,
  "host.load_reserve": hostLoadReserve,
  "host.load_bind": hostLoadBind,
  "host.load_submit": hostLoadSubmit,
  "host.load_cancel": hostLoadCancel,
  "host.load_done": hostLoadDone,
  "host.evict": hostEvict,
};
