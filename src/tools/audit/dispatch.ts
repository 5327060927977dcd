// Which part of the audit follows which operation.
import type { Answer, KvArgs, KvOk, KvOperationName, OperationOf } from "../../base/operations.js";
import { checkPass } from "./admission.js";
import type { Books } from "./books.js";
import type { Shown } from "./effects.js";
import * as forwards from "./operations-forwards.js";
import * as host from "./operations-host.js";
import * as net from "./operations-net.js";
import * as requests from "./operations-requests.js";
import * as rows from "./operations-rows.js";
import * as tree from "./operations-tree.js";
import * as whole from "./operations-whole.js";

type Handler<K extends KvOperationName> = (
  books: Books,
  args: KvArgs[K],
  ok: KvOk[K],
  shown: Shown,
) => void;

const NOTHING = (): void => undefined;

const HANDLERS: { readonly [K in KvOperationName]: Handler<K> } = {
  boot: NOTHING, // follows from the configuration, checked when the run begins
  "arena.resize": (books, args, ok) => whole.resize(books, args, ok),
  "row.alloc": (books, args, ok) => rows.rowAlloc(books, args, ok),
  "row.free": (books, args) => rows.rowFree(books, args),
  "state.alloc": rows.stateAlloc,
  "state.free": (books, args, ok) => rows.stateFree(books, args, ok),
  "state.copy": (books, args, _ok, shown) => rows.stateCopy(books, args, shown),
  "state.donate": tree.stateDonate,
  "tokens.extend": (books, { batch }, ok, shown) => rows.extend(books, batch, ok, shown),
  "tokens.decode": (books, { batch }, ok, shown) => {
    const entries = batch.map(({ req, len }) => ({ req, from: len - 1, to: len }));
    rows.extend(books, entries, ok, shown);
  },
  "tokens.free": (books, args, ok) => rows.tokensFree(books, args, ok),
  "group.begin": (books) => whole.groupBegin(books),
  "group.end": (books, _args, ok) => whole.groupEnd(books, ok),
  "window.retire": (books, args, ok) => rows.windowRetire(books, args, ok),
  "request.finish": (books, args, ok) => requests.finish(books, args, ok),
  "request.retract": requests.retract,
  "request.restore": requests.restore,
  "forward.launch": forwards.launch,
  "forward.record": (books, args, _ok, shown) => forwards.record(books, args, shown),
  "forward.barrier": (books, args, _ok, shown) => forwards.barrier(books, args, shown),
  "forward.process": (books, args, ok) => forwards.process(books, args, ok),
  "event.fire": NOTHING, // a hint to one rank
  "chain.flush": (books, _args, ok, shown) => whole.flush(books, ok, shown),
  "chain.relieve": (books, _args, ok, shown) => whole.relieve(books, ok, shown),
  "host.backup": host.backup,
  "host.backup_done": (books, args) => host.backupDone(books, args),
  "host.load_reserve": host.loadReserve,
  "host.load_bind": (books, args, ok) => host.loadBind(books, args, ok),
  "host.load_submit": host.loadSubmit,
  "host.load_cancel": (books, args, ok) => host.loadCancel(books, args, ok),
  "host.load_done": (books, args, ok) => host.loadDone(books, args, ok),
  "host.evict": NOTHING, // which host pages are cached, no answer tells
  "net.send": net.send,
  "net.receive": net.receive,
  "net.publish": net.publish,
  "net.stall": NOTHING,
  "net.end": (books, args, ok) => net.end(books, args, ok),
  "tree.match": (books, args, ok) => tree.treeMatch(books, args, ok),
  "tree.insert": (books, args, ok) => tree.treeInsert(books, args, ok),
  "tree.lock": (books, args) => tree.treeLock(books, args),
  "tree.unlock": (books, args) => tree.treeUnlock(books, args),
  "tree.evict": (books, _args, ok) => tree.treeEvict(books, ok),
  "admit.pass": (books, args, ok) => checkPass(books, args, ok),
  "ask.plan": NOTHING,
  "ask.fits": NOTHING,
  "ask.fits_after_frees": NOTHING,
  "ask.prealloc": NOTHING,
  "ask.max_new_tokens": NOTHING,
  "ask.translate": (books, args, ok) => whole.translate(books, args, ok),
  "ask.estimates": NOTHING,
  "stages.install": (books, args) => whole.installStages(books, args),
  "stages.digest": NOTHING,
  "contents.discard": (books, _args, ok) => tree.discard(books, ok),
  "check.idle": (books, _args, ok) => whole.checkIdle(books, ok),
};

/** Follows a granted operation. @internal */
export function followAnswer<K extends KvOperationName>(
  books: Books,
  operation: OperationOf<K>,
  answer: Answer,
  shown: Shown,
): void {
  const ok = answer.ok as KvOk[K]; // the answer of this operation, a grant
  HANDLERS[operation.op](books, operation.args, ok, shown);
}
