// Layers written out: `{"layers":[{"count":2,"attention":{…},"state":{…}}]}`. For tests and for models without a file.
import { InputError } from "../../base/errors.js";
import type { ConfigFields } from "./config-fields.js";
import type { FamilyContext } from "./model.js";
import type { PartPlace } from "./parts.js";
import { kvPart } from "./parts.js";
import type { KVLifetime, KVPart, KVTensor } from "./types.js";

const ENTRY_KEYS = ["count", "attention", "state"];
const ATTENTION_KEYS = ["kind", "heads", "head_dim", "v_head_dim", "kv_lora_rank"].concat([
  "qk_rope_head_dim",
  "dtype",
  "window",
  "page_tokens",
  "index_key",
]);
const STATE_KEYS = ["mixer", "conv", "conv_dtype", "temporal", "temporal_dtype", "siblings"];

/** The parts of every layer, `count` copies of each entry in order. Throws `InputError` (`config`). @internal */
export function readLayersForm(model: ConfigFields, context: FamilyContext): KVPart[][] {
  const entries = model.objects("layers") ?? [];
  if (entries.length === 0)
    throw new InputError("config", `${model.path}/layers is empty, expected at least one layer`);
  const layers: KVPart[][] = [];
  for (const entry of entries) {
    entry.onlyKeys(ENTRY_KEYS);
    const count = entry.optionalInteger("count") ?? 1;
    for (let copy = 0; copy < count; copy++) layers.push(entryParts(entry, layers.length, context));
  }
  return layers;
}

function entryParts(entry: ConfigFields, layer: number, context: FamilyContext): KVPart[] {
  const parts: KVPart[] = [];
  const attention = entry.object("attention");
  const state = entry.object("state");
  if (attention !== undefined) parts.push(attentionPart(attention, layer, context));
  if (state !== undefined) parts.push(stateForm(state, layer, context));
  return parts;
}

function attentionPart(fields: ConfigFields, layer: number, context: FamilyContext): KVPart {
  fields.onlyKeys(ATTENTION_KEYS);
  const kind = fields.text("kind") ?? "mha";
  const element = fields.element("dtype") ?? context.kvElement;
  const indexKey = fields.has("index_key") ? tensor(fields, "index_key", element) : undefined;
  const extra = indexKey === undefined ? {} : { indexKey };
  const pageTokens = fields.optionalInteger("page_tokens");
  const place: PartPlace = {
    layer,
    role: context.role,
    ...(pageTokens === undefined ? {} : { pageTokens }),
  };
  if (kind === "mla") {
    const latentDim = fields.integer("kv_lora_rank");
    const ropeDim = fields.optionalInteger("qk_rope_head_dim", 0) ?? 0;
    return kvPart({ kind: "mla", latentDim, ropeDim, element, ...extra }, lifetime(fields), place);
  }
  if (kind !== "mha") throw fields.error("kind", `"${kind}" is neither mha nor mla`);
  const keyDim = fields.integer("head_dim");
  const valueDim = fields.optionalInteger("v_head_dim") ?? keyDim;
  const heads = Math.max(1, Math.floor(fields.integer("heads") / context.tensorParallel));
  return kvPart(
    { kind: "mha", heads, keyDim, valueDim, element, ...extra },
    lifetime(fields),
    place,
  );
}

// No `window` is full attention; a null one is a window whose length nobody states.
function lifetime(fields: ConfigFields): KVLifetime {
  if (!fields.keys().includes("window")) return { kind: "full" };
  return { kind: "window", tokens: fields.optionalInteger("window") ?? null };
}

function stateForm(fields: ConfigFields, layer: number, context: FamilyContext): KVPart {
  fields.onlyKeys(STATE_KEYS);
  const mixer = fields.text("mixer") ?? "mamba";
  if (mixer !== "mamba" && mixer !== "linear")
    throw fields.error("mixer", `"${mixer}" is neither mamba nor linear`);
  const convElement = fields.element("conv_dtype") ?? context.convElement;
  const conv = shapes(fields, "conv").map((shape) => ({ shape, element: convElement }));
  const temporal = {
    shape: fields.integers("temporal") ?? [0],
    element: context.temporalElement ?? fields.element("temporal_dtype") ?? "float32",
  };
  const siblings = (fields.objects("siblings") ?? []).map((sibling): KVTensor => {
    sibling.onlyKeys(["shape", "dtype"]);
    return {
      shape: sibling.integers("shape", 1) ?? [1],
      element: sibling.element("dtype") ?? "int64",
    };
  });
  return kvPart(
    { kind: "state", mixer, conv, temporal, siblings },
    { kind: "state", checkpointTokens: context.checkpointTokens },
    { layer, role: context.role },
  );
}

function tensor(fields: ConfigFields, key: string, element: KVTensor["element"]): KVTensor {
  const inner = fields.object(key);
  inner?.onlyKeys(["shape", "dtype"]);
  return {
    shape: inner?.integers("shape", 1) ?? [1],
    element: inner?.element("dtype") ?? element,
  };
}

function shapes(fields: ConfigFields, key: string): readonly (readonly number[])[] {
  const value = fields.raw(key);
  const isShape = (item: unknown): boolean =>
    Array.isArray(item) && item.every((dimension) => Number.isSafeInteger(dimension));
  if (!Array.isArray(value) || !value.every(isShape))
    throw fields.error(key, "expected a list of shapes, each a list of integers");
  return value as readonly (readonly number[])[];
}
