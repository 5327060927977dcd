// A configuration as the command line names it: a file in either form, a named geometry, or a preset.
import type { RunConfig } from "../base/operations.js";
import { PRESETS, presetConfig } from "../kv/presets/presets.js";
import { loadConfigFile } from "../workload/configs.js";
import type { ConfigLibrary } from "../workload/configs.js";
import type { ReadInputs } from "../workload/json-file.js";
import { unknownWord } from "./flags.js";

/** The configuration that a word names; `inputs`: what was read ahead of it. Throws `UsageError` with the nearest name, `InputError` for a wrong file.
 * @internal */
export function configurationNamed(
  word: string,
  flag: string,
  library: ConfigLibrary,
  inputs: ReadInputs,
): RunConfig {
  if (word.endsWith(".json") || inputs.has(word)) return loadConfigFile(word, inputs);
  if (library.names.includes(word)) return library.fixed(word);
  const presets = PRESETS.map(({ name }) => name);
  if (presets.includes(word)) return presetConfig(word);
  const rules = flag === "--config" ? library.ruleNames : [];
  return unknownWord(`${flag} ${word}`, word, [...rules, ...library.names, ...presets]);
}

/** The name of a configuration in a run id: a file's without folder and suffix. @internal */
export function bareName(word: string): string {
  return word.endsWith(".json") ? word.replace(/^.*[/\\]/, "").replace(/\.json$/, "") : word;
}
