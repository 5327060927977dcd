// A model as a list of layers: what each layer keeps for a token and for a request (allocator.md 1.1).
import { bytesOfElement, Fields, notSupported, wholesOf } from "./model-fields.js";

/** The rows that one attention layer keeps for every token. @internal */
export interface AttentionPart {
  readonly kind: "mha" | "mla";
  readonly heads: number; // KV heads of one rank; 1 for mla
  readonly keyDim: number; // mla: rank and rope columns together
  readonly valueDim: number; // mla: 0
  readonly element: string;
  readonly window: number | null | undefined; // tokens; null: unknown length; undefined: full attention
  readonly pageTokens: number | null; // an allocation unit of its own
}

/** A further state of a slot, of its own element type. @internal */
export interface SiblingPart {
  readonly shape: readonly number[];
  readonly element: string;
}

/** The state that one layer keeps for a request. @internal */
export interface StatePart {
  readonly mixer: "mamba" | "linear";
  readonly conv: readonly (readonly number[])[];
  readonly convElement: string;
  readonly temporal: readonly number[];
  readonly temporalElement: string;
  readonly siblings: readonly SiblingPart[];
}

/** @internal */
export interface Layer {
  readonly attention: AttentionPart | null;
  readonly state: StatePart | null;
}

/** A model that was read. @internal */
export interface Model {
  readonly layers: readonly Layer[];
  readonly contextTokens: number | null; // the longest sequence it states
  readonly hasLocalAttention: boolean; // attention in chunks
  readonly windowRatio?: number; // its own default of window tokens a full token
  readonly stateRatio?: number; // its own default of the state's share
}

/** What stands above a model: element types of flags, the ranks of attention. @internal */
export interface Surroundings {
  readonly kvElement: string | null;
  readonly temporalElement: string | null;
  readonly convElement: string | null;
  readonly ranks: number; // attention TP
}

const MODEL_KEYS = [
  "layers",
  "name",
  "dtype",
  "max_position_embeddings",
  "kv_cache_dtype",
  "mamba_ssm_dtype",
  "mamba_conv_dtype",
];

/** Reads `{"layers":[…]}`. @internal */
export function readLayers(value: unknown, path: string, above: Surroundings): Model {
  const model = new Fields(value, path, MODEL_KEYS);
  const kvElement =
    above.kvElement ??
    cacheElement(model.textOr("kv_cache_dtype", null)) ??
    model.elementOr("dtype", "bfloat16");
  const surroundings: Elements = {
    kvElement,
    temporalElement: above.temporalElement ?? model.elementOr("mamba_ssm_dtype", null),
    convElement: above.convElement ?? model.elementOr("mamba_conv_dtype", "bfloat16"),
    ranks: above.ranks,
  };
  const layers = model.list("layers").flatMap((entry, index) => {
    const layer = new Fields(entry, `${path} layer ${index}`, ["count", "attention", "state"]);
    const read: Layer = {
      attention: layer.has("attention") ? readAttention(layer, surroundings) : null,
      state: layer.has("state") ? readState(layer, surroundings) : null,
    };
    return Array.from({ length: layer.wholeOr("count", 1) }, () => read);
  });
  if (layers.length === 0) notSupported("a model without layers");
  return {
    layers,
    contextTokens: model.wholeOr("max_position_embeddings", null),
    hasLocalAttention: false,
  };
}

/** An element type of the KV cache; null for `auto`. @internal */
export function cacheElement(name: string | null): string | null {
  if (name === null || name === "auto") return null;
  return bytesOfElement(name) !== undefined ? name : notSupported(`the element type ${name}`);
}

interface Elements {
  readonly kvElement: string;
  readonly temporalElement: string | null; // replaces what a layer says
  readonly convElement: string; // where a layer says nothing
  readonly ranks: number;
}

const ATTENTION_KEYS = [
  "kind",
  "heads",
  "head_dim",
  "v_head_dim",
  "kv_lora_rank",
  "qk_rope_head_dim",
  "dtype",
  "window",
  "page_tokens",
];

function readAttention(layer: Fields, elements: Elements): AttentionPart {
  const part = layer.child("attention", ATTENTION_KEYS);
  const window = part.raw("window") === null ? null : part.wholeOr("window", undefined);
  const rest = {
    element: part.elementOr("dtype", elements.kvElement),
    window,
    pageTokens: part.wholeOr("page_tokens", null),
  };
  const kind = part.textOr("kind", "mha");
  if (kind === "mla") {
    const keyDim = part.whole("kv_lora_rank") + part.wholeOr("qk_rope_head_dim", 0, 0);
    return { kind, heads: 1, keyDim, valueDim: 0, ...rest };
  }
  if (kind !== "mha") notSupported(`attention of kind ${kind}`);
  const keyDim = part.whole("head_dim");
  const heads = Math.max(1, Math.floor(part.whole("heads") / elements.ranks));
  return { kind, heads, keyDim, valueDim: part.wholeOr("v_head_dim", keyDim), ...rest };
}

const STATE_KEYS = ["mixer", "conv", "conv_dtype", "temporal", "temporal_dtype", "siblings"];

function readState(layer: Fields, elements: Elements): StatePart {
  const part = layer.child("state", STATE_KEYS);
  const mixer = part.textOr("mixer", "mamba");
  if (mixer !== "mamba" && mixer !== "linear") notSupported(`the mixer ${mixer}`);
  const conv = part.list("conv").map((shape) => {
    if (!Array.isArray(shape)) notSupported("such a conv shape");
    return wholesOf(shape, "conv shape");
  });
  if (conv.length === 0) notSupported("a state without a conv shape");
  const siblings = part.has("siblings") ? part.list("siblings") : [];
  return {
    mixer,
    conv,
    convElement: part.elementOr("conv_dtype", elements.convElement),
    temporal: part.has("temporal") ? part.wholes("temporal", 0) : [0],
    temporalElement: elements.temporalElement ?? part.elementOr("temporal_dtype", "float32"),
    siblings: siblings.map((value) => {
      const sibling = new Fields(value, "sibling", ["shape", "dtype"]);
      const element = sibling.elementOr("dtype", null) ?? notSupported("a sibling without dtype");
      return { shape: sibling.wholes("shape"), element };
    }),
  };
}
