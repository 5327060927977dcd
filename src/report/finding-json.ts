// Findings in JSON documents: the same keys in all of them.
import type { Finding, Signature } from "../tools/findings.js";

/** Which failure it is: two findings with one signature are the same failure. @internal */
export function signatureJson({ check, op, component }: Signature): object {
  return { check, op, component };
}

/** A finding with all its keys. @internal */
export function findingJson({ signature, n, message, actors, bytes, band }: Finding): object {
  return {
    ...signatureJson(signature),
    n,
    message,
    actors: actors ?? [],
    bytes: bytes ?? null,
    band: band ?? null,
  };
}
