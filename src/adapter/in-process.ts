// The allocator of this checkout in this process, with a device that carries out what it asks for.
import { openDevice } from "../device/open-device.js";
import { type OpenDevice, StorageAdapter, type StorageAdapterOptions } from "./storage-adapter.js";

/** @public */
export interface InProcessOptions extends Partial<StorageAdapterOptions> {
  /** Default `model`. */
  readonly device?: StorageAdapterOptions["device"];
  /** Another one than the usual in tests of devices that fail. */
  readonly openDevice?: OpenDevice;
}

/** `self`. @public */
export class InProcessAdapter extends StorageAdapter {
  /** Throws `EnvironmentError` for a device that this machine or build lacks. */
  constructor(options: InProcessOptions = {}) {
    super({ device: "model", openDevice, ...options });
  }
}
