// What must be open for an operation to be granted.
import type { KvOperationName } from "../../base/operations.js";
import type { Books } from "./books.js";
import type { RowBook } from "./row-book.js";

/** The open request of this name, or a finding. @internal */
export function openRow(books: Books, req: string): RowBook | null {
  const row = books.rows.get(req);
  if (row === undefined) {
    books.report("contract.name", `${books.op} is granted for ${req}, which is not open`, {
      actors: [req],
      component: "rows",
    });
    return null;
  }
  return row;
}

// Operations that take, free or move pages: none of them stands between a launch and its record.
const BETWEEN_IS_FORBIDDEN: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "state.alloc",
  "state.free",
  "state.donate",
  "tokens.extend",
  "tokens.decode",
  "tokens.free",
  "group.end",
  "window.retire",
  "request.finish",
  "request.retract",
  "request.restore",
  "chain.flush",
  "chain.relieve",
  "host.load_reserve",
  "host.load_cancel",
  "net.receive",
  "tree.insert",
  "tree.evict",
  "contents.discard",
]);

/** @internal */
export function checkBetween(books: Books, op: KvOperationName): void {
  if (!books.recordsForwards || !BETWEEN_IS_FORBIDDEN.has(op)) return;
  const open = books.uses.forwards.find((forward) => !forward.isPrebuilt && !forward.isRecorded);
  if (open !== undefined)
    books.report(
      "contract.launch",
      `${op} is granted while ${open.name} is launched and not recorded`,
      { actors: [open.name], component: "forwards" },
    );
}
