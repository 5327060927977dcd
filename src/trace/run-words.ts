// The words that a run's configuration adds to the format's own: its bands.
import type { DirectConfig, Domain, RunConfig, SubPoolConfig } from "../base/operations.js";
import { FIXED_COMPONENTS } from "../base/operations.js";
import { RESERVED_BAND_NAMES } from "./config-spec.js";
import type { KeyKind, TextRule } from "./fields.js";
import { suggestion } from "./messages.js";
import type { Problem } from "./problem.js";
import { KEY_PATTERNS, TEXT_PATTERNS, matches } from "./patterns.js";

/** The name of the band that owns the virtual ids. */
const OWNER_NAME = "full";

/** What may stand where a band, a list of ids or a component is named. @internal */
export interface RunWords {
  readonly bands: ReadonlySet<string>;
  readonly pages: ReadonlySet<string>; // bands, virtual, slots
  readonly components: ReadonlySet<string>; // bands and the fixed ones
  readonly limits: ReadonlySet<string>; // bands and bytes
}

/** The words of a run, or null where its bands are not known (a model form without its derived form). @internal */
export function runWords(
  domain: Domain,
  config: RunConfig,
  derived?: DirectConfig,
): RunWords | null {
  const bands = domain === "heap" ? [] : bandNames(derived ?? config);
  if (bands === null) return null;
  return {
    bands: new Set(bands),
    pages: new Set(["virtual", "slots", ...bands]),
    components: new Set([...bands, ...FIXED_COMPONENTS]),
    limits: new Set([...bands, "bytes"]),
  };
}

/** Band names of a direct form in the order of the file; null for a model form. @internal */
export function bandNames(config: RunConfig): string[] | null {
  return "sub_pools" in config ? (config as DirectConfig).sub_pools.map((pool) => pool.name) : null;
}

/** What is wrong with the sub-pools and bands of a configuration, or null; its shape has been checked. @internal */
export function configProblem(config: RunConfig, path = ""): Problem | null {
  if (!("sub_pools" in config)) return null; // a model form: its plan names the bands
  const direct = config as DirectConfig;
  return subPoolProblem(direct.sub_pools, `${path}/sub_pools`) ?? bandProblem(direct, path);
}

// A plan may lack an owner, or have two: `boot` refuses that. One owner by another name would be a second name for the
// band that every demand, digest and answer calls `full`.
function subPoolProblem(pools: readonly SubPoolConfig[], path: string): Problem | null {
  const seen = new Set<string>();
  for (const [index, { name, kind, window }] of pools.entries()) {
    const place = `${path}/${index}/name`;
    const expected = "a name of its own";
    if (RESERVED_BAND_NAMES.includes(name)) {
      return { path: place, message: `a band cannot be named "${name}"`, expected };
    }
    if (seen.has(name)) return { path: place, message: `two bands are named "${name}"`, expected };
    seen.add(name);
    if (kind === "state" && window !== undefined) {
      const message = `sub-pool "${name}" of kind state has a window, which only token bands have`;
      return { path: `${path}/${index}/window`, message, expected: "no window" };
    }
  }
  const owners = pools.filter(({ kind, window }) => kind !== "state" && window === undefined);
  const [owner] = owners;
  if (owner === undefined || owners.length > 1 || owner.name === OWNER_NAME) return null;
  const message = `the band of full attention is named "${owner.name}", expected "${OWNER_NAME}"`;
  return { path: `${path}/${pools.indexOf(owner)}/name`, message, expected: OWNER_NAME };
}

function bandProblem(
  { sub_pools, host, primary_window }: DirectConfig,
  path: string,
): Problem | null {
  const bands = sub_pools.map(({ name }) => name);
  const named: (readonly [string, string])[] = [];
  if (primary_window !== undefined) named.push(["primary_window", primary_window]);
  for (const band of Object.keys(host ?? {})) named.push([`host/${band}`, band]);
  for (const [key, band] of named) {
    if (bands.includes(band) || band.startsWith("x_")) continue;
    const expected = `one of ${bands.join(", ")}`;
    const message = `unknown band "${band}"${suggestion(band, bands)} (the sub-pools are ${bands.join(", ")})`;
    return { path: `${path}/${key}`, message, expected };
  }
  return null;
}

/** The known words for keys of this kind, or null where a pattern decides. @internal */
export function knownKeys(keys: KeyKind, words: RunWords | null): ReadonlySet<string> | null {
  if (words === null) return null;
  if (keys === "band") return words.bands;
  if (keys === "pages") return words.pages;
  return keys === "component" ? words.components : null;
}

/** The known words of a text, or null where a pattern decides. @internal */
export function knownTexts(rule: TextRule, words: RunWords | null): ReadonlySet<string> | null {
  if (words === null) return null;
  if (rule === "band") return words.bands;
  return rule === "limit" ? words.limits : null;
}

/** Whether a key may stand in a map. @internal */
export function isKeyOf(keys: KeyKind, key: string, words: RunWords | null): boolean {
  return knownKeys(keys, words)?.has(key) ?? matches(KEY_PATTERNS[keys], key);
}

/** Whether a text follows its rule. @internal */
export function isTextOf(rule: TextRule, text: string, words: RunWords | null): boolean {
  return knownTexts(rule, words)?.has(text) ?? matches(TEXT_PATTERNS[rule], text);
}
