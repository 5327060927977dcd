// The three ways to name a model: its layers, a preset, its published configuration.
import { readConfiguration } from "./model-config.js";
import { Fields, notSupported } from "./model-fields.js";
import { type Model, readLayers, type Surroundings } from "./model-layers.js";
import { phiModel, presetConfiguration } from "./model-presets.js";

/** A target or a draft. Refuses with `model_unsupported`. @internal */
export function readModel(value: unknown, path: string, above: Surroundings): Model {
  const model = new Fields(value, path);
  if (model.has("layers")) return readLayers(value, path, above);
  if (!model.has("preset")) return readConfiguration(value, path, above);
  const preset = new Fields(value, path, ["preset"]).textOr("preset", "");
  const configuration = presetConfiguration(preset);
  if (configuration !== null) return readConfiguration(configuration, path, above);
  if (above.ranks > 1 || above.temporalElement !== null || above.convElement !== null)
    notSupported(`the preset ${preset} on several ranks or with other element types`);
  return phiModel(above.kvElement ?? "bfloat16");
}
