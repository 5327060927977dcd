// The model form's own keys, read once: which layers, which options of planning and sizing. Types are checked here again
// because the allocator is also driven without a trace reader.
import type { CheckpointConfig, ModelConfig } from "../base/operations.js";
import { ConfigFields, elementType } from "./decl/config-fields.js";
import type { DeclarationOptions } from "./decl/model.js";
import type { Features } from "./features/reading.js";
import { readFeatures } from "./features/reading.js";

const DEFAULT_CHECKPOINT_TOKENS = 256;
const DEFAULT_CONTEXT_TOKENS = 32_768;
const DEFAULT_RUNNING_REQUESTS = 256;

/** @internal */
export interface BuildOptions {
  readonly fields: ConfigFields;
  readonly features: Features;
  readonly pageTokens: number;
  readonly budgetBytes: number;
  readonly contextRanks: number;
  readonly checkpoint: CheckpointConfig | undefined; // an interval filled in where the strategy tracks
  readonly checkpointTokens: number | null;
  readonly prefixSharing: boolean;
  readonly overlap: boolean;
  readonly runningRequests: number; // the user's limit
  readonly declarations: DeclarationOptions;
}

/** Reads the keys of a model form. Throws `InputError` (`config`). @internal */
export function readBuildOptions(config: ModelConfig): BuildOptions {
  const fields = new ConfigFields(config, "");
  const features = readFeatures(fields);
  const checkpoint = checkpointOf(fields);
  const checkpointTokens = checkpoint?.interval ?? null;
  const rows = fields.optionalInteger("rows");
  const limit = fields.optionalInteger("max_running_requests", 0);
  return {
    fields,
    features,
    pageTokens: fields.integer("page_size"),
    budgetBytes: fields.integer("budget_bytes", 0),
    contextRanks: fields.optionalInteger("dcp_size") ?? 1,
    checkpoint,
    checkpointTokens,
    prefixSharing: fields.boolean("prefix_sharing") ?? false,
    overlap: fields.boolean("overlap") ?? false,
    runningRequests: Math.min(limit ?? rows ?? DEFAULT_RUNNING_REQUESTS, rows ?? Infinity),
    declarations: declarationOptions(features, checkpointTokens),
  };
}

// A strategy that tracks has a grid; `no_buffer` keeps state at a sequence's end only.
function checkpointOf(fields: ConfigFields): CheckpointConfig | undefined {
  const given = fields.object("checkpoint");
  if (given === undefined) return undefined;
  const strategy = given.text("strategy");
  if (strategy !== "no_buffer" && strategy !== "extra_buffer" && strategy !== "extra_buffer_lazy")
    throw given.error("strategy", "expected no_buffer, extra_buffer or extra_buffer_lazy");
  const interval = given.optionalInteger("interval");
  if (strategy === "no_buffer") return { strategy };
  return { strategy, interval: interval ?? DEFAULT_CHECKPOINT_TOKENS };
}

function declarationOptions(
  features: Features,
  checkpointTokens: number | null,
): DeclarationOptions {
  const element = (key: string) => {
    const name = features.word(key);
    // FP4 types are refused by their own rule, with the reason; until then the model's type stands for them.
    const isFp4 = name?.includes("fp4") ?? false;
    return name === undefined || name === "auto" || isFp4
      ? undefined
      : elementType(name, `/features/${key}`);
  };
  const kvElement = element("kv_cache_dtype");
  const convElement = element("mamba_conv_dtype");
  const temporalElement = element("mamba_ssm_dtype");
  return {
    tensorParallel: features.attentionRanks,
    checkpointTokens,
    ...(kvElement === undefined ? {} : { kvElement }),
    ...(convElement === undefined ? {} : { convElement }),
    ...(temporalElement === undefined ? {} : { temporalElement }),
  };
}

/** State slots of one request: its own and those that tracking needs. @internal */
export function slotsPerRequest({ checkpoint, overlap }: BuildOptions): number {
  if (checkpoint === undefined || checkpoint.strategy === "no_buffer") return 1;
  return checkpoint.strategy === "extra_buffer" && overlap ? 3 : 2;
}

/** The longest request and the width of a row, tokens: what is stated, else what the model says. A row's width bounds
 * the request. @internal */
export function lengthsOf(
  { fields }: BuildOptions,
  modelContextTokens: number | null,
): { readonly contextTokens: number; readonly rowTokens: number } {
  const width = fields.optionalInteger("row_tokens");
  const context =
    fields.optionalInteger("context_tokens") ??
    modelContextTokens ??
    width ??
    DEFAULT_CONTEXT_TOKENS;
  const rowTokens = width ?? context;
  return { contextTokens: Math.min(context, rowTokens), rowTokens };
}
