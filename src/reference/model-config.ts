// A model's published configuration as layers (models.md, sections 2 and 3).
import { Fields, notSupported } from "./model-fields.js";
import {
  type AttentionPart,
  cacheElement,
  type Layer,
  type Model,
  type StatePart,
  type Surroundings,
} from "./model-layers.js";
import { refuseByName } from "./model-names.js";

/** What the parts of a model are read with. @internal */
export interface Reading {
  readonly text: Fields; // where the language model stands
  readonly element: string; // of KV rows
  readonly temporalElement: string;
  readonly convElement: string;
  readonly ranks: number; // attention TP
}

type Kind = "full" | "window" | "linear";

/** Reads a configuration with `num_hidden_layers`. @internal */
export function readConfiguration(value: unknown, path: string, above: Surroundings): Model {
  const top = new Fields(value, path);
  const text = top.has("text_config") ? top.child("text_config") : top;
  const type = top.textOr("model_type", "").replace(/_(text|mm_model)$/, "");
  refuseByName(top, text, type);
  const reading: Reading = {
    text,
    element: above.kvElement ?? quantized(top) ?? elementOf(text, top),
    temporalElement: above.temporalElement ?? text.elementOr("mamba_ssm_dtype", "float32"),
    convElement: above.convElement ?? "bfloat16",
    ranks: above.ranks,
  };
  const count = text.whole("num_hidden_layers");
  const read = FAMILIES[type] ?? readOther;
  return {
    layers: read(reading, count),
    contextTokens: text.wholeOr("max_position_embeddings", null),
    hasLocalAttention: text.has("attention_chunk_size"),
    ...(type === "inkling" ? { windowRatio: 0.1, stateRatio: 0.1 } : {}),
  };
}

const FAMILIES: Readonly<Record<string, (reading: Reading, count: number) => Layer[]>> = {
  gpt_oss: readGptOss,
  gemma3: readGemma3,
  gemma4: readGemma4,
  qwen3_next: readDeltaNet,
  qwen3_5: readDeltaNet,
  kimi_linear: readKimi,
  inkling: readInkling,
};

function quantized(top: Fields): string | null {
  if (!top.has("quantization_config")) return null;
  const quantization = top.child("quantization_config", ["quant_method", "kv_cache_quant_algo"]);
  const algorithm = quantization.textOr("kv_cache_quant_algo", null);
  if (algorithm === null) return null;
  return algorithm === "FP8" ? "fp8_e4m3" : notSupported(`a KV cache quantized by ${algorithm}`);
}

function elementOf(text: Fields, top: Fields): string {
  for (const fields of [text, top]) {
    for (const key of ["dtype", "torch_dtype"])
      if (fields.has(key)) return cacheElement(fields.textOr(key, null)) ?? "bfloat16";
  }
  return "bfloat16";
}

function mha(reading: Reading, heads: number, dim: number, window?: number): AttentionPart {
  return {
    ...{ kind: "mha", heads: perRank(heads, reading), keyDim: dim, valueDim: dim },
    ...{ element: reading.element, window, pageTokens: null },
  };
}

function mla({ text, element }: Reading): AttentionPart {
  const keyDim = text.whole("kv_lora_rank") + text.wholeOr("qk_rope_head_dim", 0, 0);
  const rest = { element, window: undefined, pageTokens: null };
  return { kind: "mla", heads: 1, keyDim, valueDim: 0, ...rest };
}

function perRank(heads: number, { ranks }: Reading): number {
  return Math.max(1, Math.floor(heads / ranks));
}

// Heads of a state are shared out whole.
function sharedOut(heads: number, { ranks }: Reading): number {
  return heads % ranks === 0 ? heads / ranks : notSupported(`${heads} heads over ${ranks} ranks`);
}

function headsOf(text: Fields): number {
  return text.has("num_key_value_heads")
    ? text.whole("num_key_value_heads")
    : text.whole("num_attention_heads");
}

function dimOf(text: Fields): number {
  if (text.has("head_dim")) return text.whole("head_dim");
  const dim = text.whole("hidden_size") / text.whole("num_attention_heads");
  return Number.isInteger(dim) ? dim : notSupported("heads that do not divide the hidden size");
}

const KINDS: Readonly<Record<string, Kind>> = {
  full_attention: "full",
  sliding_attention: "window",
  chunked_attention: "window",
  linear_attention: "linear",
};

function listedKinds(text: Fields, count: number): Kind[] | null {
  if (!text.has("layer_types")) return null;
  const kinds = text.list("layer_types").map((name) => {
    return KINDS[String(name)] ?? notSupported(`layers of type ${String(name)}`);
  });
  return kinds.length === count ? kinds : notSupported("a layer_types of another length");
}

// One full layer at the end of each group.
function everyNth(count: number, interval: number, others: Kind): Kind[] {
  return Array.from({ length: count }, (_, index) =>
    (index + 1) % interval === 0 ? "full" : others,
  );
}

function attentionLayer(attention: AttentionPart): Layer {
  return { attention, state: null };
}

// Even layers have windows, odd ones attend in full.
function readGptOss(reading: Reading, count: number): Layer[] {
  const kinds = listedKinds(reading.text, count) ?? everyNth(count, 2, "window");
  return kinds.map((kind) => plainLayer(reading, kind, reading.text.whole("sliding_window")));
}

function readGemma3(reading: Reading, count: number): Layer[] {
  const { text } = reading;
  const older = text.wholeOr("_sliding_window_pattern", 6);
  const interval = text.wholeOr("sliding_window_pattern", older);
  const kinds = listedKinds(text, count) ?? everyNth(count, interval, "window");
  return kinds.map((kind) => plainLayer(reading, kind, text.whole("sliding_window")));
}

// The plain fields describe window layers, the global ones full layers. The last layers may share the cache of others.
function readGemma4(reading: Reading, count: number): Layer[] {
  const { text } = reading;
  const kinds = listedKinds(text, count) ?? everyNth(count, 6, "window");
  if (kinds.at(-1) !== "full") notSupported("a last layer with a window");
  const isShared = text.flag("attention_k_eq_v") && text.has("num_global_key_value_heads");
  const fullHeads = isShared ? text.whole("num_global_key_value_heads") : headsOf(text);
  const owning = kinds.slice(0, count - text.wholeOr("num_kv_shared_layers", 0, 0));
  return owning.map((kind) =>
    attentionLayer(
      kind === "full"
        ? mha(reading, fullHeads, text.whole("global_head_dim"))
        : mha(reading, headsOf(text), dimOf(text), text.whole("sliding_window")),
    ),
  );
}

// Qwen3-Next and Qwen3.5.
function readDeltaNet(reading: Reading, count: number): Layer[] {
  const { text } = reading;
  const kinds =
    listedKinds(text, count) ?? everyNth(count, text.whole("full_attention_interval"), "linear");
  const keyHeads = sharedOut(text.whole("linear_num_key_heads"), reading);
  const valueHeads = sharedOut(text.whole("linear_num_value_heads"), reading);
  const keyDim = text.whole("linear_key_head_dim");
  const valueDim = text.whole("linear_value_head_dim");
  const channels = 2 * keyHeads * keyDim + valueHeads * valueDim;
  const state = stateOf(reading, {
    conv: [[channels, text.whole("linear_conv_kernel_dim") - 1]],
    temporal: [valueHeads, valueDim, keyDim],
  });
  return kinds.map((kind) =>
    kind === "linear" ? { attention: null, state } : plainLayer(reading, kind, undefined),
  );
}

function readKimi(reading: Reading, count: number): Layer[] {
  const linear = reading.text.child("linear_attn_config");
  const isLinear = new Set(linear.wholes("kda_layers")); // counted from 1
  const heads = sharedOut(linear.whole("num_heads"), reading);
  const dim = linear.whole("head_dim");
  const state = stateOf(reading, {
    conv: [[linear.whole("short_conv_kernel_size") - 1, 3 * heads * dim]],
    temporal: [heads, dim, dim],
  });
  return Array.from({ length: count }, (_, index) =>
    isLinear.has(index + 1) ? { attention: null, state } : attentionLayer(mla(reading)),
  );
}

// Every layer owns attention and six short convolutions, those of both kinds of layer among them.
function readInkling(reading: Reading, count: number): Layer[] {
  const { text } = reading;
  const isWindow = new Set(text.wholes("local_layer_ids", 0));
  const full = mha(reading, headsOf(text), dimOf(text));
  const window = mha(
    reading,
    text.whole("swa_num_key_value_heads"),
    text.whole("swa_head_dim"),
    text.whole("sliding_window_size"),
  );
  const hidden = text.whole("hidden_size");
  const [ofFull, ofWindow] = [full.heads * full.keyDim, window.heads * window.keyDim];
  const state = text.flag("use_sconv")
    ? stateOf(reading, {
        conv: [ofFull, ofFull, ofWindow, ofWindow, hidden, hidden].map((channels) => [
          text.whole("sconv_kernel_size") - 1,
          channels,
        ]),
        temporal: [0, 0, 0],
      })
    : null;
  return Array.from({ length: count }, (_, index) => ({
    attention: isWindow.has(index) ? window : full,
    state,
  }));
}

// Models of attention alone. A window field that is switched off makes no window layers.
function readOther(reading: Reading, count: number): Layer[] {
  const { text } = reading;
  if (text.has("kv_lora_rank"))
    return Array.from({ length: count }, () => attentionLayer(mla(reading)));
  const hasWindow = text.has("sliding_window") && text.raw("use_sliding_window") !== false;
  if (hasWindow && text.has("max_window_layers")) notSupported("max_window_layers");
  const all: Kind = hasWindow ? "window" : "full";
  const kinds = listedKinds(text, count) ?? Array.from({ length: count }, () => all);
  const chunk = text.wholeOr("attention_chunk_size", undefined);
  return kinds.map((kind) =>
    plainLayer(reading, kind, text.wholeOr("sliding_window", undefined) ?? chunk),
  );
}

function plainLayer(reading: Reading, kind: Kind, window: number | undefined): Layer {
  if (kind === "linear") notSupported("linear attention of this model");
  if (kind === "window" && window === undefined) notSupported("a window without a length");
  const { text } = reading;
  return attentionLayer(
    mha(reading, headsOf(text), dimOf(text), kind === "window" ? window : undefined),
  );
}

function stateOf(reading: Reading, shapes: Pick<StatePart, "conv" | "temporal">): StatePart {
  return {
    mixer: "linear",
    ...shapes,
    convElement: reading.convElement,
    temporalElement: reading.temporalElement,
    siblings: [],
  };
}
