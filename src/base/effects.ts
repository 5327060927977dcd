// Effects: what the allocator asks a device to do, in order. Tuples as they stand in a trace.
import type { Extents } from "./values.js";

/** Source and destination page of one move. @public */
export type MovePair = readonly [src: number, dst: number];

/** Signals are named by their origin: `f3` a forward, `c2` a host copy, `t5` a transfer. @public */
export type Effect =
  | readonly ["hostread", "recovery" | "publish"]
  | readonly ["wait", signal: string]
  | readonly ["hostwait", transfer: string]
  | readonly ["move", band: string, pairs: readonly MovePair[]]
  | readonly ["copy", band: string, pairs: readonly MovePair[]]
  | readonly ["zero", band: string, pages: Extents]
  | readonly ["reset", rows: Extents]
  | readonly ["forward", step: string]
  | readonly ["event", step: string]
  | readonly ["barrier", step: string]
  | readonly [
      "hostcopy",
      copy: string,
      direction: "out" | "in",
      pages: Readonly<Record<string, Extents>>,
    ]
  | readonly [
      "net",
      transfer: string,
      direction: "send" | "receive",
      pages: Readonly<Record<string, Extents>>,
    ];

/** @public */
export const EFFECT_KINDS = [
  "hostread",
  "wait",
  "hostwait",
  "move",
  "copy",
  "zero",
  "reset",
  "forward",
  "event",
  "barrier",
  "hostcopy",
  "net",
] as const;
