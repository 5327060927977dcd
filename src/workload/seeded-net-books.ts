// What the seeded workload knows of network transfers: which are open, in which phase, and who has yet to end.
import type { Answer, EndedTransfers, Operation } from "../base/operations.js";

/** @internal */
export interface ModelTransfer {
  readonly name: string;
  readonly kind: "send" | "receive";
  readonly req: string;
  readonly named: readonly string[]; // writers given; none given: one without a name
  readonly left: Set<string>; // writers that have yet to end
  isPublished: boolean;
  isStalled: boolean;
}

/** @internal */
export class NetBooks {
  readonly open = new Map<string, ModelTransfer>(); // opening order
  readonly over: string[] = []; // names of transfers that are over

  /** Open transfers over a request's row. */
  of(req: string): ModelTransfer[] {
    return [...this.open.values()].filter((transfer) => transfer.req === req);
  }
  /** Whether a transfer that nobody was told of needs the row as it is. */
  holds(req: string): boolean {
    return this.of(req).some((transfer) => !transfer.isPublished);
  }
  /** Whether a peer writes, or will write, into the row. */
  isReceiving(req: string): boolean {
    return this.of(req).some((transfer) => transfer.kind === "receive");
  }

  learn(operation: Operation, answer: Answer): void {
    switch (operation.op) {
      case "net.send":
        this.#start("send", operation.args, operation.args.held !== true);
        break;
      case "net.receive":
        this.#start("receive", operation.args, false);
        break;
      case "net.publish":
        this.#find(operation.args.transfer, (transfer) => (transfer.isPublished = true));
        break;
      case "net.stall":
        this.#find(operation.args.transfer, (transfer) => (transfer.isStalled = true));
        break;
      case "net.end":
        this.#end(operation.args);
        break;
      default:
    }
    const { ended } = answer.ok as { readonly ended?: EndedTransfers };
    for (const name of ended?.transfers ?? []) this.#close(name);
  }

  #start(
    kind: ModelTransfer["kind"],
    args: {
      readonly transfer: string;
      readonly req: string;
      readonly writers?: readonly string[];
    },
    isPublished: boolean,
  ): void {
    const named = args.writers ?? [];
    const left = new Set(named.length === 0 ? [""] : named);
    const { transfer: name, req } = args;
    this.open.set(name, { name, kind, req, named, left, isPublished, isStalled: false });
  }

  #end({
    transfer: name,
    writer,
    outcome,
  }: {
    readonly transfer: string;
    readonly writer?: string;
    readonly outcome: "ok" | "failed" | "timeout";
  }): void {
    this.#find(name, (transfer) => {
      if (outcome !== "timeout" && !transfer.left.delete(writer ?? "")) return; // late
      const isOver =
        outcome === "timeout" ||
        transfer.left.size === 0 ||
        (outcome === "failed" && transfer.kind === "send");
      if (isOver) this.#close(name);
    });
  }

  #find(name: string, change: (transfer: ModelTransfer) => void): void {
    const transfer = this.open.get(name);
    if (transfer !== undefined) change(transfer);
  }
  #close(name: string): void {
    if (this.open.delete(name)) this.over.push(name);
  }
}
