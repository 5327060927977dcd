// The built addon and the fake backends for tests: where they lie and what they offer.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ByteBand, ByteConfig } from "../../src/device/bytes.js";
import type { RawArena, RawBackend } from "../../src/device/bytes-native.js";

export interface Probe {
  readonly available: boolean;
  readonly name?: string;
  readonly devices?: number;
  readonly reason?: string;
}

/** What an addon's arena is opened with: the names of bands stay on this side. */
export type ArenaConfig = Omit<ByteConfig, "bands"> & {
  readonly bands: readonly Omit<ByteBand, "name">[];
};
export type Backend = Omit<RawBackend, "open"> & { open(config: ArenaConfig): Arena };
export type Arena = Omit<RawArena, "resize"> & { resize(config: ArenaConfig): void };

export interface Addon {
  readonly version: string;
  readonly napiVersion: number;
  readonly backendAbi: number;
  alignUp(bytes: bigint, pageBytes: bigint): bigint;
  probeBackend(libraryPath?: string): Probe;
  openBackend(libraryPath?: string): Backend;
}

const root = new URL("../../", import.meta.url);
/** A path below the repository's root. */
export const at = (path: string): string => fileURLToPath(new URL(path, root));
export const readJson = (path: string) => JSON.parse(readFileSync(at(path), "utf8"));

/** Folder of the built addon. */
export const built = ["build/native-cpu", "build/native", "build/native-debug"]
  .flatMap((folder) => [`${folder}/Release`, `${folder}/Debug`])
  .find((folder) => existsSync(at(`${folder}/unified_trace.node`)));

/** What is lacking for tests of the addon, for `describeUnless`. */
export const missingAddon =
  built === undefined ? "the addon is not built (npm run build:native:cpu)" : undefined;

/** The same for tests of the fake backends. */
export const missingFakes =
  missingAddon ??
  (existsSync(at("build/fakes/fakes/failing.so"))
    ? undefined
    : "the fake backends are not built (npm run test:native)");

export const load = (): Addon => createRequire(import.meta.url)(at(`${built}/unified_trace.node`));

/** Path of a fake backend of native/test/fakes. */
export const fake = (name: string): string => at(`build/fakes/fakes/${name}.so`);

/** One band of 31 usable pages, four units a page. */
export const smallConfig: ArenaConfig = {
  arenaBytes: 8192,
  bands: [
    { pageBytes: 256, pages: 32, firstPage: 1, units: 4, ids: 20, hostPages: 4, isState: false },
  ],
  rows: 4,
  rowPages: 8,
  poison: false,
  checkReads: true,
  device: 0,
};

/** Numbers of the verbs that tests use; `ut_verb` of native/include/ut/backend.h. */
export const VERB = { zero: 1, bind: 3, stamp: 6, forward: 8, delay: 18, synchronize: 19 } as const;

/** One verb of a script, its length put in. */
export const verb = (which: number, ...words: readonly number[]): readonly number[] => [
  which,
  words.length + 2,
  ...words,
];

/** Submits verbs as one script. */
export function submit(arena: Arena, ...verbs: readonly (readonly number[])[]): void {
  const words = Int32Array.from(verbs.flat());
  arena.submit(words, words.length);
}

/** The code and message of what `run` throws; fails when it throws nothing. */
export function failureOf(run: () => unknown): {
  readonly code: unknown;
  readonly message: string;
} {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) {
      return { code: (error as Error & { code?: unknown }).code, message: error.message };
    }
    throw error;
  }
  throw new Error("nothing was thrown");
}
