// The allocator of this checkout in this process, with a device that carries out what it asks for.
import { openDevice } from "../device/open-device.js";
import { StorageAdapter, type StorageAdapterOptions } from "./storage-adapter.js";

/** By default on device `model`, opened as usual; tests of devices that fail open their own. @public */
export type InProcessOptions = Partial<StorageAdapterOptions>;

/** `self`. @public */
export class InProcessAdapter extends StorageAdapter {
  /** Throws `EnvironmentError` for a device that this machine or build lacks. */
  constructor(options: InProcessOptions = {}) {
    super({ device: "model", openDevice, ...options });
  }
}
