// Readers of models whose layers keep recurrent state: GDN, KDA, short convolutions, Mamba.
import type { ConfigFields } from "./config-fields.js";
import type { FamilyContext, FamilyReader } from "./model.js";
import {
  dividedOverRanks,
  everyNth,
  headDim,
  kindsBy,
  kvHeads,
  layerTypes,
  mhaPart,
  mlaPart,
} from "./model.js";
import { kvPart } from "./parts.js";
import type { ElementType, KVPart, KVTensor } from "./types.js";

/** Qwen3-Next and Qwen3.5: gated delta net, every n-th layer full. @internal */
export const readGatedDelta: FamilyReader = (text, context) => {
  const kinds =
    layerTypes(text) ?? everyNth(text, text.integer("full_attention_interval"), "linear");
  const attention = { heads: kvHeads(text), keyDim: headDim(text) };
  return kinds.map((kind, layer) =>
    kind === "linear"
      ? [gatedDeltaPart(layer, text, context)]
      : [mhaPart(layer, attention, { kind: "full" }, context)],
  );
};

// Conv state is q, k and v side by side; key heads that ranks do not divide are repeated, one a rank.
function gatedDeltaPart(layer: number, text: ConfigFields, context: FamilyContext): KVPart {
  const keyHeads = text.integer("linear_num_key_heads");
  const valueHeads = text.integer("linear_num_value_heads");
  const keyDim = text.integer("linear_key_head_dim");
  const valueDim = text.integer("linear_value_head_dim");
  const columns = text.integer("linear_conv_kernel_dim", 2) - 1;
  const groups = keyHeads % context.tensorParallel === 0 ? keyHeads : context.tensorParallel;
  const channels = dividedOverRanks(
    2 * groups * keyDim + valueHeads * valueDim,
    "linear_num_value_heads",
    text,
    context,
  );
  const heads = dividedOverRanks(valueHeads, "linear_num_value_heads", text, context);
  return statePart(layer, "linear", context, {
    conv: [[channels, columns]],
    temporal: [heads, valueDim, keyDim],
  });
}

/** Kimi Linear: layer lists count from 1; a layer is KDA when its number is listed, else latent attention. The
 * top-level head fields belong to neither. @internal */
export const readKimiLinear: FamilyReader = (text, context) => {
  const linear = text.object("linear_attn_config");
  const kda = new Set(linear?.integers("kda_layers", 1) ?? []);
  const count = text.integer("num_hidden_layers");
  for (const layer of kda)
    if (layer > count)
      throw text.error("linear_attn_config/kda_layers", `${layer} is beyond ${count} layers`);
  return kindsBy(text, (index) => (kda.has(index + 1) ? "linear" : "full")).map((kind, layer) =>
    kind === "full" || linear === undefined
      ? [mlaPart(layer, text, context)]
      : [kimiDeltaPart(layer, linear, context)],
  );
};

function kimiDeltaPart(layer: number, linear: ConfigFields, context: FamilyContext): KVPart {
  const heads = dividedOverRanks(linear.integer("num_heads"), "num_heads", linear, context);
  const dim = linear.integer("head_dim");
  const rows = linear.integer("short_conv_kernel_size", 2) - 1;
  return statePart(layer, "linear", context, {
    conv: [[rows, 3 * heads * dim]],
    temporal: [heads, dim, dim],
  });
}

/** Inkling: every layer owns attention and state together. The state charges six short convolutions on every layer (K
 * and V of a full layer, K and V of a window layer, two residual streams), though a layer writes four; plain fields
 * describe full layers, `swa_*` the windows. @internal */
export const readInkling: FamilyReader = (text, context) => {
  const full = { heads: kvHeads(text), keyDim: headDim(text) };
  const window = {
    heads: text.optionalInteger("swa_num_key_value_heads") ?? full.heads,
    keyDim: text.optionalInteger("swa_head_dim") ?? full.keyDim,
  };
  const tokens =
    text.optionalInteger("sliding_window_size") ?? text.optionalInteger("sliding_window") ?? null;
  const local = text.integers("local_layer_ids");
  const kinds =
    local !== undefined
      ? kindsBy(text, (index) => (local.includes(index) ? "window" : "full"))
      : (layerTypes(text) ?? everyNth(text, 6, "window"));
  const hasState = text.boolean("use_sconv") ?? true;
  return kinds.map((kind, layer) => {
    const attention =
      kind === "full"
        ? mhaPart(layer, full, { kind: "full" }, context)
        : mhaPart(layer, window, { kind: "window", tokens }, context);
    return hasState ? [attention, inklingState(layer, text, full, window, context)] : [attention];
  });
};

interface Heads {
  readonly heads: number;
  readonly keyDim: number;
}

// K and V channels are divided over ranks, the two streams stay whole.
function inklingState(
  layer: number,
  text: ConfigFields,
  full: Heads,
  window: Heads,
  context: FamilyContext,
): KVPart {
  const kernel =
    text.optionalInteger("sconv_kernel_size", 2) ?? text.integer("conv_kernel_size", 2);
  const channels = ({ heads, keyDim }: Heads): number =>
    Math.max(1, Math.floor(heads / context.tensorParallel)) * keyDim;
  const hidden = text.integer("hidden_size");
  const widths = [
    channels(full),
    channels(full),
    channels(window),
    channels(window),
    hidden,
    hidden,
  ];
  return statePart(
    layer,
    "mamba",
    { ...context, temporalElement: "bfloat16" },
    { conv: widths.map((width) => [kernel - 1, width]), temporal: [0, 0, 0] },
  );
}

/** Phi-4-mini-flash (SambaY): Mamba on even layers up to the middle, windows on odd layers before it, one full layer
 * after it; the rest reads that layer's cache and stores nothing. State has the model's own element type. @internal */
export const readPhiFlash: FamilyReader = (text, context) => {
  const middle = Math.floor(text.integer("num_hidden_layers") / 2);
  const attention = { heads: kvHeads(text), keyDim: headDim(text) };
  const tokens = text.optionalInteger("sliding_window") ?? null;
  return kindsBy(text, () => "full").map((_, layer) => {
    if (layer > middle + 1) return [];
    if (layer % 2 === 0) return [mambaPart(layer, text, context)];
    if (layer < middle) return [mhaPart(layer, attention, { kind: "window", tokens }, context)];
    return [mhaPart(layer, attention, { kind: "full" }, context)];
  });
};

function mambaPart(layer: number, text: ConfigFields, context: FamilyContext): KVPart {
  const inner = (text.optionalInteger("mamba_expand") ?? 2) * text.integer("hidden_size");
  const channels = dividedOverRanks(inner, "hidden_size", text, context);
  const columns = (text.optionalInteger("mamba_d_conv", 2) ?? 4) - 1;
  const states = text.optionalInteger("mamba_d_state") ?? 16;
  const elements = {
    ...context,
    convElement: context.modelElement,
    temporalElement: context.temporalElement ?? context.modelElement,
  };
  return statePart(layer, "mamba", elements, {
    conv: [[channels, columns]],
    temporal: [channels, states],
  });
}

function statePart(
  layer: number,
  mixer: "linear" | "mamba",
  context: FamilyContext,
  shapes: { readonly conv: readonly (readonly number[])[]; readonly temporal: readonly number[] },
): KVPart {
  const tensor = (shape: readonly number[], element: ElementType): KVTensor => ({ shape, element });
  return kvPart(
    {
      kind: "state",
      mixer,
      conv: shapes.conv.map((shape) => tensor(shape, context.convElement)),
      temporal: tensor(shapes.temporal, context.temporalElement ?? "float32"),
      siblings: [],
    },
    { kind: "state", checkpointTokens: context.checkpointTokens },
    { layer, role: context.role },
  );
}
