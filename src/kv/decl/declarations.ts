// `declarationsOf`: a Hugging Face style configuration, a preset's name, or written-out layers, to layer declarations.
import { InputError } from "../../base/errors.js";
import type { PlanRefusal } from "../plan/refusals.js";
import { planRefused } from "../plan/refusals.js";
import { presetNamed } from "../presets/presets.js";
import { ConfigFields, elementType } from "./config-fields.js";
import { familyOf, namesOf } from "./families.js";
import { readLayersForm } from "./layers-form.js";
import type { DeclarationOptions, FamilyContext, ModelDeclarations } from "./model.js";
import { kvLayer } from "./parts.js";
import type { ElementType, KVLayerDecl, KVPart } from "./types.js";

const WINDOW_RATIO = 0.8;
const STATE_SHARE = 0.9;

const PRESET_KEYS = ["preset", "local_layers", "kv_cache_dtype"].concat([
  "mamba_ssm_dtype",
  "mamba_conv_dtype",
]);
const LAYERS_KEYS = ["layers", "name", "local_layers", "dtype", "max_position_embeddings"].concat(
  PRESET_KEYS.slice(2),
);

/** @public */
export type Declared = { readonly model: ModelDeclarations } | { readonly refusal: PlanRefusal };

/**
 * What each layer of a model stores. `model` is a configuration file's object, `{"preset":NAME}` or `{"layers":[…]}`;
 * the last two take `local_layers` (`[first, count]`, the layers of a pipeline stage) and the cache's element types
 * beside them. Throws `InputError` (`config`) on an unknown preset and on a field that is missing or wrong.
 * @public
 */
export function declarationsOf(
  model: Readonly<Record<string, unknown>>,
  options: DeclarationOptions = {},
): Declared {
  const path = options.role === "draft" ? "/draft" : "/model";
  const fields = new ConfigFields(model, path);
  if (fields.has("layers")) return declaredLayers(fields, options);
  const presetName = fields.text("preset");
  if (presetName === undefined) return declaredConfig(fields, fields, null, options);
  fields.onlyKeys(PRESET_KEYS);
  const preset = presetNamed(presetName);
  return declaredConfig(
    new ConfigFields(preset.config, `${path} (${presetName})`),
    fields,
    presetName,
    options,
  );
}

function declaredLayers(fields: ConfigFields, options: DeclarationOptions): Declared {
  fields.onlyKeys(LAYERS_KEYS);
  const context = contextOf(fields, fields, fields, options);
  const layers = readLayersForm(fields, context);
  const name = fields.text("name") ?? "layers";
  return { model: declared(layers, fields, fields, { name, modelType: null }) };
}

// `outer` holds what stands beside a preset's name; without a preset it is the file itself.
function declaredConfig(
  top: ConfigFields,
  outer: ConfigFields,
  presetName: string | null,
  options: DeclarationOptions,
): Declared {
  const text = top.object("text_config") ?? top;
  const found = familyOf(top, text);
  if ("reason" in found) return { refusal: planRefused("model_unsupported", found.reason) };
  if (!text.has("num_hidden_layers"))
    throw new InputError(
      "config",
      `${top.path} names no layers: expected a preset, "layers", or a model's configuration with num_hidden_layers`,
      { path: top.path },
    );
  text.integer("num_hidden_layers");
  const { read, windowRatio = WINDOW_RATIO, stateShare = STATE_SHARE } = found.family;
  const layers = read(text, contextOf(top, text, outer, options));
  const modelType = namesOf(top, text)[0] ?? null;
  const name = presetName ?? modelType ?? "model";
  const model = declared(layers, text, outer, { name, modelType });
  return { model: { ...model, windowRatio, stateShare } };
}

function declared(
  layers: readonly (readonly KVPart[])[],
  text: ConfigFields,
  outer: ConfigFields,
  names: { readonly name: string; readonly modelType: string | null },
): ModelDeclarations {
  const [first, end] = localLayers(outer, layers.length);
  const decls: KVLayerDecl[] = [];
  layers.forEach((parts, layer) => {
    if (layer >= first && layer < end && parts.length > 0) decls.push(kvLayer(parts));
  });
  return {
    ...names,
    layerCount: layers.length,
    decls,
    contextTokens:
      text.optionalInteger("max_position_embeddings") ??
      text.optionalInteger("model_max_length") ??
      null,
    isLocalAttention: text.has("attention_chunk_size"),
    windowRatio: WINDOW_RATIO,
    stateShare: STATE_SHARE,
  };
}

function localLayers(outer: ConfigFields, count: number): readonly [number, number] {
  const range = outer.integers("local_layers");
  if (range === undefined) return [0, count];
  const [first, length] = range;
  if (range.length !== 2 || first === undefined || length === undefined || length < 1)
    throw outer.error("local_layers", "expected [first, count] with a count of 1 or more");
  if (first + length > count)
    throw outer.error("local_layers", `[${first},${length}] is beyond ${count} layers`);
  return [first, first + length];
}

function contextOf(
  top: ConfigFields,
  text: ConfigFields,
  outer: ConfigFields,
  options: DeclarationOptions,
): FamilyContext {
  const modelElement =
    text.element("dtype") ??
    text.element("torch_dtype") ??
    top.element("dtype") ??
    top.element("torch_dtype") ??
    "bfloat16";
  const stated = outer.text("kv_cache_dtype");
  const kvElement =
    options.kvElement ??
    (stated === undefined || stated === "auto"
      ? (quantizedKv(top) ?? modelElement)
      : elementType(stated, `${outer.path}/kv_cache_dtype`));
  return {
    role: options.role ?? "target",
    tensorParallel: options.tensorParallel ?? 1,
    kvElement,
    modelElement,
    convElement: options.convElement ?? outer.element("mamba_conv_dtype") ?? "bfloat16",
    temporalElement:
      options.temporalElement ??
      outer.element("mamba_ssm_dtype") ??
      text.element("mamba_ssm_dtype"),
    checkpointTokens: options.checkpointTokens ?? null,
  };
}

// A checkpoint whose quantization names an FP8 algorithm for KV is stored so.
function quantizedKv(top: ConfigFields): ElementType | undefined {
  const algorithm = top.object("quantization_config")?.text("kv_cache_quant_algo");
  return algorithm?.toUpperCase() === "FP8" ? "fp8_e4m3" : undefined;
}
