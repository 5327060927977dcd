// Models that are refused by what they are (unified-memory-guide.md, "Supported models").
import { type Fields, notSupported } from "./model-fields.js";
import { refusePlan } from "./model-plan.js";

const REFUSED_TYPES = ["deepseek_v4", "qwen4_exp", "kimi_k3_1", "unlimited_ocr_v2"];

const READ_TYPES = [
  ...["gpt_oss", "gemma3", "gemma4", "qwen3_next", "qwen3_5", "kimi_linear", "inkling"],
  ...["llama", "llama4", "qwen2", "deepseek_v3", "minicpm"],
];

const STATE_KEYS = ["mamba_d_state", "ssm_state_size"]; // a state that no family above describes

/** Refuses with `model_unsupported`; as unsupported where it cannot tell. @internal */
export function refuseByName(top: Fields, text: Fields, type: string): void {
  if (REFUSED_TYPES.includes(type)) refusePlan("model_unsupported");
  if (type === "minicpm" && top.has("sparse_config")) refusePlan("model_unsupported");
  const stateKey = STATE_KEYS.find((key) => text.has(key));
  if (READ_TYPES.includes(type))
    return stateKey === undefined ? undefined : notSupported(`${stateKey} of model type ${type}`);
  if (stateKey !== undefined) refusePlan("model_unsupported");
  // An unknown model is read only if it states plain attention and nothing else.
  const others = text.keys().filter((key) => !PLAIN_KEYS.includes(key));
  if (others.length > 0) notSupported(`the key ${others.join(", ")} of model type ${type}`);
}

const PLAIN_KEYS = [
  ...["model_type", "num_hidden_layers", "hidden_size", "num_attention_heads", "dtype"],
  ...["num_key_value_heads", "head_dim", "sliding_window", "use_sliding_window", "layer_types"],
  ...["torch_dtype", "max_position_embeddings"],
];
