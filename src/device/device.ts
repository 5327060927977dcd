// The device boundary: a device carries out the effects of each operation and checks what the bytes hold.
// It never decides anything; what comes from outside (a failed copy, a timeout) is an operation of the trace.
import type { Lanes } from "../base/digest.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../base/operations.js";

/** A broken promise about bytes, found by a device. @public */
export interface DeviceViolation {
  readonly check: "lost_write" | "unordered_overlap" | "bad_effect";
  readonly message: string; // one line: band, page, who wrote, what was found
  readonly band?: string;
  readonly page?: number;
}

/** When live pages are verified: after each operation those it touched, all every 64 operations and at the end, or
 * all after every operation. @public */
export type VerifyPolicy = "touched" | "every";

/** Executes effects on bytes, stamps or memory. One device serves one run at a time. @public */
export interface Device {
  readonly kind: "model" | "host" | "cuda";
  /** Starts a run: `boot` is the answer of operation 0. */
  open(config: DirectConfig, boot: BootOk): void;
  /** Carries out one answered operation (binds and unbinds derived from the answer) and verifies. */
  apply(operation: KvOperation, answer: Answer): DeviceViolation | null;
  /** Finishes all outstanding device work and verifies every live page. */
  verifyAll(): DeviceViolation | null;
  /** Sum of content hashes of a band's live pages, for digests of depth `deep`. */
  contents(band: string): Lanes;
  close(): void;
}
