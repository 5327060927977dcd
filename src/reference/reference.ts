// The second allocator: the simplest code that is obviously right, to hold the first one against. It shares the words
// of base with it and nothing else. Every operation works on a deep copy of the world, which replaces the old one
// only when it is granted.
import type {
  Answer,
  DigestDepth,
  Digests,
  DirectConfig,
  KvArgs,
  KvOk,
  KvOperation,
  KvOperationName,
  ModelConfig,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";
import { admitPass, askMaxNewTokens } from "./admission.js";
import { arenaResize, stagesInstall } from "./arena.js";
import { hostBackup, hostBackupDone, retract } from "./backup.js";
import { stagesDigest } from "./asked.js";
import { bootAnswer, bootWorld } from "./boot.js";
import { treeEvict } from "./evict.js";
import { contentsDiscard, finish, stateDonate } from "./finish.js";
import { hostEvict } from "./host-pool.js";
import { treeInsert } from "./insert.js";
import { loadCancel, loadDone } from "./load-ends.js";
import { loadBind, loadReserve, loadSubmit } from "./loads.js";
import { treeLock, treeUnlock } from "./locks.js";
import { treeMatch } from "./match.js";
import { netEnd, netPublish, netReceive, netSend, netStall } from "./transfers.js";
import { componentDigests, foldedDigest } from "./digest.js";
import { askEstimates } from "./estimates.js";
import { barrier, launch, process, record } from "./forwards.js";
import { endedPart, groupBegin, groupEnd } from "./frees.js";
import { checkIdle } from "./idle.js";
import { isConserved, tidyUp } from "./pages.js";
import {
  askFits,
  askFitsAfterFrees,
  askPlan,
  askPrealloc,
  askTranslate,
  chainFlush,
  chainRelieve,
} from "./questions.js";
import { type Derived, derive } from "./model-boot.js";
import { Refusal } from "./refusal.js";
import { restore } from "./restore.js";
import { rowAlloc, rowFree } from "./rows.js";
import { stateAlloc, stateCopy, stateFree } from "./slots.js";
import { stateOf } from "./state.js";
import { decode, extend, tokensFree, windowRetire } from "./tokens.js";
import type { World } from "./world.js";
import { deepCopy } from "./copy.js";

type Handlers = { [K in KvOperationName]?: (world: World, args: KvArgs[K]) => KvOk[K] };

const HANDLERS: Handlers = {
  "row.alloc": rowAlloc,
  "row.free": rowFree,
  "state.alloc": stateAlloc,
  "state.free": stateFree,
  "state.copy": stateCopy,
  "tokens.extend": extend,
  "tokens.decode": decode,
  "tokens.free": tokensFree,
  "group.begin": groupBegin,
  "group.end": groupEnd,
  "window.retire": windowRetire,
  "request.finish": finish,
  "request.retract": retract,
  "request.restore": restore,
  "state.donate": stateDonate,
  "host.backup": hostBackup,
  "host.backup_done": hostBackupDone,
  "host.load_reserve": loadReserve,
  "host.load_bind": loadBind,
  "host.load_submit": loadSubmit,
  "host.load_cancel": loadCancel,
  "host.load_done": loadDone,
  "host.evict": hostEvict,
  "net.send": netSend,
  "net.receive": netReceive,
  "net.publish": netPublish,
  "net.stall": netStall,
  "net.end": netEnd,
  "tree.match": treeMatch,
  "tree.insert": treeInsert,
  "tree.lock": treeLock,
  "tree.unlock": treeUnlock,
  "tree.evict": treeEvict,
  "admit.pass": admitPass,
  "ask.max_new_tokens": askMaxNewTokens,
  "ask.estimates": askEstimates,
  "arena.resize": arenaResize,
  "stages.install": stagesInstall,
  "stages.digest": stagesDigest,
  "contents.discard": contentsDiscard,
  "event.fire": () => ({}), // a physical hint to one rank
  "forward.launch": launch,
  "forward.record": record,
  "forward.barrier": barrier,
  "forward.process": process,
  "chain.flush": chainFlush,
  "chain.relieve": chainRelieve,
  "ask.plan": askPlan,
  "ask.fits": askFits,
  "ask.fits_after_frees": askFitsAfterFrees,
  "ask.prealloc": askPrealloc,
  "ask.translate": askTranslate,
  "check.idle": checkIdle,
};

/** The operations it answers. @internal */
export const REFERENCE_OPERATIONS: readonly KvOperationName[] = [
  "boot",
  ...(Object.keys(HANDLERS) as KvOperationName[]), // the keys of a table by operation
];

/** One run of the second allocator. @internal */
export class Reference {
  readonly #config: DirectConfig | Derived | Refusal;
  readonly #depth: DigestDepth | null;
  #world: World | null = null;
  #digests = new Map<string, string>();

  /** Throws `CandidateError` for a model form that is not supported. */
  constructor(config: RunConfig, depth: DigestDepth | null) {
    this.#config = "model" in config ? derivedOrRefusal(config) : config;
    this.#depth = depth;
  }

  /** Carries out one operation. Throws where the allocator itself is broken. */
  apply(operation: KvOperation): Answer {
    let world: World | null = null;
    try {
      world = operation.op === "boot" ? this.#boot() : this.#copy();
      world.clock += 1;
      const answered = operation.op === "boot" ? this.#bootAnswer(world) : handle(world, operation);
      const ok = answered === null ? null : { ...answered, ...endedPart(world) };
      if (ok === null) return { err: { code: "unsupported", message: operation.op } };
      tidyUp(world);
      const broken = world.bands.find((band) => !isConserved(band));
      if (broken !== undefined) throw new Error(`pages of ${broken.name} are not conserved`);
      const fx = world.fx;
      world.fx = [];
      this.#world = world;
      return { ok, ...(fx.length > 0 ? { fx } : {}), ...this.#changedDigests(world) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (this.#world !== null && world !== null) this.#world.asked = world.asked;
      return { err: error.refused };
    }
  }

  /** The full state; null before boot. */
  state(): State | null {
    return this.#world === null ? null : stateOf(this.#world);
  }

  /** The digest of the end; null without digests. */
  endDigest(): string | null {
    if (this.#world === null || this.#depth === null) return null;
    return foldedDigest(this.#world, this.#depth);
  }

  #boot(): World {
    const config = this.#config;
    if (config instanceof Refusal) throw config;
    return bootWorld("targets" in config ? config.config : config);
  }

  #bootAnswer(world: World): KvOk["boot"] {
    const config = this.#config;
    const answer = bootAnswer(world);
    if (!("targets" in config)) return answer;
    return { ...answer, targets: config.targets, notices: config.notices };
  }

  #copy(): World {
    if (this.#world === null) throw new Error("an operation before a granted boot");
    return deepCopy(this.#world);
  }

  #changedDigests(world: World): { digest?: Digests } {
    if (this.#depth === null) return {};
    const digests = componentDigests(world, this.#depth);
    const changed = [...digests].filter(([name, hash]) => this.#digests.get(name) !== hash);
    this.#digests = digests;
    return changed.length === 0 ? {} : { digest: Object.fromEntries(changed) };
  }
}

// Null: an operation that is not answered here.
function handle(world: World, operation: KvOperation): NonNullable<Answer["ok"]> | null {
  const handler = HANDLERS[operation.op] as
    ((world: World, args: KvOperation["args"]) => NonNullable<Answer["ok"]>) | undefined; // table and operation agree on the kind
  return handler === undefined ? null : handler(world, operation.args);
}

function derivedOrRefusal(config: ModelConfig): Derived | Refusal {
  try {
    return derive(config);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
