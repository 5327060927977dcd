// What one operation makes likely next: a fresh row is matched, a matched state is copied, a reserved load is bound and
// submitted, a tracked state goes to the tree. Each plan is looked at again when its turn comes.
import type { Answer, KvOperation, Operation } from "../base/operations.js";
import type { SeededDraws } from "./seeded-draws.js";
import { bindOf, reserveOf } from "./seeded-host.js";
import { canDonate } from "./seeded-states.js";
import { evictAll, insertTracked, matchOf } from "./seeded-tree.js";

type Plan = (draws: SeededDraws) => KvOperation | null;

const PLANS_MOST = 6;

/** Follow-ups in the order in which they were thought of. @internal */
export class SeededPlans {
  readonly #draws: SeededDraws;
  readonly #plans: Plan[] = [];

  constructor(draws: SeededDraws) {
    this.#draws = draws;
  }

  /** Thinks of what follows a granted operation; the books have learnt it already. */
  learn(operation: Operation, answer: Answer): void {
    if (!this.#draws.isWhole || answer.ok === undefined) return;
    for (const plan of followers(operation, this.#draws)) this.#add(plan);
  }

  /** The next one that is still possible, mostly; null where none is, or something else comes between. */
  next(): KvOperation | null {
    const { prng, model } = this.#draws;
    while (this.#plans.length > 0) {
      // With stages nothing may be taken between a reservation and its binding.
      if (!isBindDue(this.#draws) && prng.chance(1, 4)) return null;
      if (model.openForward !== undefined) return null;
      const operation = this.#plans.shift()?.(this.#draws) ?? null;
      if (operation !== null) return operation;
    }
    return null;
  }

  #add(plan: Plan): void {
    if (this.#plans.length < PLANS_MOST) this.#plans.push(plan);
  }
}

/** Whether a load with stages has to be bound before anything else happens. @internal */
export function isBindDue({ model }: SeededDraws): boolean {
  if (!model.hasStages) return false;
  return [...model.host.loads.values()].some((load) => !load.isBound);
}

function followers(operation: Operation, draws: SeededDraws): Plan[] {
  const { prng, model } = draws;
  switch (operation.op) {
    case "row.alloc":
      return operation.args.reqs
        .filter(() => prng.chance(3, 4))
        .flatMap((req) => [
          (next: SeededDraws) => matchOf(next, req),
          (next: SeededDraws) => trackSlot(next, req),
        ]);
    case "tree.match":
      return afterMatch(operation.args.req, draws);
    case "host.backup_done":
      return operation.args.outcome === "ok" && prng.chance(1, 2) ? broughtBack(draws) : [];
    case "host.load_reserve":
      return [(next) => bindOf(next, operation.args.load)];
    case "host.load_bind":
      // Now and then the reservation stays for a while, and others may try to free it.
      if (prng.chance(1, 3)) return [];
      return [(next) => submitOf(next, operation.args.load)];
    case "forward.launch":
      return operation.args.batch.flatMap(({ req, track }) =>
        track === undefined || model.config.prefix_sharing !== true
          ? []
          : [
              (next: SeededDraws) => insertTracked(next, req),
              (next: SeededDraws) => donate(next, req),
            ],
      );
    default:
      return [];
  }
}

/** What was just copied to the host leaves the device, is looked for, and comes back. */
function broughtBack({ model }: SeededDraws): Plan[] {
  const place = model.host.backedUp;
  if (place === null || model.config.prefix_sharing !== true) return [];
  const { key } = place;
  return [evictAll, (): KvOperation => ({ op: "tree.match", args: { key } })];
}

function afterMatch(req: string | undefined, draws: SeededDraws): Plan[] {
  const { model } = draws;
  const loadable = model.tree.loadable.at(-1);
  const plans: Plan[] = [];
  if (loadable !== undefined && model.config.host !== undefined)
    plans.push((next) =>
      next.model.tree.loadable.includes(loadable) ? reserveOf(next, loadable) : null,
    );
  if (req === undefined || model.state === null) return plans;
  plans.push(
    (next) => mainSlot(next, req),
    (next) => copyMatched(next, req),
  );
  return plans;
}

/** A slot for tracked states, now that the request begins, and where states are tracked. */
function trackSlot({ model, prng }: SeededDraws, req: string): KvOperation | null {
  const { checkpoint } = model.config;
  if (checkpoint === undefined || checkpoint.strategy === "no_buffer") return null;
  if (model.requests.get(req)?.slots.has("track") !== false) return null;
  return { op: "state.alloc", args: { req, count: prng.between(1, 2), purpose: "track" } };
}

function mainSlot({ model }: SeededDraws, req: string): KvOperation | null {
  const request = model.requests.get(req);
  if (request === undefined || request.slots.has("main") || request.protected === 0) return null;
  return { op: "state.alloc", args: { req, count: 1, purpose: "main" } };
}

/** Copies the state of the matched node, which the request's lock keeps. */
function copyMatched({ model }: SeededDraws, req: string): KvOperation | null {
  const request = model.requests.get(req);
  if (request?.slots.has("main") !== true || request.key === null) return null;
  if (model.host.reserves(request)) return null; // what a load will write is not written before
  const { key, protected: len } = request;
  const from = model.tree.stateAt(key, len);
  return from === null ? null : { op: "state.copy", args: { from, to: { req, purpose: "main" } } };
}

function submitOf(draws: SeededDraws, load: string): KvOperation | null {
  if (draws.model.host.loads.get(load)?.isBound !== true) return null;
  return { op: "host.load_submit", args: { load, copy: draws.copyNames.fresh() } };
}

function donate({ model }: SeededDraws, req: string): KvOperation | null {
  const request = model.requests.get(req);
  if (request === undefined || !canDonate(request) || model.net.holds(req)) return null;
  return { op: "state.donate", args: { req, len: request.protected } };
}
