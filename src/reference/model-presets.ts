// The presets: the numbers of models.md, sections 4 and 5, as configurations.
import { notSupported } from "./model-fields.js";
import type { AttentionPart, Model, StatePart } from "./model-layers.js";

type Configuration = Readonly<Record<string, unknown>>;

/** The configuration of a preset; null for the one that is given as layers. @internal */
export function presetConfiguration(name: string): Configuration | null {
  if (name === PHI) return null;
  return PRESETS[name] ?? notSupported(`the preset ${name}`);
}

const PHI = "phi-4-mini-flash-reasoning";

/** Phi-4 mini flash: nine states, eight windows, one full layer; the other layers own no cache. @internal */
export function phiModel(element: string): Model {
  const attention: AttentionPart = {
    ...{ kind: "mha", heads: 20, keyDim: 64, valueDim: 64, element },
    ...{ window: undefined, pageTokens: null },
  };
  const state: StatePart = {
    ...{ mixer: "mamba", conv: [[5120, 3]], temporal: [5120, 16], siblings: [] },
    ...{ convElement: "bfloat16", temporalElement: "bfloat16" },
  };
  const windowed = { ...attention, window: 512 };
  return {
    layers: [
      ...Array.from({ length: 9 }, () => ({ attention: null, state })),
      ...Array.from({ length: 8 }, () => ({ attention: windowed, state: null })),
      { attention, state: null },
    ],
    contextTokens: null,
    hasLocalAttention: false,
  };
}

function gptOss(layers: number): Configuration {
  return {
    ...{ model_type: "gpt_oss", num_hidden_layers: layers, num_attention_heads: 64 },
    ...{ num_key_value_heads: 8, head_dim: 64, sliding_window: 128 },
    layer_types: Array.from({ length: layers }, (_, index) =>
      index % 2 === 0 ? "sliding_attention" : "full_attention",
    ),
  };
}

function inkling(layers: number, hidden: number, windowHeads: number): Configuration {
  return {
    ...{ model_type: "inkling_mm_model", num_hidden_layers: layers, hidden_size: hidden },
    ...{ num_key_value_heads: 8, head_dim: 128, swa_num_key_value_heads: windowHeads },
    ...{ swa_head_dim: 128, sliding_window_size: 512, use_sconv: true, sconv_kernel_size: 4 },
    local_layer_ids: Array.from({ length: layers }, (_, index) => index).filter(
      (index) => (index + 1) % 6 !== 0,
    ),
  };
}

// Linear attention: key and value heads of 128, kernel 4, one full layer in four.
function qwen3(type: string, layers: number, kvHeads: number, valueHeads: number): Configuration {
  return {
    ...{ model_type: type, num_hidden_layers: layers, full_attention_interval: 4, head_dim: 256 },
    ...{ num_key_value_heads: kvHeads, linear_num_key_heads: 16 },
    ...{ linear_num_value_heads: valueHeads, linear_key_head_dim: 128 },
    ...{ linear_value_head_dim: 128, linear_conv_kernel_dim: 4 },
  };
}

const KIMI_FULL_LAYERS = [4, 8, 12, 16, 20, 24, 27]; // counted from 1

const PRESETS: Readonly<Record<string, Configuration>> = {
  "gpt-oss-120b": gptOss(36),
  "gpt-oss-20b": gptOss(24),
  "gemma-3-27b": {
    ...{ model_type: "gemma3", num_hidden_layers: 62, num_key_value_heads: 16 },
    ...{ head_dim: 128, sliding_window: 1024 },
  },
  "gemma-4-31b": {
    ...{ model_type: "gemma4", num_hidden_layers: 60, num_key_value_heads: 16 },
    ...{ num_global_key_value_heads: 4, head_dim: 256, global_head_dim: 512 },
    ...{ attention_k_eq_v: true, sliding_window: 1024 },
  },
  "qwen3-next-80b-a3b": qwen3("qwen3_next", 48, 2, 32),
  "qwen3.5-27b": qwen3("qwen3_5", 64, 4, 48),
  "kimi-linear-48b-a3b": {
    ...{ model_type: "kimi_linear", num_hidden_layers: 27, kv_lora_rank: 512 },
    qk_rope_head_dim: 64,
    linear_attn_config: {
      ...{ num_heads: 32, head_dim: 128, short_conv_kernel_size: 4 },
      kda_layers: Array.from({ length: 27 }, (_, index) => index + 1).filter(
        (place) => !KIMI_FULL_LAYERS.includes(place),
      ),
    },
  },
  inkling: inkling(66, 6144, 16),
  "inkling-small": inkling(42, 4096, 8),
  "llama-3.1-8b": {
    ...{ model_type: "llama", num_hidden_layers: 32, hidden_size: 4096 },
    ...{ num_attention_heads: 32, num_key_value_heads: 8 },
  },
  "deepseek-v3": {
    ...{ model_type: "deepseek_v3", num_hidden_layers: 61, num_attention_heads: 128 },
    ...{ kv_lora_rank: 512, qk_rope_head_dim: 64 },
  },
  "qwen2.5-14b": {
    ...{ model_type: "qwen2", num_hidden_layers: 48, hidden_size: 5120 },
    ...{ num_attention_heads: 40, num_key_value_heads: 8 },
    ...{ sliding_window: 131072, use_sliding_window: false },
  },
};
