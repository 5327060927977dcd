// Readers of models whose layers only attend: full, sliding window, chunked, latent.
import type { ConfigFields } from "./config-fields.js";
import type { FamilyContext, FamilyReader, LayerKind, MhaShape } from "./model.js";
import { everyNth, headDim, kindsBy, kvHeads, layerTypes, mhaPart, mlaPart } from "./model.js";
import type { KVLifetime, KVPart } from "./types.js";

/** gpt-oss: even layers window, odd layers full. @internal */
export const readGptOss: FamilyReader = (text, context) =>
  attentionParts(text, context, {
    kinds: layerTypes(text) ?? kindsBy(text, (index) => (index % 2 === 0 ? "window" : "full")),
  });

/** Gemma 2 and 3: `layer_types`, else a pattern length, else every sixth layer full. The last layer may be a window. @internal */
export const readGemma3: FamilyReader = (text, context) => {
  const pattern =
    text.optionalInteger("sliding_window_pattern") ??
    text.optionalInteger("_sliding_window_pattern") ??
    6;
  return attentionParts(text, context, {
    kinds: layerTypes(text) ?? everyNth(text, pattern, "window"),
  });
};

/** Gemma 4: the plain fields describe window layers, `global_*` the full ones; the last layer is full whatever the
 * file says; the last `num_kv_shared_layers` layers read an earlier layer's cache and store nothing. `attention_k_eq_v`
 * shares a projection, not the cache: K and V are both stored. @internal */
export const readGemma4: FamilyReader = (text, context) => {
  const kinds = layerTypes(text) ?? everyNth(text, 6, "window");
  kinds[kinds.length - 1] = "full";
  const heads = kvHeads(text);
  const globalHeads =
    text.boolean("attention_k_eq_v") === true
      ? (text.optionalInteger("num_global_key_value_heads") ?? heads)
      : heads;
  return attentionParts(text, context, {
    kinds,
    full: { heads: globalHeads, keyDim: text.optionalInteger("global_head_dim") ?? 512 },
    window: { heads, keyDim: headDim(text) },
  });
};

/** DeepSeek V2 and V3: latent rows on every layer. @internal */
export const readLatentOnly: FamilyReader = (text, context) =>
  kindsBy(text, () => "full").map((_, layer) => [mlaPart(layer, text, context)]);

/** Any other attention-only file. Windows follow from what the layers are: a window field that is switched off, or
 * layer types that are all full, make a full-only model. @internal */
export const readAttentionOnly: FamilyReader = (text, context) => {
  if (text.has("kv_lora_rank")) return readLatentOnly(text, context);
  return attentionParts(text, context, { kinds: layerTypes(text) ?? kindsByWindowFields(text) });
};

function kindsByWindowFields(text: ConfigFields): LayerKind[] {
  const isOff = text.boolean("use_sliding_window") === false || !text.has("sliding_window");
  if (isOff) return kindsBy(text, () => "full");
  const pattern =
    text.optionalInteger("sliding_window_pattern") ??
    text.optionalInteger("_sliding_window_pattern");
  if (pattern !== undefined) return everyNth(text, pattern, "window");
  // Qwen2: the first layers attend in full.
  const firstWindow = text.optionalInteger("max_window_layers", 0) ?? 0;
  return kindsBy(text, (index) => (index < firstWindow ? "full" : "window"));
}

interface AttentionShapes {
  readonly kinds: readonly LayerKind[];
  readonly full?: MhaShape; // default: the plain fields
  readonly window?: MhaShape; // default: the plain fields
}

function attentionParts(
  text: ConfigFields,
  context: FamilyContext,
  { kinds, full, window }: AttentionShapes,
): KVPart[][] {
  const plain = (): MhaShape => {
    const valueDim = text.optionalInteger("v_head_dim");
    const shape = { heads: kvHeads(text), keyDim: headDim(text) };
    return valueDim === undefined ? shape : { ...shape, valueDim };
  };
  const stored = kinds.length - (text.optionalInteger("num_kv_shared_layers", 0) ?? 0);
  return kinds.map((kind, layer) => {
    if (layer >= stored) return [];
    if (kind === "linear")
      throw text.error(`layer_types/${layer}`, "a linear layer in an attention-only model");
    const shape = (kind === "full" ? full : window) ?? plain();
    return [mhaPart(layer, shape, lifetimeOf(kind, text), context)];
  });
}

function lifetimeOf(kind: LayerKind, text: ConfigFields): KVLifetime {
  if (kind === "full") return { kind: "full" };
  const key = kind === "chunked" ? "attention_chunk_size" : "sliding_window";
  return { kind: "window", tokens: text.optionalInteger(key) ?? null };
}
