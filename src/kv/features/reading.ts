// The `features` object, read once: typed fields with their defaults. Unknown keys are errors with the nearest name.
import type { ConfigFields } from "../decl/config-fields.js";
import { FEATURE_KEYS } from "./tables.js";

/** What the other side of a prefill/decode pair says of itself. @public */
export interface PeerFeatures {
  readonly isUnified: boolean;
  readonly attentionRanks: number | undefined;
  readonly pageTokens: number | undefined;
  readonly model: unknown;
}

/** @public */
export interface Features {
  readonly isOn: (key: string) => boolean;
  readonly isOff: (key: string) => boolean; // said to be off, not only unsaid
  readonly word: (key: string) => string | undefined; // a text that is not empty, `none` or `null`
  readonly count: (key: string, otherwise: number) => number;
  readonly prefillBackend: string | undefined;
  readonly decodeBackend: string | undefined;
  readonly attentionRanks: number; // ranks over which attention is divided
  readonly algorithm: string | null; // of speculation; NEXTN reads as EAGLE
  readonly isDisaggregated: boolean;
  readonly peer: PeerFeatures | null;
}

/** Reads `features`; absent means none. A fused draft without a named algorithm is EAGLE's. Throws `InputError`
 * (`config`). @public */
export function readFeatures(config: ConfigFields): Features {
  const fields = config.object("features");
  fields?.onlyKeys(FEATURE_KEYS.map((row) => row.key));
  checkTypes(fields);
  const word = (key: string): string | undefined => {
    const text = fields?.text(key);
    return text === undefined || text === "" || text === "none" || text === "null"
      ? undefined
      : text;
  };
  const isOn = (key: string): boolean => fields?.boolean(key) ?? false;
  const isOff = (key: string): boolean => fields?.boolean(key) === false;
  const count = (key: string, otherwise: number): number =>
    fields?.optionalInteger(key) ?? otherwise;
  const named = word("speculative_algorithm")?.toUpperCase();
  const algorithm = named ?? (config.has("draft") ? "EAGLE" : undefined);
  return {
    isOn,
    isOff,
    word,
    count,
    prefillBackend: word("prefill_attention_backend") ?? word("attention_backend"),
    decodeBackend: word("decode_attention_backend") ?? word("attention_backend"),
    attentionRanks: attentionRanksOf(fields, count, isOn),
    algorithm: algorithm === "NEXTN" ? "EAGLE" : (algorithm ?? null),
    isDisaggregated: word("disaggregation_mode") !== undefined,
    peer: peerOf(fields),
  };
}

function checkTypes(fields: ConfigFields | undefined): void {
  for (const { key, type } of FEATURE_KEYS) {
    if (fields === undefined || !fields.has(key)) continue;
    if (type === "boolean") fields.boolean(key);
    else if (type === "integer") fields.integer(key);
    else if (type === "text") fields.text(key);
    else fields.object(key);
  }
}

// With data-parallel attention each attention rank group has an arena of its own.
function attentionRanksOf(
  fields: ConfigFields | undefined,
  count: (key: string, otherwise: number) => number,
  isOn: (key: string) => boolean,
): number {
  const ranks = count("tp_size", 1);
  if (!isOn("enable_dp_attention")) return ranks;
  const groups = count("dp_size", 1);
  if (fields !== undefined && ranks % groups !== 0)
    throw fields.error("dp_size", `${groups} groups do not divide ${ranks} ranks`);
  return ranks / groups;
}

function peerOf(fields: ConfigFields | undefined): PeerFeatures | null {
  const peer = fields?.object("peer");
  if (peer === undefined) return null;
  peer.onlyKeys(["enable_unified_memory", "attn_tp_size", "page_size", "model"]);
  return {
    isUnified: peer.boolean("enable_unified_memory") ?? true,
    attentionRanks: peer.optionalInteger("attn_tp_size"),
    pageTokens: peer.optionalInteger("page_size"),
    model: peer.raw("model"),
  };
}
