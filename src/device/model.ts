// The simulated device: carries out every effect on stamped pages, as late as the rules allow, and verifies that pages
// hold what their last writer wrote. It learns what is bound from operations and answers alone and never asks an
// allocator.
import type { Lanes } from "../base/digest.js";
import { InternalError } from "../base/errors.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../base/operations.js";
import type { Device, DeviceViolation, VerifyPolicy } from "./device.js";
import { execute } from "./model-effects.js";
import { DeviceFault, fail } from "./model-fault.js";
import { after, before } from "./model-operations.js";
import { ModelRun } from "./model-run.js";
import type { Limitation } from "./model-strays.js";
import type { ModelTap } from "./model-tap.js";

const VERIFY_EVERY = 64; // operations

/**
 * The device that needs nothing but memory in proportion to the pages touched. After the first violation a run is
 * broken: every later call answers that violation until the next `open`. @public
 */
export class ModelDevice implements Device {
  readonly kind = "model";
  readonly #verify: VerifyPolicy;
  readonly #tap: ModelTap | null;
  #run: ModelRun | null = null;
  #violation: DeviceViolation | null = null;

  /** @param options - `verify`: which live pages are verified after each operation; `tap`: told of all that is issued */
  constructor(options: { readonly verify: VerifyPolicy; readonly tap?: ModelTap }) {
    this.#verify = options.verify;
    this.#tap = options.tap ?? null;
  }

  /** Starts a run. Throws `InputError` for a configuration that cannot be simulated. */
  open(config: DirectConfig, boot: BootOk): void {
    this.#violation = null;
    this.#run = new ModelRun(config, boot, this.#tap);
  }

  /** Carries out the next operation; the first one after `boot` has number 1. `boot` itself is ignored. */
  apply(operation: KvOperation, answer: Answer): DeviceViolation | null {
    const run = this.#opened();
    if (operation.op === "boot" || this.#violation !== null) return this.#violation;
    run.arena.operation += 1;
    return this.#guard(() => {
      carryOut(run, operation, answer);
      if (this.#verify === "every" || run.arena.operation % VERIFY_EVERY === 0)
        run.arena.verifyLive();
    });
  }

  verifyAll(): DeviceViolation | null {
    const run = this.#opened();
    return (
      this.#violation ??
      this.#guard(() => {
        run.drain();
        run.arena.verifyLive();
      })
    );
  }

  /**
   * Sum over a band's live pages, with the writes of issued forwards counted as done. It depends on what the pages
   * hold under which virtual id, not on where they lie or how they came there.
   */
  contents(band: string): Lanes {
    const { bands } = this.#opened().arena;
    const found = bands.find((candidate) => candidate.name === band);
    if (found === undefined) throw new InternalError(`contents of ${band}, which is no band`);
    return { a: found.contents.a, b: found.contents.b };
  }

  /** How often pages of transfers that never proved their end were written again: a known limitation, no violation. */
  limitations(): ReadonlyMap<Limitation, number> {
    return this.#opened().transfers.strays.counts;
  }

  close(): void {
    this.#run = null;
  }

  /** The open run, for who follows it with bytes. @internal */
  get run(): ModelRun {
    return this.#opened();
  }

  #opened(): ModelRun {
    if (this.#run === null) throw new InternalError("the model device is not open");
    return this.#run;
  }

  #guard(work: () => void): DeviceViolation | null {
    try {
      work();
    } catch (error) {
      if (!(error instanceof DeviceFault)) throw error;
      this.#violation = error.violation;
    }
    return this.#violation;
  }
}

function carryOut(run: ModelRun, operation: KvOperation, answer: Answer): void {
  const effects = answer.fx ?? [];
  if (answer.ok === undefined) {
    const first = effects[0];
    if (first !== undefined)
      fail("bad_effect", `${operation.op} is refused and yet has a ${first[0]} effect`);
    return;
  }
  before(run, operation, answer);
  for (const effect of effects) execute(run, effect, operation);
  after(run, operation, answer);
}
