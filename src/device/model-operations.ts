// What each operation means to the simulated device beside its effects: one entry an operation, so that a new operation
// does not compile until somebody has said what it does here.
import type { Effect } from "../base/effects.js";
import { expand } from "../base/extents.js";
import type {
  Answer,
  EndedTransfers,
  Extents,
  KvArgs,
  KvOk,
  KvOperationName,
  OperationOf,
} from "../base/operations.js";
import { fail } from "./model-fault.js";
import { backUp, backupDone, beforeBackup, evictHost, retract } from "./model-backups.js";
import { discard, evict } from "./model-evictions.js";
import { checkReleased, closeEmpty, freeSlots, freeTokens, retireWindows } from "./model-frees.js";
import { settleEnded } from "./model-give-back.js";
import { beginGroup, endGroup } from "./model-groups.js";
import {
  beforeDone,
  beforeSubmit,
  bindLoad,
  cancel,
  done,
  reserve,
  submit,
} from "./model-loading.js";
import { lockPath, unlockPath } from "./model-locks.js";
import type { ModelRun } from "./model-run.js";
import { beforeReceive, beforeSend, end, publish, receive, send } from "./model-network.js";
import { restore } from "./model-restoring.js";
import { finish, insert, match } from "./model-sharing.js";
import { checkCopy, donate } from "./model-states.js";
import { bindSlots, bindTokens, markHandedOut } from "./model-takes.js";

/** What to do for one granted operation; a missing part does nothing. */
interface Handling<K extends KvOperationName> {
  /** Before the first effect. */
  readonly before?: Step<K>;
  /** After the last effect: row writes, binds and unbinds. */
  readonly after?: Step<K>;
}
type Step<K extends KvOperationName> = (
  run: ModelRun,
  args: KvArgs[K],
  ok: KvOk[K],
  effects: readonly Effect[],
) => void;

/** Leaves binds and rows alone. */
const NOTHING = {} as const;
/** Has no effects and leaves everything alone. */
const QUESTION = {
  before: (_run: ModelRun, _args: unknown, _ok: unknown, effects: readonly Effect[]): void => {
    if (effects.length > 0) fail("bad_effect", `a question has a ${effects[0]![0]} effect`); // not empty
  },
};
const HANDLING: { readonly [K in KvOperationName]: Handling<K> } = {
  boot: NOTHING,
  "arena.resize": { before: (run, _args, ok) => run.resize(ok) },
  "row.alloc": { after: openRows },
  "row.free": { after: (run, args) => closeEmpty(run, args.req) },
  "state.alloc": { after: bindSlots },
  "state.free": { after: freeSlots },
  "state.copy": { before: checkCopy },
  "state.donate": { after: donate },
  "tokens.extend": {
    before: (run, _args, ok) => markHandedOut(run, ok.pages),
    after: (run, args, ok) => bindTokens(run, args.batch, ok.pages),
  },
  "tokens.decode": {
    before: (run, _args, ok) => markHandedOut(run, ok.pages),
    after: (run, args, ok) => {
      const growths = args.batch.map(({ req, len }) => ({ req, from: len - 1, to: len }));
      bindTokens(run, growths, ok.pages);
    },
  },
  "tokens.free": { after: freeTokens },
  "group.begin": { after: beginGroup },
  "group.end": { after: (run, _args, ok) => endGroup(run, ok) },
  "window.retire": { after: retireWindows },
  "request.finish": { after: finish },
  "request.retract": { after: retract },
  "request.restore": { after: restore },
  "forward.launch": { after: checkLaunch },
  "forward.record": { after: checkRecord },
  "forward.barrier": NOTHING,
  "forward.process": {
    before: (run, args) => run.forwards.process(args.step), // the host has seen its end
    after: (run, _args, ok) => checkReleased(run, ok.released),
  },
  "event.fire": NOTHING, // a forward that ended early is still treated as late
  "chain.flush": { after: checkFlush },
  "chain.relieve": NOTHING,
  "host.backup": { before: beforeBackup, after: backUp },
  "host.backup_done": { after: backupDone },
  "host.load_reserve": { after: reserve },
  "host.load_bind": { after: bindLoad },
  "host.load_submit": { before: beforeSubmit, after: submit },
  "host.load_cancel": { after: cancel },
  "host.load_done": { before: beforeDone, after: done },
  "host.evict": { after: (run, _args, ok) => evictHost(run, ok) },
  "net.send": { before: beforeSend, after: send },
  "net.receive": { before: beforeReceive, after: receive },
  "net.publish": { after: publish },
  "net.stall": {
    after: (run, args) => {
      run.transfers.require(args.transfer).isStalled = true;
    },
  },
  "net.end": { after: end },
  "tree.match": { after: match },
  "tree.insert": { after: insert },
  "tree.lock": { after: lockPath },
  "tree.unlock": { after: unlockPath },
  "tree.evict": { after: (run, _args, ok) => evict(run, ok) },
  "admit.pass": QUESTION,
  "ask.plan": QUESTION,
  "ask.fits": QUESTION,
  "ask.fits_after_frees": QUESTION,
  "ask.prealloc": QUESTION,
  "ask.max_new_tokens": QUESTION,
  "ask.translate": QUESTION,
  "ask.estimates": QUESTION,
  "stages.install": {
    after: (run) => {
      run.staged = true;
    },
  },
  "stages.digest": QUESTION,
  "contents.discard": { after: (run, _args, ok) => discard(run, ok) },
  "check.idle": QUESTION,
};

/** Does what a granted operation needs before its effects. @internal */
export function before<K extends KvOperationName>(
  run: ModelRun,
  operation: OperationOf<K>,
  answer: Answer,
): void {
  const ok = answer.ok as KvOk[K]; // the caller answers this operation, with a grant
  HANDLING[operation.op].before?.(run, operation.args, ok, answer.fx ?? []);
}

/** Does what a granted operation needs after its effects. @internal */
export function after<K extends KvOperationName>(
  run: ModelRun,
  operation: OperationOf<K>,
  answer: Answer,
): void {
  const ok = answer.ok as KvOk[K]; // as above
  HANDLING[operation.op].after?.(run, operation.args, ok, answer.fx ?? []);
  const { ended } = ok as { readonly ended?: EndedTransfers }; // of those answers that may have it
  settleEnded(run, ended);
  const stray = run.transfers.takeStarted() ?? run.copies.takeStarted()?.use ?? null;
  if (stray !== null) fail("bad_effect", `${operation.op} starts ${stray.name}`);
}

function openRows(run: ModelRun, args: KvArgs["row.alloc"], ok: KvOk["row.alloc"]): void {
  for (const req of args.reqs) {
    const row = ok.rows[req];
    if (row === undefined) fail("bad_effect", `the answer gives ${req} no row`);
    run.rows.add(req, row);
  }
}

function checkLaunch(
  run: ModelRun,
  args: KvArgs["forward.launch"],
  ok: KvOk["forward.launch"],
  effects: readonly Effect[],
): void {
  const { step, mode } = args;
  const launched = effects.filter((effect) => effect[0] === "forward").length;
  const expected = mode === "prebuilt" ? 0 : 1;
  if (launched !== expected)
    fail("bad_effect", `launch of ${step} (${mode}) with ${launched} forward effects`);
  if (mode === "prebuilt") run.forwards.launchPrebuilt(step, args.batch);
  const resets = effects.flatMap((effect) => (effect[0] === "reset" ? expand(effect[1]) : []));
  if (!sameIds(resets, ok.resets))
    fail("bad_effect", `launch of ${step} answers other resets than its effects carry out`);
}

function sameIds(ids: readonly number[], extents: Extents): boolean {
  const others = expand(extents);
  return ids.length === others.length && ids.every((id, index) => id === others[index]);
}

function checkRecord(
  run: ModelRun,
  args: KvArgs["forward.record"],
  _ok: KvOk["forward.record"],
  effects: readonly Effect[],
): void {
  const events = effects.filter((effect) => effect[0] === "event").length;
  const expected = run.recordsForwards ? 1 : 0;
  if (events !== expected)
    fail("bad_effect", `recording of ${args.step} with ${events} event effects, not ${expected}`);
}

function checkFlush(
  run: ModelRun,
  _args: KvArgs["chain.flush"],
  ok: KvOk["chain.flush"],
  effects: readonly Effect[],
): void {
  for (const band of run.arena.bands) {
    const moved = effects.flatMap((effect) =>
      effect[0] === "move" && effect[1] === band.name ? effect[2] : [],
    );
    const answered = ok[band.name]?.moves ?? [];
    for (let index = 0; index < Math.max(moved.length, answered.length); index++) {
      const [did, said] = [moved[index]?.join(" to "), answered[index]?.join(" to ")];
      if (did === said) continue;
      const sides = `the answer says ${said ?? "none"}, the effects ${did ?? "none"}`;
      fail("bad_effect", `move ${index} in ${band.name}: ${sides}`, band.name);
    }
  }
}
