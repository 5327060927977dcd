// Operations that were sent and what stands for them in a report.
import { encodeOperation } from "../../adapter/protocol.js";
import type { Operation } from "../../base/operations.js";
import type { Event } from "./dialog.js";

/** Operations in flight. @internal */
export interface Asked {
  readonly first: number; // number of the first
  readonly operations: readonly Operation[];
  readonly answered: number;
  readonly sent: number;
}

/** The line of operation `n`, without its line feed; empty for one that was not asked. @internal */
export function lineOf(asked: Asked, n: number): string {
  const operation = asked.operations[n - asked.first];
  return operation === undefined ? "" : encodeOperation(n, operation).trimEnd();
}

/** The kind of operation `n`; empty for one that was not asked. @internal */
export function operationOf(asked: Asked, n: number): string {
  return asked.operations[n - asked.first]?.op ?? "";
}

/** What an event looks like in a report. @internal */
export function shown(event: Event): string {
  if (event.kind === "line") return event.line;
  return event.kind === "end" ? event.reason : event.kind;
}
