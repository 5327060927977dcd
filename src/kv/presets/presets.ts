// Cache geometry of public models, as the fields of their configuration files that matter. No weights, no data: every
// shape names where its numbers can be checked. KV in bf16 unless overridden, one rank, no draft layers.
import { InputError } from "../../base/errors.js";
import { nearestWord } from "../../base/nearest.js";
import type { ModelConfig } from "../../base/operations.js";

/** @public */
export interface ModelPreset {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>; // as in the published file
  readonly source: string; // where the numbers can be checked
  readonly note: string;
  readonly refusedAs: "full_only" | null; // null: served
}

const bothKinds = (pattern: readonly string[], count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => pattern[index % pattern.length] ?? "");
const WINDOW_FIRST = ["sliding_attention", "full_attention"];
const FIVE_WINDOWS = [...Array<string>(5).fill("sliding_attention"), "full_attention"];
// Layers 5, 11, 17, … are full, the others windows.
const localLayers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index).filter((index) => (index + 1) % 6 !== 0);

const GPT_OSS = {
  architectures: ["GptOssForCausalLM"],
  model_type: "gpt_oss",
  num_attention_heads: 64,
  num_key_value_heads: 8,
  head_dim: 64,
  sliding_window: 128,
};
const GATED_DELTA = {
  full_attention_interval: 4,
  head_dim: 256,
  linear_num_key_heads: 16,
  linear_key_head_dim: 128,
  linear_value_head_dim: 128,
  linear_conv_kernel_dim: 4,
};
const INKLING = {
  torch_dtype: "bfloat16",
  num_key_value_heads: 8,
  head_dim: 128,
  swa_head_dim: 128,
  sliding_window_size: 512,
  use_sconv: true,
  sconv_kernel_size: 4,
};

/** Served shapes first, then shapes that must be refused. @public */
export const PRESETS: readonly ModelPreset[] = [
  {
    name: "gpt-oss-120b",
    config: { ...GPT_OSS, num_hidden_layers: 36, layer_types: bothKinds(WINDOW_FIRST, 36) },
    source:
      "github.com/huggingface/transformers models/gpt_oss/configuration_gpt_oss.py (class defaults)",
    note: "full attention and windows of 128, as many layers of each",
    refusedAs: null,
  },
  {
    name: "gpt-oss-20b",
    config: { ...GPT_OSS, num_hidden_layers: 24, layer_types: bothKinds(WINDOW_FIRST, 24) },
    source:
      "github.com/huggingface/transformers models/gpt_oss/configuration_gpt_oss.py (pattern and heads); github.com/EchoCog/gpt-oss-20b architecture page (24 layers)",
    note: "full attention and windows of 128, as many layers of each",
    refusedAs: null,
  },
  {
    name: "gemma-3-27b",
    config: {
      architectures: ["Gemma3ForConditionalGeneration"],
      model_type: "gemma3",
      torch_dtype: "bfloat16",
      text_config: {
        model_type: "gemma3_text",
        num_hidden_layers: 62,
        num_attention_heads: 32,
        num_key_value_heads: 16,
        head_dim: 128,
        sliding_window: 1024,
      },
    },
    source:
      "github.com/huggingface/transformers models/gemma3/convert_gemma3_weights.py (variant gemma3_27b), configuration_gemma3.py (every sixth layer full)",
    note: "some engines turn the windows of Gemma 3 off and store all 62 layers in full: 507,904 bytes a token",
    refusedAs: null,
  },
  {
    name: "gemma-4-31b",
    config: {
      architectures: ["Gemma4ForConditionalGeneration"],
      model_type: "gemma4",
      text_config: {
        model_type: "gemma4_text",
        dtype: "bfloat16",
        num_hidden_layers: 60,
        num_attention_heads: 32,
        num_key_value_heads: 16,
        num_global_key_value_heads: 4,
        head_dim: 256,
        global_head_dim: 512,
        attention_k_eq_v: true,
        num_kv_shared_layers: 0,
        sliding_window: 1024,
        layer_types: bothKinds(FIVE_WINDOWS, 60),
      },
    },
    source: "github.com/ollama/ollama x/models/gemma4/gemma4_test.go (TestParseTextConfig31B)",
    note: "full and window layers differ in heads and head dimension",
    refusedAs: null,
  },
  {
    name: "qwen3-next-80b-a3b",
    config: {
      ...GATED_DELTA,
      architectures: ["Qwen3NextForCausalLM"],
      model_type: "qwen3_next",
      torch_dtype: "bfloat16",
      num_hidden_layers: 48,
      num_attention_heads: 16,
      num_key_value_heads: 2,
      linear_num_value_heads: 32,
    },
    source:
      "github.com/sgl-project/sglang python/sglang/srt/configs/qwen3_next.py (class defaults)",
    note: "gated delta net on three of four layers",
    refusedAs: null,
  },
  {
    name: "qwen3.5-27b",
    config: {
      architectures: ["Qwen3_5ForConditionalGeneration"],
      model_type: "qwen3_5",
      text_config: {
        ...GATED_DELTA,
        model_type: "qwen3_5_text",
        dtype: "bfloat16",
        mamba_ssm_dtype: "float32",
        num_hidden_layers: 64,
        num_attention_heads: 24,
        num_key_value_heads: 4,
        linear_num_value_heads: 48,
      },
    },
    source:
      "github.com/aws-neuron/neuronx-distributed-inference pull request 128; hugingapi.com/TevunahAi/Qwen3.5-27B-TevunahAi-GPTQ (layers and heads)",
    note: "the 3.6 and 3.8 models of that size have the same shape",
    refusedAs: null,
  },
  {
    name: "kimi-linear-48b-a3b",
    config: {
      architectures: ["KimiLinearForCausalLM"],
      model_type: "kimi_linear",
      dtype: "bfloat16",
      num_hidden_layers: 27,
      num_attention_heads: 32,
      num_key_value_heads: 32,
      head_dim: 72,
      kv_lora_rank: 512,
      qk_nope_head_dim: 128,
      qk_rope_head_dim: 64,
      v_head_dim: 128,
      mla_use_nope: true,
      linear_attn_config: {
        full_attn_layers: [4, 8, 12, 16, 20, 24, 27],
        kda_layers: [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        num_heads: 32,
        head_dim: 128,
        short_conv_kernel_size: 4,
      },
    },
    source:
      "huggingface.co/moonshotai/Kimi-Linear-48B-A3B-Instruct config.json (copies, Firworks/Kimi-Linear-48B-A3B-Instruct-nvfp4 among them); github.com/sgl-project/sglang python/sglang/srt/configs/kimi_linear.py (which layers)",
    note: "latent attention with KDA; the head fields at the top belong to neither",
    refusedAs: null,
  },
  {
    name: "inkling",
    config: {
      architectures: ["InklingForConditionalGeneration"],
      model_type: "inkling_mm_model",
      text_config: {
        ...INKLING,
        hidden_size: 6144,
        num_hidden_layers: 66,
        num_attention_heads: 64,
        swa_num_attention_heads: 64,
        swa_num_key_value_heads: 16,
        local_layer_ids: localLayers(66),
      },
    },
    source:
      "github.com/huggingface/transformers models/inkling/configuration_inkling.py (class defaults); github.com/sgl-project/sglang python/sglang/srt/configs/inkling.py (conv state)",
    note: "full attention, windows of 512 and state together; attention and state on the same layer",
    refusedAs: null,
  },
  {
    name: "inkling-small",
    config: {
      architectures: ["InklingForConditionalGeneration"],
      model_type: "inkling_mm_model",
      text_config: {
        ...INKLING,
        hidden_size: 4096,
        num_hidden_layers: 42,
        num_attention_heads: 32,
        swa_num_attention_heads: 32,
        swa_num_key_value_heads: 8,
        local_layer_ids: localLayers(42),
      },
    },
    source:
      "github.com/jundot/omlx issue 2454; github.com/sgl-project/sglang python/sglang/srt/configs/inkling.py (conv state)",
    note: "full attention, windows of 512 and state together; attention and state on the same layer",
    refusedAs: null,
  },
  {
    name: "phi-4-mini-flash-reasoning",
    config: {
      architectures: ["Phi4FlashForCausalLM"],
      model_type: "phi4flash",
      torch_dtype: "bfloat16",
      hidden_size: 2560,
      num_hidden_layers: 32,
      num_attention_heads: 40,
      num_key_value_heads: 20,
      mb_per_layer: 2,
      sliding_window: 512,
    },
    source:
      "huggingface.co/microsoft/Phi-4-mini-flash-reasoning config.json and configuration_phi4flash.py (copy: github.com/franciskamande-ai/cloned_models); github.com/vllm-project/vllm pull requests 20702, 44963 (upper layers share one cache)",
    note: "full attention, windows of 512 and a non-empty Mamba state together",
    refusedAs: null,
  },
  {
    name: "llama-3.1-8b",
    config: {
      architectures: ["LlamaForCausalLM"],
      model_type: "llama",
      torch_dtype: "bfloat16",
      hidden_size: 4096,
      num_hidden_layers: 32,
      num_attention_heads: 32,
      num_key_value_heads: 8,
    },
    source:
      "huggingface.co/NbAiLab/nb-llama-3.1-8B config.json (a descendant); github.com/vulkomilev/oumi configs/recipes/llama3_1/README.md (8B)",
    note: "full attention only",
    refusedAs: "full_only",
  },
  {
    name: "deepseek-v3",
    config: {
      architectures: ["DeepseekV3ForCausalLM"],
      model_type: "deepseek_v3",
      torch_dtype: "bfloat16",
      num_hidden_layers: 61,
      num_attention_heads: 128,
      num_key_value_heads: 128,
      kv_lora_rank: 512,
      qk_nope_head_dim: 128,
      qk_rope_head_dim: 64,
      v_head_dim: 128,
    },
    source: "docs.vllm.ai v0.11 API page of configs/deepseek_v3 (class defaults)",
    note: "latent attention only",
    refusedAs: "full_only",
  },
  {
    name: "qwen2.5-14b",
    config: {
      architectures: ["Qwen2ForCausalLM"],
      model_type: "qwen2",
      torch_dtype: "bfloat16",
      hidden_size: 5120,
      num_hidden_layers: 48,
      num_attention_heads: 40,
      num_key_value_heads: 8,
      sliding_window: 131072,
      use_sliding_window: false,
    },
    source: "huggingface.co/jebish7/Qwen2.5-14B-Instruct config.json (a copy)",
    note: "full attention only: the window field is there but switched off",
    refusedAs: "full_only",
  },
];

/** The preset of a name. Throws `InputError` (`config`) with the nearest name. @public */
export function presetNamed(name: string): ModelPreset {
  const preset = PRESETS.find((entry) => entry.name === name);
  if (preset !== undefined) return preset;
  const known = PRESETS.map((entry) => entry.name);
  const nearest = nearestWord(name, known);
  const hint = nearest === null ? `known: ${known.join(", ")}` : `did you mean "${nearest}"?`;
  throw new InputError("config", `unknown preset "${name}"; ${hint}`, { expected: "a preset" });
}

/** A whole configuration for a preset's name alone: pages of 16 tokens, 16 GiB, 64 requests of up to 32,768 tokens.
 * @public */
export function presetConfig(name: string): ModelConfig {
  return {
    model: { preset: presetNamed(name).name },
    page_size: 16,
    budget_bytes: 16 * 2 ** 30,
    max_running_requests: 64,
    row_tokens: 32_768,
    overlap: true,
  };
}
