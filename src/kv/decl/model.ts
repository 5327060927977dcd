// What reading a model gives, and what a reader of one family is given. Types and the helpers that readers share.
import type { ConfigFields } from "./config-fields.js";
import { kvPart } from "./parts.js";
import type { ElementType, KVLayerDecl, KVLifetime, KVModelRole, KVPart } from "./types.js";

/** How a model is served, as far as it changes what its layers store. @public */
export interface DeclarationOptions {
  readonly role?: KVModelRole; // default target
  readonly tensorParallel?: number; // ranks over which attention is divided, default 1
  readonly kvElement?: ElementType; // overrides what the model says
  readonly convElement?: ElementType; // default bfloat16
  readonly temporalElement?: ElementType; // overrides what the model says; default float32
  readonly checkpointTokens?: number | null; // the checkpoint grid of state, default none
}

/** @public */
export interface ModelDeclarations {
  readonly name: string; // preset, model type or "layers"
  readonly modelType: string | null;
  readonly layerCount: number; // layers of the model, those without cache included
  readonly decls: readonly KVLayerDecl[]; // layers that store something, ascending
  readonly contextTokens: number | null; // what the model says
  readonly isLocalAttention: boolean; // attends in chunks
  readonly windowRatio: number; // default of `swa_full_tokens_ratio`
  readonly stateShare: number; // default of `mamba_full_memory_ratio`
}

/** What a family's reader works with. @internal */
export interface FamilyContext {
  readonly role: KVModelRole;
  readonly tensorParallel: number;
  readonly kvElement: ElementType;
  readonly modelElement: ElementType;
  readonly convElement: ElementType;
  readonly temporalElement: ElementType | undefined; // what overrides or the file say
  readonly checkpointTokens: number | null;
}

/** The parts of every layer by layer index; an empty list stores nothing. @internal */
export type FamilyReader = (
  text: ConfigFields,
  context: FamilyContext,
) => readonly (readonly KVPart[])[];

/** Words that a layer's kind may have in a file. @internal */
export type LayerKind = "full" | "window" | "linear" | "chunked";

/** Dimensions of one kind of attention layer, before tensor parallelism. @internal */
export interface MhaShape {
  readonly heads: number;
  readonly keyDim: number;
  readonly valueDim?: number; // default keyDim
}

/** An MHA part; KV heads are divided over ranks, at least one each. @internal */
export function mhaPart(
  layer: number,
  shape: MhaShape,
  lifetime: KVLifetime,
  context: FamilyContext,
): KVPart {
  const heads = Math.max(1, Math.floor(shape.heads / context.tensorParallel));
  const { keyDim, valueDim = keyDim } = shape;
  return kvPart({ kind: "mha", heads, keyDim, valueDim, element: context.kvElement }, lifetime, {
    layer,
    role: context.role,
  });
}

/** An MLA part; rows are the same on every rank. @internal */
export function mlaPart(layer: number, text: ConfigFields, context: FamilyContext): KVPart {
  return kvPart(
    {
      kind: "mla",
      latentDim: text.integer("kv_lora_rank"),
      ropeDim: text.integer("qk_rope_head_dim", 0),
      element: context.kvElement,
    },
    { kind: "full" },
    { layer, role: context.role },
  );
}

/** Head dimension: the field, or hidden size over attention heads. @internal */
export function headDim(text: ConfigFields, key = "head_dim"): number {
  const stated = text.optionalInteger(key);
  if (stated !== undefined) return stated;
  const hidden = text.integer("hidden_size");
  const heads = text.integer("num_attention_heads");
  if (hidden % heads !== 0)
    throw text.error(key, `is absent and hidden_size ${hidden} is no multiple of ${heads} heads`);
  return hidden / heads;
}

/** KV heads: the field, or one a query head. @internal */
export function kvHeads(text: ConfigFields): number {
  return text.optionalInteger("num_key_value_heads") ?? text.integer("num_attention_heads");
}

/** `value / ranks`, which must be whole. @internal */
export function dividedOverRanks(
  value: number,
  key: string,
  text: ConfigFields,
  context: FamilyContext,
): number {
  if (value % context.tensorParallel !== 0)
    throw text.error(key, `${value} is not divisible over ${context.tensorParallel} ranks`);
  return value / context.tensorParallel;
}

const KIND_WORDS: ReadonlyMap<string, LayerKind> = new Map<string, LayerKind>([
  ["full_attention", "full"],
  ["attention", "full"],
  ["hybrid", "full"],
  ["sliding_attention", "window"],
  ["hybrid_sliding", "window"],
  ["linear_attention", "linear"],
  ["chunked_attention", "chunked"],
]);

/** `layer_types` as kinds, checked for length, or undefined when the file has none. @internal */
export function layerTypes(text: ConfigFields): LayerKind[] | undefined {
  const words = text.texts("layer_types");
  if (words === undefined) return undefined;
  const count = text.integer("num_hidden_layers");
  if (words.length !== count)
    throw text.error("layer_types", `has ${words.length} entries for ${count} layers`);
  return words.map((word, index) => {
    const kind = KIND_WORDS.get(word);
    if (kind === undefined)
      throw text.error(
        `layer_types/${index}`,
        `"${word}" is no known kind of layer (${[...KIND_WORDS.keys()].join(", ")})`,
      );
    return kind;
  });
}

/** Kinds by a rule over 0-based layer indices. @internal */
export function kindsBy(text: ConfigFields, kind: (index: number) => LayerKind): LayerKind[] {
  return Array.from({ length: text.integer("num_hidden_layers") }, (_, index) => kind(index));
}

/** Every `interval`-th layer is full, the others are `other`. @internal */
export function everyNth(text: ConfigFields, interval: number, other: LayerKind): LayerKind[] {
  return kindsBy(text, (index) => ((index + 1) % interval === 0 ? "full" : other));
}
