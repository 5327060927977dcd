// What the seeded workload knows of the prefix tree: places that matches and inserts have shown, and locks. An eviction
// may take whatever nothing locks, so after one only what is locked is still known.
import type { Answer, DirectConfig, Key, Operation } from "../base/operations.js";
import { commonTokens, cutKey, keyTokens, lengthenKey } from "./seeded-keys.js";
import { type ModelRequest, protectRow } from "./seeded-rows.js";

/** What the tree's books need of the model that they are part of. @internal */
export interface TreeOwner {
  readonly config: DirectConfig;
  readonly pageSize: number; // tokens
  readonly state: string | null;
  readonly requests: ReadonlyMap<string, ModelRequest>;
}

/** The end of a path: the first `len` tokens of a key, whole pages. @internal */
export interface TreePlace {
  readonly key: Key; // of exactly `len` tokens
  readonly len: number; // tokens, above 0
}
/** One lock that a holder took by name. @internal */
export interface HeldLock {
  readonly key: Key;
  readonly len: number; // tokens
  readonly req: string;
}

const PLACES_MOST = 24; // of each kind; the oldest is forgotten

/** @internal */
export class TreeBooks {
  readonly #model: TreeOwner;
  /** Paths that are on the device. */
  places: TreePlace[] = [];
  /** Nodes that have a state on the device. */
  states: TreePlace[] = [];
  /** Paths that are whole on device and host together, and longer so than on the device alone. */
  loadable: TreePlace[] = [];
  readonly locks: HeldLock[] = [];
  isUsed = false; // whether anything was put into the tree since it was last discarded

  constructor(model: TreeOwner) {
    this.#model = model;
  }

  /** How much of a key is known to be on the device, in tokens. */
  knownTokens(key: Key): number {
    let known = 0;
    for (const place of this.places) known = Math.max(known, commonTokens(place.key, key));
    return known - (known % this.#model.pageSize);
  }

  /** The node at `len` tokens of a key, where it is known to have a state. */
  stateAt(key: Key, len: number): TreePlace | null {
    const known = this.states.find(
      (place) => place.len === len && commonTokens(place.key, key) >= len,
    );
    return known ?? null;
  }

  /** Notes a path on the device, as far as whole pages go. */
  note(key: Key, tokens: number): void {
    addPlace(this.places, key, tokens - (tokens % this.#model.pageSize));
  }

  learn(operation: Operation, answer: Answer): void {
    switch (operation.op) {
      case "tree.match": {
        // what a granted match answers
        const ok = answer.ok as NonNullable<Answer<"tree.match">["ok"]>;
        this.#learnMatch(operation.args.key, operation.args.req, ok);
        break;
      }
      case "tree.insert":
        this.#learnInsert(operation.args.req, operation.args.key, operation.args.len);
        break;
      case "request.finish":
        if (operation.args.insert) this.#learnFinish(operation.args);
        this.#dropLocks(operation.args.req);
        break;
      case "request.retract":
        this.#dropLocks(operation.args.req);
        // Its copy may have made room on the host.
        if (operation.args.backup !== undefined) this.loadable = [];
        break;
      case "state.donate": {
        const request = this.#model.requests.get(operation.args.req);
        if (request === undefined || request.key === null) break;
        addPlace(this.states, cutKey(request.key, operation.args.len), operation.args.len);
        request.tracked = null;
        break;
      }
      case "tree.lock":
        this.locks.push(operation.args);
        break;
      case "tree.unlock":
        this.#unlock(operation.args);
        break;
      default:
        this.#learnEvictions(operation);
    }
  }

  #learnEvictions(operation: Operation): void {
    switch (operation.op) {
      case "tree.evict":
        this.#keepLocked();
        this.loadable = [];
        break;
      case "contents.discard":
        this.places = [];
        this.states = [];
        this.loadable = [];
        this.isUsed = false;
        break;
      default:
        // Any of them may take, add or lock host copies.
        if (operation.op.startsWith("host.")) this.loadable = [];
    }
  }

  #learnMatch(
    key: Key,
    req: string | undefined,
    ok: NonNullable<Answer<"tree.match">["ok"]>,
  ): void {
    const { state, config, requests } = this.#model;
    const onDevice = ok.slots["full"] ?? 0;
    if (onDevice > 0) this.note(key, onDevice);
    const withState = state === null ? 0 : (ok.slots[state] ?? 0);
    if (withState > 0) addPlace(this.states, key, withState);
    // Every slot reaches the same length with the host's help: a load can bring that much back.
    const reach = Object.values(ok.host);
    const whole = Math.min(...reach);
    if (whole > ok.len && reach.every((len) => len === whole)) addPlace(this.loadable, key, whole);
    const request = req === undefined ? undefined : requests.get(req);
    if (request === undefined) return;
    request.key = lengthenKey(key, config.row_tokens);
    request.allocated = ok.len;
    protectRow(request, ok.len);
  }

  #learnInsert(req: string, key: Key, len: number): void {
    this.note(key, len);
    this.isUsed = true;
    const request = this.#model.requests.get(req);
    if (request === undefined) return;
    request.key ??= lengthenKey(key, this.#model.config.row_tokens);
    protectRow(request, len - (len % request.pageSize));
  }

  #learnFinish({ req, len, key }: { req: string; len: number; key?: Key }): void {
    const { config, requests, pageSize } = this.#model;
    const request = requests.get(req);
    const strategy = config.checkpoint?.strategy;
    const isTracking = strategy !== undefined && strategy !== "no_buffer";
    const inserted = isTracking ? (request?.tracked ?? null) : len;
    if (key === undefined) return;
    this.isUsed = true;
    // A state that was tracked beyond `len` does not go, and nothing does without one.
    if (inserted === null || inserted > len) return;
    this.note(key, inserted);
    const hasState =
      isTracking || (strategy === "no_buffer" && request?.slots.has("main") === true);
    if (hasState && inserted % pageSize === 0) addPlace(this.states, key, inserted);
  }

  #unlock({ key, len, req }: HeldLock): void {
    const index = this.locks.findIndex(
      (lock) => lock.req === req && lock.len === len && commonTokens(lock.key, key) >= len,
    );
    if (index >= 0) this.locks.splice(index, 1);
  }

  /** A request that closes loses every lock under its name. */
  #dropLocks(req: string): void {
    for (let index = this.locks.length - 1; index >= 0; index--) {
      if (this.locks[index]?.req === req) this.locks.splice(index, 1);
    }
  }

  /** Forgets what an eviction may have taken. */
  #keepLocked(): void {
    this.places = [];
    this.states = [];
    for (const { key, len } of this.locks) this.note(key, len);
    for (const request of this.#model.requests.values()) {
      if (request.key !== null && request.protected > 0) this.note(request.key, request.protected);
    }
  }
}

function addPlace(places: TreePlace[], key: Key, len: number): void {
  if (len <= 0 || keyTokens(key) < len) return;
  const place = { key: cutKey(key, len), len };
  const text = JSON.stringify(place);
  if (places.some((known) => JSON.stringify(known) === text)) return;
  places.push(place);
  if (places.length > PLACES_MOST) places.shift();
}
