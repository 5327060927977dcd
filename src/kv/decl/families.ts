// Which reader reads which model, by the names that files carry, and which models are refused by name.
import type { ConfigFields } from "./config-fields.js";
import {
  readAttentionOnly,
  readGemma3,
  readGemma4,
  readGptOss,
  readLatentOnly,
} from "./families-attention.js";
import { readGatedDelta, readInkling, readKimiLinear, readPhiFlash } from "./families-state.js";
import type { FamilyReader } from "./model.js";

/** @internal */
export interface ModelFamily {
  readonly modelTypes: readonly string[];
  readonly architectures: readonly string[];
  readonly read: FamilyReader;
  readonly windowRatio?: number; // default of `swa_full_tokens_ratio`
  readonly stateShare?: number; // default of `mamba_full_memory_ratio`
}

const FAMILIES: readonly ModelFamily[] = [
  { modelTypes: ["gpt_oss"], architectures: ["GptOssForCausalLM"], read: readGptOss },
  {
    modelTypes: ["gemma3", "gemma3_text", "gemma2"],
    architectures: ["Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"],
    read: readGemma3,
  },
  {
    modelTypes: ["gemma4", "gemma4_text", "gemma4_unified"],
    architectures: ["Gemma4ForConditionalGeneration", "Gemma4ForCausalLM"],
    read: readGemma4,
  },
  {
    modelTypes: ["qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"],
    architectures: ["Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration"],
    read: readGatedDelta,
  },
  {
    modelTypes: ["kimi_linear"],
    architectures: ["KimiLinearForCausalLM"],
    read: readKimiLinear,
  },
  {
    modelTypes: ["inkling_mm_model", "inkling_model", "inkling_text"],
    architectures: ["InklingForConditionalGeneration"],
    read: readInkling,
    windowRatio: 0.1,
    stateShare: 0.1,
  },
  { modelTypes: ["phi4flash"], architectures: ["Phi4FlashForCausalLM"], read: readPhiFlash },
  {
    modelTypes: ["deepseek_v2", "deepseek_v3"],
    architectures: ["DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM"],
    read: readLatentOnly,
  },
];

interface NamedRefusal {
  readonly name: string;
  readonly names: RegExp; // over model types and architectures in lower case without punctuation
  readonly reason: string;
  readonly onlyWith?: readonly string[]; // fields, one of which the file must hold
}

/** The user guide's table of models that are refused by name. @public */
export const UNSUPPORTED_MODELS: readonly NamedRefusal[] = [
  {
    name: "DeepSeek-V4",
    names: /^deepseekv4/,
    reason: "compressed-KV attention has no page-major entry",
  },
  { name: "Qwen4-Exp", names: /^qwen4exp/, reason: "its model override refuses unified memory" },
  { name: "Kimi-K3.1", names: /^kimik3/, reason: "its model override refuses unified memory" },
  {
    name: "Unlimited-OCR v2",
    names: /^unlimitedocrv?2/,
    reason: "its model override refuses unified memory",
  },
  {
    name: "MiniCPM with sparse attention",
    names: /^minicpm/,
    reason: "its model override refuses unified memory with the sparse attention backends",
    onlyWith: ["sparse_config", "has_minicpm_sparse_attention"],
  },
];

// Fields of layers that no reader here understands.
const FOREIGN_STATE_FIELDS = [
  "hybrid_override_pattern",
  "layers_block_type",
  "attn_layer_period",
  "mamba_d_state",
  "mamba_num_heads",
  "ssm_state_size",
  "ssm_cfg",
  "state_size",
  "conv_L_cache",
  "linear_attn_config",
  "linear_num_value_heads",
  "attn_type_list",
  "rwkv_version",
];

/** The names a file carries: model types and architectures, the outer ones first. @internal */
export function namesOf(top: ConfigFields, text: ConfigFields): readonly string[] {
  const types = [top.text("model_type"), text.text("model_type")];
  const architectures = top.texts("architectures") ?? [];
  return [...types, ...architectures].filter((name) => name !== undefined);
}

/** The reader of a file, or why there is none. @internal */
export function familyOf(
  top: ConfigFields,
  text: ConfigFields,
): { readonly family: ModelFamily } | { readonly reason: string } {
  const names = namesOf(top, text);
  const plain = names.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
  for (const row of UNSUPPORTED_MODELS) {
    const isPresent = row.onlyWith?.some((key) => top.has(key) || text.has(key)) ?? true;
    if (isPresent && plain.some((name) => row.names.test(name)))
      return { reason: `${row.name} is not supported: ${row.reason}` };
  }
  const known = FAMILIES.find((family) =>
    names.some((name) => family.modelTypes.includes(name) || family.architectures.includes(name)),
  );
  if (known !== undefined) return { family: known };
  const foreign = FOREIGN_STATE_FIELDS.find((key) => text.has(key));
  if (foreign !== undefined)
    return {
      reason: `model type "${names[0] ?? "?"}" keeps state (${foreign}) that no reader here knows`,
    };
  return { family: { modelTypes: [], architectures: [], read: readAttentionOnly } };
}
