// A broken promise found by the simulated device. It travels as an exception from the deepest table up to
// `ModelDevice`, which turns it into the violation of the operation under way; nobody else sees it.
import type { DeviceViolation } from "./device.js";

/** Carries a violation to the operation that is under way. @internal */
export class DeviceFault extends Error {
  readonly violation: DeviceViolation;
  constructor(violation: DeviceViolation) {
    super(violation.message);
    this.violation = violation;
  }
}

/** Reports a violation. @param message - one line: what happened, where, what was expected. @internal */
export function fail(
  check: DeviceViolation["check"],
  message: string,
  band?: string,
  page?: number,
): never {
  throw new DeviceFault({
    check,
    message,
    ...(band === undefined ? {} : { band }),
    ...(page === undefined ? {} : { page }),
  });
}
