// `scenarios/configs.json`: fixed geometries by name, and rules that derive one for a layout and a page size.
import { InternalError } from "../base/errors.js";
import type { DirectConfig } from "../base/operations.js";
import type { Layout } from "./layouts.js";
import type { ServingParameters } from "./serving.js";

/** The named configurations of one file. @public */
export interface ConfigLibrary {
  readonly file: string;
  readonly names: readonly string[]; // fixed geometries, file order
  readonly ruleNames: readonly string[]; // "serving/tight"
  /** A fixed geometry; throws `UsageError` with the nearest name. */
  fixed(name: string): DirectConfig;
  /** What a rule gives for a layout and page size; throws `UsageError` with the nearest name. */
  derived(
    rule: string,
    layout: Layout,
    pageSize: number,
  ): { readonly config: DirectConfig; readonly serving: Partial<ServingParameters> };
}

/** Reads the file (default: the one shipped with the project). Throws `InputError`. @public */
export function loadConfigs(file?: string): ConfigLibrary {
  throw new InternalError(`loadConfigs is not there yet ${String(file)}`);
}
