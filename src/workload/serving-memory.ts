// How the serving model takes memory: a refused take first evicts from the prefix tree, where there is one.
import type { Answer, Demand, KvOperation, OperationError } from "../base/operations.js";
import type { Script, ServingContext, Take } from "./serving-script.js";

const EVICTIONS_MOST = 4; // for one take

/** @internal */
export class ServingMemory {
  readonly #context: ServingContext;
  readonly #onRefusal: () => void;

  /** @param onRefusal - called when a take is refused for good */
  constructor(context: ServingContext, onRefusal: () => void) {
    this.#context = context;
    this.#onRefusal = onRefusal;
  }

  /** The answer to a take that was granted, null where it was refused even after an eviction. */
  *ask(operation: KvOperation): Script<Answer | null> {
    let answer = yield operation;
    // What was short may hide what else is: ids first, then bytes.
    for (let tries = 0; answer.err !== undefined && tries < EVICTIONS_MOST; tries++) {
      if (!(yield* this.evictFor(answer.err))) break;
      answer = yield operation;
    }
    if (answer.err === undefined) return answer;
    this.refuse();
    return null;
  }

  /** A take was refused for good. */
  refuse(): void {
    this.#context.count("refusals");
    this.#onRefusal();
  }

  /** Whether a take was granted. */
  *take(operation: KvOperation): Take {
    return (yield* this.ask(operation)) !== null;
  }

  /** Evicts what the refused take lacked. False where nothing was evicted. */
  *evictFor(error: OperationError): Take {
    const demand = this.#context.features.shares ? this.#lacking(error) : null;
    return demand !== null && (yield* this.evict(demand));
  }

  /** Evicts until `demand` would be granted. False where the tree cannot give that much. */
  *evict(demand: Demand): Take {
    const answer = yield { op: "tree.evict", args: { demand } };
    if (answer.err !== undefined) return false;
    this.#context.count("evictions");
    return true;
  }

  #lacking({ code, demand, need }: OperationError): Demand | null {
    const { stateBand } = this.#context;
    if (code === "refused_capacity") return demand ?? null;
    if (need === undefined) return null;
    if (code === "refused_ids") return { full: need };
    return code === "refused_state" && stateBand !== null ? { [stateBand]: need } : null;
  }
}
