// What layers store, as plain data: a layer declares parts, a part is a geometry with a lifetime.

/** Bytes of one element of each type that a cache can hold; fp8 is stored as 1-byte elements. @public */
export const ELEMENT_BYTES = {
  float32: 4,
  bfloat16: 2,
  float16: 2,
  fp8_e4m3: 1,
  fp8_e5m2: 1,
  int8: 1,
  uint8: 1,
  int32: 4,
  int64: 8,
} as const;
/** @public */
export type ElementType = keyof typeof ELEMENT_BYTES;

/** One tensor of a state slot, or one sibling. @public */
export interface KVTensor {
  readonly shape: readonly number[]; // a temporal shape may hold a 0: a conv-only model
  readonly element: ElementType;
}
/** Multi-head attention: K rows and V rows, whose head dimensions may differ. @public */
export interface MhaGeometry {
  readonly kind: "mha";
  readonly heads: number; // KV heads of this rank
  readonly keyDim: number; // elements a head
  readonly valueDim: number; // elements a head
  readonly element: ElementType;
  readonly indexKey?: KVTensor; // an index-key row of its own, after V
}
/** Latent attention: one row a token, V is a prefix of it; independent of heads and of tensor parallelism. @public */
export interface MlaGeometry {
  readonly kind: "mla";
  readonly latentDim: number; // kv_lora_rank, elements
  readonly ropeDim: number; // qk_rope_head_dim, elements; may be 0
  readonly element: ElementType;
  readonly indexKey?: KVTensor; // an index-key row of its own, after the latent row
}
/** Recurrent state of one layer in one slot. @public */
export interface StateGeometry {
  readonly kind: "state";
  readonly mixer: "linear" | "mamba"; // linear: GDN, KDA; mamba: Mamba and short convolutions
  readonly conv: readonly KVTensor[]; // at least one
  readonly temporal: KVTensor;
  readonly siblings: readonly KVTensor[]; // side-states of other types, behind the state bytes
}
/** @public */
export type KVGeometry = MhaGeometry | MlaGeometry | StateGeometry;

/** How long what a part stores is kept. @public */
export type KVLifetime =
  | { readonly kind: "full" }
  | { readonly kind: "window"; readonly tokens: number | null } // null: a window of unknown length
  | { readonly kind: "state"; readonly checkpointTokens: number | null }; // null: no checkpoint grid

/** What one allocation hands out: a page of tokens, or one slot. @public */
export type AllocationUnit =
  { readonly kind: "page"; readonly tokens: number | null } | { readonly kind: "slot" }; // null: the page size of the run

/** Whose layers: the served model's, or those of a draft fused into its entries. @public */
export type KVModelRole = "target" | "draft";

/** Bytes that one part puts into its sub-pool's entry for one token or slot, in layout order. @public */
export interface UnitBlock {
  readonly name: string; // "k", "v", "latent", "index_key", "conv0", …, "temporal", "sibling0", …
  readonly bytes: number; // of one token row, or of one slot
  readonly shape: readonly number[];
  readonly element: ElementType;
}
/** @public */
export interface KVPart {
  readonly layer: number; // 0-based in its own model
  readonly role: KVModelRole;
  readonly geometry: KVGeometry;
  readonly lifetime: KVLifetime;
  readonly unit: AllocationUnit;
  readonly unitBlocks: readonly UnitBlock[];
}
/** One layer: a full part, a window part, a state part, or attention and state together. @public */
export interface KVLayerDecl {
  readonly layer: number; // 0-based in its own model
  readonly role: KVModelRole;
  readonly parts: readonly KVPart[];
}
