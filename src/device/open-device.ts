// Chooses a device by its name on the command line.
import { ByteDevice } from "./byte-device.js";
import type { ByteBackend } from "./bytes.js";
import { nativeBackend } from "./bytes-native.js";
import { simulatedBackend } from "./bytes-simulated.js";
import { seededDelays } from "./delays.js";
import type { Device, VerifyPolicy } from "./device.js";
import type { DeviceKind } from "./device-kinds.js";
import { ModelDevice } from "./model.js";

/** @public */
export interface OpenDeviceOptions {
  readonly verify: VerifyPolicy;
  /** Of a device with real streams: draws how long its work is held up; left out: never. */
  readonly delaySeed?: number;
  /** Whether the operations hold the engine's barriers; else such a device puts its own. Default false. */
  readonly hasBarriers?: boolean;
}

/**
 * Makes a device, not yet opened; null for `none`. Throws `EnvironmentError` (`addon_missing`, `device_unavailable`)
 * where this machine or build lacks it. @public
 */
export function openDevice(kind: Exclude<DeviceKind, "none">, options: OpenDeviceOptions): Device;
export function openDevice(kind: DeviceKind, options: OpenDeviceOptions): Device | null;
export function openDevice(kind: DeviceKind, options: OpenDeviceOptions): Device | null {
  switch (kind) {
    case "model":
      return new ModelDevice(options);
    case "none":
      return null;
    case "host":
    case "cuda":
      return new ByteDevice({
        kind,
        backend: nativeBackend(kind),
        verify: options.verify,
        delays: options.delaySeed === undefined ? null : seededDelays(options.delaySeed),
        hasBarriers: options.hasBarriers ?? false,
      });
  }
}

/**
 * What carries the bytes of a device; the simulated one's is plain JavaScript. Throws `EnvironmentError`
 * (`addon_missing`, `device_unavailable`) where this machine or build lacks it. @public
 */
export function openBackend(kind: Exclude<DeviceKind, "none">): ByteBackend {
  return kind === "model" ? simulatedBackend : nativeBackend(kind);
}
