// Mistakes planted into the allocator or the modelled device by patching prototypes, each undone after its test.
import { Band } from "../../../src/kv/alloc/band.js";
import { ChainAllocator } from "../../../src/kv/alloc/chain.js";
import { ForwardSteps } from "../../../src/kv/alloc/forward-steps.js";
import { Ledger } from "../../../src/kv/alloc/ledger.js";
import { EffectScope } from "../../../src/kv/alloc/signals.js";
import { StageCapacity } from "../../../src/kv/alloc/stage-capacity.js";
import { RequestTable } from "../../../src/kv/requests.js";
import { KVStorage } from "../../../src/kv/storage.js";
import { CommitSlots } from "../../../src/device/harness/forwards.js";
import type { Effect } from "../../../src/base/effects.js";
import type { Layout } from "../../../src/workload/layouts.js";

type Undo = () => void;

/** One mistake and where it shows. */
export interface Plant {
  readonly name: string;
  readonly check: string; // that must find it
  readonly profile: string;
  readonly layout: Layout;
  readonly plant: () => Undo;
}

/** Puts a function in the place of a prototype's method; `make` gets the one that was there. */
function patch<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  make: (original: T[K]) => T[K],
): Undo {
  const own = Object.getOwnPropertyDescriptor(prototype, name)!; // every patched name is the prototype's own
  Object.defineProperty(prototype, name, { ...own, value: make(own.value as T[K]) });
  return () => Object.defineProperty(prototype, name, own);
}

/** Changes each operation's effects. */
const changeEffects = (change: (effects: readonly Effect[]) => readonly Effect[]): Undo =>
  patch(
    EffectScope.prototype,
    "take",
    (original) =>
      function (this: EffectScope) {
        return change(original.call(this));
      },
  );
const withoutEffects = (kind: Effect[0]): Undo =>
  changeEffects((effects) => effects.filter((effect) => effect[0] !== kind));

/** Does something on the second of every two allocators that boot, which is rank 1. */
function onRankOne(act: (storage: KVStorage) => Undo | null): Undo {
  const ranks = new WeakMap<KVStorage, number>();
  let booted = 0;
  return patch(
    KVStorage.prototype,
    "apply",
    (original) =>
      function (this: KVStorage, operation) {
        if (operation.op === "boot") ranks.set(this, booted++ % 2);
        const undo = ranks.get(this) === 1 ? act(this) : null;
        try {
          return original.call(this, operation);
        } finally {
          undo?.();
        }
      },
  );
}

export const PLANTS: readonly Plant[] = [
  {
    name: "no barrier behind a launch",
    check: "unordered_overlap",
    profile: "default",
    layout: "full+window",
    plant: () => withoutEffects("barrier"),
  },
  {
    name: "a settle retires forwards and waits none",
    check: "unordered_overlap",
    profile: "default",
    layout: "full+window+state",
    plant: () =>
      patch(
        EffectScope.prototype,
        "wait",
        () =>
          function (this: EffectScope, step) {
            if (step === null || step.retired) return;
            step.retired = true;
          },
      ),
  },
  {
    name: "a copy is taken for over and not waited",
    check: "unordered_overlap",
    profile: "transfers",
    layout: "full+state",
    plant: () =>
      patch(
        Ledger.prototype,
        "waitCopy",
        () =>
          function (this: Ledger, copy) {
            this.endCopy(copy);
          },
      ),
  },
  {
    name: "transfers are not waited on the host",
    check: "unordered_overlap",
    profile: "transfers",
    layout: "full+2window",
    plant: () =>
      patch(
        Ledger.prototype,
        "hostWait",
        () =>
          function (this: Ledger, transfer) {
            this.endTransfer(transfer);
          },
      ),
  },
  {
    name: "a commit inside a verify forward looks its slot up when it runs",
    check: "lost_write",
    profile: "speculative",
    layout: "full+state",
    plant: () =>
      patch(CommitSlots.prototype, "ofForward", () => (_resolved, now) => now() || _resolved),
  },
  {
    name: "a relayed commit goes where the state lay when its forward began",
    check: "lost_write",
    profile: "stages",
    layout: "full+state",
    plant: () => patch(CommitSlots.prototype, "ofRelay", () => (resolved) => resolved),
  },
  {
    name: "rows are handed out and never reset",
    check: "lost_write",
    profile: "steady",
    layout: "full+window",
    plant: () => withoutEffects("reset"),
  },
  {
    name: "the last page of every move is not copied",
    check: "lost_write",
    profile: "default",
    layout: "full+2window",
    plant: () =>
      changeEffects((effects) =>
        effects.flatMap((effect): readonly Effect[] =>
          effect[0] === "move" ? [["move", effect[1], effect[2].slice(0, -1)]] : [effect],
        ),
      ),
  },
  {
    name: "a relief reads on the host behind its waits",
    check: "host_read_after_wait",
    profile: "forwards",
    layout: "full+window+state",
    plant: () => changeEffects((effects) => hostReadsLast(effects, "recovery")),
  },
  {
    name: "the host makes sure that what it has waited for is over",
    check: "host_read_after_wait",
    profile: "default",
    layout: "full+2window",
    plant: () =>
      changeEffects((effects) =>
        effects.flatMap((effect): readonly Effect[] =>
          effect[0] === "wait" ? [effect, ["hostread", "recovery"]] : [effect],
        ),
      ),
  },
  {
    name: "rank 1 puts freed pages at the head of the hole list",
    check: "rank_divergence",
    profile: "default",
    layout: "full+window",
    plant: () =>
      onRankOne(() =>
        patch(
          Band.prototype,
          "addHole",
          (original) =>
            function (this: Band, page) {
              const before = Array.from({ length: this.holes.length }, () => this.holes.shift());
              original.call(this, page);
              for (const hole of before) this.holes.push(hole);
            },
        ),
      ),
  },
  {
    name: "rank 1 asks whether a forward has finished before it defers a free",
    check: "rank_divergence",
    profile: "forwards",
    layout: "full+window+state",
    plant: () =>
      onRankOne(() =>
        patchGetter(ForwardSteps.prototype, "newestUnprocessed", (original, { version }) =>
          version % 7 === 6 ? null : original,
        ),
      ),
  },
  {
    name: "nothing is zeroed",
    check: "cross_dtype_bytes",
    profile: "default",
    layout: "full+state",
    plant: () => withoutEffects("zero"),
  },
  {
    name: "a take that had to make room forgets to zero",
    check: "cross_dtype_bytes",
    profile: "default",
    layout: "full+state",
    plant: () =>
      changeEffects((effects) =>
        effects.some(([kind]) => kind === "hostread")
          ? effects.filter(([kind]) => kind !== "zero")
          : effects,
      ),
  },
  {
    name: "a finished copy stays in the ledger",
    check: "ledger_leak",
    profile: "steady",
    layout: "full+2window+state",
    plant: () =>
      patch(
        Ledger.prototype,
        "endCopy",
        (original) =>
          function (this: Ledger, copy) {
            if (copy.direction === "in") original.call(this, copy);
          },
      ),
  },
  {
    name: "pages of a cancelled load stay fixed",
    check: "ledger_leak",
    profile: "steady",
    layout: "full+state",
    plant: () => patch(Band.prototype, "unfix", () => () => undefined),
  },
  {
    name: "vacated pages whose readers are over are kept",
    check: "ledger_leak",
    profile: "default",
    layout: "full+window",
    plant: () => patch(Band.prototype, "releaseVacated", () => () => undefined),
  },
  {
    name: "a question grants what only bytes deny",
    check: "capacity_truth",
    profile: "default",
    layout: "full+window",
    plant: () =>
      patch(
        ChainAllocator.prototype,
        "fits",
        () =>
          function (this: ChainAllocator, demand) {
            const plan = this.price(demand, "fits");
            return "step" in plan || plan.limit === "bytes";
          },
      ),
  },
  {
    name: "a question denies what needs a move",
    check: "capacity_truth",
    profile: "default",
    layout: "full+2window+state",
    plant: () =>
      patch(
        ChainAllocator.prototype,
        "fits",
        () =>
          function (this: ChainAllocator, demand) {
            const plan = this.price(demand, "fits");
            return "step" in plan && plan.step === "no_move";
          },
      ),
  },
  {
    name: "pending pages settle before a refusal",
    check: "refused_changed_state",
    profile: "forwards",
    layout: "full+window",
    plant: () =>
      patch(
        ChainAllocator.prototype,
        "price",
        (original) =>
          function (this: ChainAllocator, demand, kind) {
            const priced = original.call(this, demand, kind);
            if ("code" in priced)
              for (const band of this.bands) if (band.pending.length > 0) band.settleOldest();
            return priced;
          },
      ),
  },
  {
    name: "a refusal turns the list of free ids",
    check: "refused_changed_state",
    profile: "default",
    layout: "full+state",
    plant: () =>
      patch(
        ChainAllocator.prototype,
        "price",
        (original) =>
          function (this: ChainAllocator, demand, kind) {
            const priced = original.call(this, demand, kind);
            const { free } = this.virtual;
            if ("code" in priced && free.length > 1) free.push(free.shift());
            return priced;
          },
      ),
  },
  {
    name: "no answer tells its waits",
    check: "audit",
    profile: "default",
    layout: "full+window",
    plant: () => withoutEffects("wait"),
  },
  {
    name: "a stage asks nobody but itself",
    check: "stage_divergence",
    profile: "stages",
    layout: "full+window",
    plant: () =>
      patch(
        StageCapacity.prototype,
        "snapshots",
        (original) =>
          function (this: StageCapacity, live) {
            return [original.call(this, live)[this.self]!]; // one of the stages
          },
      ),
  },
  {
    name: "a stage folds a question by its own number",
    check: "stage_divergence",
    profile: "stages",
    layout: "full+state",
    plant: () =>
      patch(
        StageCapacity.prototype,
        "fold",
        (original) =>
          function (this: StageCapacity, kind, demand, answer) {
            original.call(this, `${kind}/${this.self}`, demand, answer);
          },
      ),
  },
  {
    name: "no answer tells its zeroing",
    check: "audit",
    profile: "default",
    layout: "full+2window",
    plant: () => withoutEffects("zero"),
  },
  {
    name: "a fixed page is not among the digest's cells",
    check: "digest_drift",
    profile: "steady",
    layout: "full+state",
    plant: () =>
      patch(
        Band.prototype,
        "fix",
        () =>
          function (this: Band, page) {
            this.fixed.add(page);
            this.epoch += 1;
          },
      ),
  },
  {
    name: "a cursor moves without its cell",
    check: "digest_drift",
    profile: "windows",
    layout: "full+window",
    plant: () =>
      patch(RequestTable.prototype, "setCursor", () => (request, band, tokens) => {
        request.cursors[band] = tokens;
      }),
  },
];

/** Puts a getter in the place of another one. */
function patchGetter<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  change: (original: T[K], self: T) => T[K],
): Undo {
  const own = Object.getOwnPropertyDescriptor(prototype, name)!; // every patched name is the prototype's own
  Object.defineProperty(prototype, name, {
    ...own,
    get(this: T) {
      return change(own.get!.call(this) as T[K], this); // it is a getter
    },
  });
  return () => Object.defineProperty(prototype, name, own);
}

function hostReadsLast(effects: readonly Effect[], what: string): readonly Effect[] {
  const isRead = (effect: Effect): boolean => effect[0] === "hostread" && effect[1] === what;
  const reads = effects.filter(isRead);
  return reads.length === 0 ? effects : [...effects.filter((effect) => !isRead(effect)), ...reads];
}
