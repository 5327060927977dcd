// The devices' names, without what is behind them.

/** Devices by name; `none` carries nothing out. @public */
export const DEVICE_KINDS = ["model", "none", "host", "cuda"] as const;
/** @public */
export type DeviceKind = (typeof DEVICE_KINDS)[number];
