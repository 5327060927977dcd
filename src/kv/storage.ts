// KVStorage: the one facade of the allocator. An operation goes in, its answer with the effects comes out.
import { assert } from "../base/assert.js";
import { InputError, InternalError } from "../base/errors.js";
import type {
  Answer,
  BootOk,
  DigestDepth,
  Digests,
  DirectConfig,
  KvArgs,
  KvOperation,
  KvOperationName,
  OperationError,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";
import { deriveConfig, isModelConfig } from "./build.js";
import { chainConfig, planRefusal } from "./config.js";
import { type DigestParts, KvCore } from "./core.js";
import { DeviceTables } from "./device-tables.js";
import { tooLarge } from "./memory/geometry.js";
import { ComponentDigests, type ContentsOf } from "./digests.js";
import { arenaResize, boot } from "./operations/arena.js";
import { admitPass, askEstimates, askMaxNewTokens } from "./operations/admission.js";
import {
  askFits,
  askFitsAfterFrees,
  askPlan,
  askPrealloc,
  askTranslate,
} from "./operations/asks.js";
import { stateDonate } from "./operations/checkpoints.js";
import { chainFlush, chainRelieve } from "./operations/chain-ops.js";
import {
  eventFire,
  forwardBarrier,
  forwardLaunch,
  forwardProcess,
  forwardRecord,
} from "./operations/forwards.js";
import {
  groupBegin,
  groupEnd,
  requestFinish,
  requestRetract,
  tokensFree,
  windowRetire,
} from "./operations/frees.js";
import {
  hostBackup,
  hostBackupDone,
  hostEvict,
  hostLoadBind,
  hostLoadCancel,
  hostLoadDone,
  hostLoadReserve,
  hostLoadSubmit,
  requestRestore,
} from "./operations/host.js";
import { checkIdle } from "./operations/idle.js";
import { checkLengths } from "./operations/lengths.js";
import { netEnd, netPublish, netReceive, netSend, netStall } from "./operations/net.js";
import { rowAlloc, rowFree } from "./operations/rows.js";
import { stagesDigest, stagesInstall } from "./operations/stages.js";
import { stateAlloc, stateCopy, stateFree } from "./operations/states.js";
import { tokensDecode, tokensExtend } from "./operations/tokens.js";
import { contentsDiscard, treeEvict } from "./operations/tree-evict.js";
import { treeInsert, treeLock, treeMatch, treeUnlock } from "./operations/tree.js";
import { arenaBytesOf, loadState, stateOf } from "./state-io.js";

type Handler<K extends KvOperationName> = (core: KvCore, args: KvArgs[K]) => Answer<K>;
type Handlers = { readonly [K in KvOperationName]: Handler<K> | null };

// null: not answered yet. A kind without an entry fails at type-check.
const HANDLERS: Handlers = {
  boot: boot,
  "arena.resize": arenaResize,
  "row.alloc": rowAlloc,
  "row.free": rowFree,
  "state.alloc": stateAlloc,
  "state.free": stateFree,
  "state.copy": stateCopy,
  "state.donate": stateDonate,
  "tokens.extend": tokensExtend,
  "tokens.decode": tokensDecode,
  "tokens.free": tokensFree,
  "group.begin": groupBegin,
  "group.end": groupEnd,
  "window.retire": windowRetire,
  "request.finish": requestFinish,
  "request.retract": requestRetract,
  "request.restore": requestRestore,
  "forward.launch": forwardLaunch,
  "forward.record": forwardRecord,
  "forward.barrier": forwardBarrier,
  "forward.process": forwardProcess,
  "event.fire": eventFire,
  "chain.flush": chainFlush,
  "chain.relieve": chainRelieve,
  "host.backup": hostBackup,
  "host.backup_done": hostBackupDone,
  "host.load_reserve": hostLoadReserve,
  "host.load_bind": hostLoadBind,
  "host.load_submit": hostLoadSubmit,
  "host.load_cancel": hostLoadCancel,
  "host.load_done": hostLoadDone,
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
  "ask.plan": askPlan,
  "ask.fits": askFits,
  "ask.fits_after_frees": askFitsAfterFrees,
  "ask.prealloc": askPrealloc,
  "ask.max_new_tokens": askMaxNewTokens,
  "ask.translate": askTranslate,
  "ask.estimates": askEstimates,
  "stages.install": stagesInstall,
  "stages.digest": stagesDigest,
  "contents.discard": contentsDiscard,
  "check.idle": checkIdle,
};

/** Operation kinds that this allocator answers. @public */
export const KV_OPERATIONS: readonly KvOperationName[] = (
  Object.keys(HANDLERS) as KvOperationName[]
).filter((name) => HANDLERS[name] !== null);

/** @public */
export interface StorageOptions {
  /** How much of the content the digests cover; null keeps none. */
  readonly digestDepth: DigestDepth | null;
}

/** The pages of one band by what they are; a page of the span is one of the four. @public */
export interface BandCounts {
  readonly name: string;
  readonly grow: "up" | "down" | "float";
  readonly pageBytes: number;
  readonly pages: number; // of the grid
  readonly firstPage: number; // first usable one
  readonly spanFirst: number; // page
  readonly spanPages: number;
  readonly live: number;
  readonly holes: number;
  readonly pending: number;
  readonly vacated: number;
}

/**
 * One run of the allocator over one arena. Pure: no clock, no randomness, no I/O, no device. A refusal (`err`) and a
 * question change nothing. Cost of an operation follows what it changes, not the number of pages. @public
 */
export class KVStorage {
  /** The direct form that runs: the configuration itself, or what the model form derives; null where boot refuses. */
  readonly direct: DirectConfig | null;
  readonly #refusal: OperationError | null; // what boot answers instead of a geometry
  readonly #planned: Pick<BootOk, "targets" | "notices">; // model form only
  readonly #depth: DigestDepth | null;
  #core: KvCore | null; // null: refused at boot
  readonly #digests: ComponentDigests | null;
  #clock = 0; // operations so far

  /** Throws `InputError` (`config`) where a model form lacks a field or has a wrong one. */
  constructor(config: RunConfig, options: StorageOptions) {
    const planned = plannedConfig(config);
    this.direct = planned.direct;
    this.#refusal = planned.refusal;
    this.#planned = planned.boot;
    this.#depth = options.digestDepth;
    const parts = {
      layout: options.digestDepth === "layout" || options.digestDepth === "deep",
      deep: options.digestDepth === "deep",
    };
    this.#core = this.direct === null ? null : makeCore(this.direct, parts);
    this.#digests =
      this.#core === null || options.digestDepth === null
        ? null
        : new ComponentDigests(this.#core, parts);
  }

  /** Answers one operation; `boot` comes first. The answer carries the effects, not the digest. */
  apply(operation: KvOperation): Answer {
    const core = this.#core;
    if (core === null) return { err: this.#refusal ?? { code: "refused_plan" } };
    const handler = HANDLERS[operation.op] as Handler<KvOperationName> | null;
    if (handler === null) return unsupported(`operation ${operation.op}`);
    core.chain.steps.clock = this.#clock;
    this.#clock += 1;
    const answer = handler(core, operation.args);
    if (operation.op === "arena.resize" && answer.ok !== undefined)
      this.#resize(core, operation.args.arena_bytes);
    if (operation.op === "boot") Object.assign(answer.ok ?? {}, this.#planned);
    if (operation.op === "forward.process" && core.config.checkLengths) checkLengths(core);
    core.chain.endOperation();
    const fx = core.chain.scope.take();
    // The handler made the answer for this call alone.
    if (fx.length > 0) (answer as { fx?: Answer["fx"] }).fx = fx;
    const told = core.chain.invariants.takeTold();
    if (told !== null) (answer as { message?: string }).message = told;
    return answer;
  }

  /** Component digests that changed since the last call, or undefined. `contents` adds live bytes at depth `deep`. */
  takeDigest(contents?: ContentsOf): Digests | undefined {
    return this.#digests?.takeChanged(contents);
  }

  /** The digest of the `end` line, null where none are kept. */
  endDigest(contents?: ContentsOf): string | null {
    return this.#digests?.fold(contents) ?? null;
  }

  /** How often decisions of the run so far reached each `clearance/CONSUMER/HAZARD` and `relief/STEP`. */
  reached(): ReadonlyMap<string, number> {
    return this.#core?.chain.counts.counts ?? new Map();
  }

  /** What lies in device memory beside the pages, as the run stands: a view that the next operation changes. */
  tables(): DeviceTables {
    return new DeviceTables(this.#running());
  }

  /** Pages by band in chain order: no list of them, so that it costs as much as there are bands. */
  bandCounts(): readonly BandCounts[] {
    const core = this.#core;
    if (core === null) return [];
    return core.chain.bands.map((band) => ({
      name: band.plan.name,
      grow: band.plan.grow,
      pageBytes: band.plan.page_bytes,
      pages: band.plan.pages,
      firstPage: band.plan.first_page,
      spanFirst: band.spanFirst,
      spanPages: band.spanCount,
      live: band.live,
      holes: band.holes.length,
      pending: band.pendingPages,
      vacated: band.vacated.length,
    }));
  }

  /** The full state, every component. */
  state(): State {
    return stateOf(this.#running());
  }

  /** Goes on from a state that `state` gave for the same configuration. Only for a storage that has done nothing yet. */
  load(state: State): void {
    const core = this.#running();
    const arenaBytes = arenaBytesOf(state) ?? core.config.arenaBytes;
    if (arenaBytes !== core.config.arenaBytes) {
      const isSize = Number.isSafeInteger(arenaBytes) && arenaBytes > 0;
      assert(isSize && tooLarge({ ...core.config, arenaBytes }) === null, "state.arena_fits");
      this.#resize(core, arenaBytes);
    }
    this.#clock = loadState(this.#running(), state);
  }

  /** An independent copy: truth is tried on it. */
  clone(): KVStorage {
    const copy = new KVStorage(this.#running().source, { digestDepth: this.#depth });
    copy.load(this.state());
    return copy;
  }

  #resize(core: KvCore, arenaBytes: number): void {
    this.#core = core.resized(arenaBytes);
    this.#digests?.follow(this.#core);
  }

  #running(): KvCore {
    if (this.#core === null)
      throw new InternalError("this configuration has no storage: it was refused at boot");
    return this.#core;
  }
}

function makeCore(direct: DirectConfig, parts: DigestParts): KvCore {
  const config = chainConfig(direct);
  const problem = tooLarge(config, direct.host);
  if (problem !== null) throw new InputError("config", problem);
  return new KvCore(direct, config, parts);
}

interface PlannedConfig {
  readonly direct: DirectConfig | null;
  readonly refusal: OperationError | null;
  readonly boot: Pick<BootOk, "targets" | "notices">;
}

/** The direct form of a configuration, or why it is refused at boot. */
function plannedConfig(config: RunConfig): PlannedConfig {
  if (!isModelConfig(config)) {
    const refusal = planRefusal(config);
    if (refusal === null) return { direct: config, refusal: null, boot: {} };
    return { direct: null, refusal: { code: "refused_plan", ...refusal }, boot: {} };
  }
  const derived = deriveConfig(config);
  if ("refusal" in derived) return { direct: null, refusal: derived.refusal, boot: {} };
  const { targets, notices } = derived;
  return { direct: derived.derived, refusal: null, boot: { targets, notices } };
}

function unsupported(what: string): Answer {
  return { err: { code: "unsupported", message: `${what} is not answered by this allocator` } };
}
