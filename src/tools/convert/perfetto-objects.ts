// What lives from one operation to another: requests on the lane of their row; forwards, copies, loads and transfers as
// slices that may overlap, with arrows between the operations that speak of them.
import type { OpLine } from "../../trace/lines.js";
import { namesOf } from "../../trace/open-names.js";
import type { Operation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { EventArgs, EventWriter, FlowPart } from "./perfetto-events.js";

interface OpenRequest {
  readonly row: number;
  readonly from: number; // operation
}
interface OpenObject {
  readonly what: string; // the slice's name
  readonly id: number;
  readonly flow: number;
  readonly writers: Set<string>; // of a transfer: those that have yet to end
}

type Fields = Readonly<Record<string, unknown>>;

const ROWS_ORDER = 10; // lanes of rows stand below that of operations
const KINDS: ReadonlySet<string> = new Set(["forward", "copy", "load", "transfer"]);

/** Follows the objects of one run. @internal */
export class ObjectFollower {
  readonly #events: EventWriter;
  readonly #pid: number;
  readonly #rows = new Map<number, number>(); // lanes
  readonly #requests = new Map<string, OpenRequest>();
  readonly #objects = new Map<string, OpenObject>();
  #last: number;

  constructor(events: EventWriter, pid: number, first: number) {
    this.#events = events;
    this.#pid = pid;
    this.#last = first;
  }

  get openRequests(): number {
    return this.#requests.size;
  }

  /** Follows a granted operation; gives its part in an arrow. */
  follow(line: OpLine): FlowPart | null {
    const { n, op } = line;
    this.#last = n + 1;
    const args = line.args as Fields;
    const ok = line.ok as Fields;
    this.#rowsGiven(n, ok);
    const flow = this.#objectsOf(line, args);
    for (const name of endedBy(ok)) this.#close(name, n, { by: op });
    if (op === "request.finish" || op === "request.retract" || op === "row.free")
      this.#leave(args["req"] as string, n + 1, { ended: op }); // of these three
    return flow;
  }

  /** Requests that a state holds. */
  at(n: number, state: State): void {
    for (const [req, { row }] of Object.entries(state.rows))
      if (!this.#requests.has(req)) this.#requests.set(req, { row, from: n });
  }

  /** The run is over: what is open ends with it. */
  end(): void {
    for (const req of [...this.#requests.keys()]) this.#leave(req, this.#last, { ended: "open" });
    for (const name of [...this.#objects.keys()])
      this.#close(name, this.#last - 1, { ended: "open" });
  }

  #rowsGiven(n: number, ok: Fields): void {
    const rows = ok["rows"];
    if (typeof rows !== "object" || rows === null) return;
    for (const [req, row] of Object.entries(rows as Readonly<Record<string, unknown>>))
      if (typeof row === "number") this.#requests.set(req, { row, from: n });
  }

  #leave(req: string, to: number, args: EventArgs): void {
    const request = this.#requests.get(req);
    if (request === undefined) return;
    this.#requests.delete(req);
    const { row, from } = request;
    const tid =
      this.#rows.get(row) ?? this.#events.thread(this.#pid, `row ${row}`, ROWS_ORDER + row);
    this.#rows.set(row, tid);
    this.#events.slice({ pid: this.#pid, tid }, req, from, to, args);
  }

  /** Objects that the operation opens, speaks of or closes; the first of them gives the arrow. */
  #objectsOf(line: OpLine, args: Fields): FlowPart | null {
    const operation = { op: line.op, args: line.args } as Operation; // they stood on one line
    let flow: FlowPart | null = null;
    for (const { kind, role, name } of namesOf(operation)) {
      if (!KINDS.has(kind) || role === "asks") continue;
      const known = this.#objects.get(name);
      // a restore copies in under the name of the copy out, which is over
      const isBack = line.op === "request.restore" && known === undefined;
      if (role === "opens" || isBack) {
        const id = this.#open(name, whatOf(kind, line.op), line, flow);
        flow = { id, comes: flow !== null };
      } else if (known !== undefined) {
        const isOver = role === "closes" && isLast(known, args);
        flow ??= { id: known.flow, comes: true };
        if (isOver) this.#close(name, line.n, outcomeOf(args));
      }
    }
    return flow;
  }

  /** Gives the number of its arrow: that of what it follows from, if it follows from something. */
  #open(name: string, what: string, { n, op, args }: OpLine, from: FlowPart | null): number {
    this.#close(name, n, { ended: "named anew" });
    const id = this.#events.id();
    const flow = from?.id ?? id;
    const writers = new Set((args as { readonly writers?: readonly string[] }).writers ?? []);
    this.#objects.set(name, { what, id, flow, writers });
    this.#events.overlapping("b", this.#pid, what, id, n, { name, by: op });
    return flow;
  }

  #close(name: string, n: number, args: EventArgs): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    this.#objects.delete(name);
    this.#events.overlapping("e", this.#pid, object.what, object.id, n + 1, args);
  }
}

function whatOf(kind: string, op: string): string {
  if (op === "net.send") return "send";
  return op === "net.receive" ? "receive" : kind;
}

/** Whether a closing operation is the one that ends it: a transfer ends with the last of its writers. */
function isLast(object: OpenObject, args: Fields): boolean {
  const { writer, outcome } = args;
  if (object.what !== "send" && object.what !== "receive") return true;
  if (outcome === "timeout" || (outcome === "failed" && object.what === "send")) return true;
  if (typeof writer === "string") object.writers.delete(writer);
  return object.writers.size === 0;
}

function outcomeOf({ outcome }: Fields): EventArgs {
  return typeof outcome === "string" ? { outcome } : {};
}

function endedBy(ok: Fields): readonly string[] {
  const ended = ok["ended"] as { readonly transfers?: readonly string[] } | undefined;
  return ended?.transfers ?? [];
}
