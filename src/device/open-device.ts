// Chooses a device by its name on the command line.
import { EnvironmentError } from "../base/errors.js";
import type { Device, VerifyPolicy } from "./device.js";
import type { DeviceKind } from "./device-kinds.js";
import { ModelDevice } from "./model.js";

/**
 * Makes a device, not yet opened; null for `none`. Throws `EnvironmentError` (`device_unavailable`) where this machine
 * or build lacks it. @public
 */
export function openDevice(
  kind: Exclude<DeviceKind, "none">,
  options: { readonly verify: VerifyPolicy },
): Device;
export function openDevice(
  kind: DeviceKind,
  options: { readonly verify: VerifyPolicy },
): Device | null;
export function openDevice(
  kind: DeviceKind,
  options: { readonly verify: VerifyPolicy },
): Device | null {
  switch (kind) {
    case "model":
      return new ModelDevice(options);
    case "none":
      return null;
    case "host":
    case "cuda":
      throw new EnvironmentError(
        "device_unavailable",
        `device ${kind}: this version carries effects out on the model device only; use self:model or self:none`,
      );
  }
}
