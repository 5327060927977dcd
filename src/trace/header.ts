// The producer block of a trace's first line.
import type { HeaderLine, Producer } from "./lines.js";
import { TRACE_FORMAT, TRACE_VERSION } from "./lines.js";

/** A producer block in canonical order. @public */
export function producerBlock(
  name: string,
  version: string,
  revision: string | null,
  dirty: boolean | null,
): Producer {
  return { name, version, revision, dirty };
}

/** The first line of a trace. `created` stays null unless a time was asked for. @public */
export function headerLine(
  producer: Producer,
  extras: { readonly created?: string | null; readonly note?: string | null } = {},
): HeaderLine {
  return {
    kind: "trace",
    format: TRACE_FORMAT,
    version: TRACE_VERSION,
    producer: producerBlock(producer.name, producer.version, producer.revision, producer.dirty),
    created: extras.created ?? null,
    note: extras.note ?? null,
  };
}
