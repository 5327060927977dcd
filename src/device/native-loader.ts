// Finds and loads the native addon. The only file that loads a `.node` file; a missing or broken addon is an answer with
// its reason, never a throw.
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cutShort } from "./whole-library.js";

/** What a loaded addon must offer; the rest is for its devices. @internal */
export interface NativeAddon {
  readonly version: string;
  readonly backendAbi: number;
  readonly [name: string]: unknown;
}

/** Whether the addon can be used, and why not. @public */
export interface NativeReport {
  readonly available: boolean;
  readonly reason: string | null; // one line; null when available
  readonly path: string | null; // the file that was loaded or tried; null: none was found
}

/** The package's folder: two floors up from `src/device` and from `dist/device` alike. */
const PACKAGE_ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ADDON = "unified_trace.node";
const CUDA_LIBRARIES = [
  "libunified_trace_cuda.so",
  "libunified_trace_cuda.dylib",
  "unified_trace_cuda.dll",
] as const;

/**
 * Looks for the addon in `build/native*` below `root`, the plain build first, then by name, and loads the first that
 * loads. @param root - folder of the package
 * @public
 */
export function nativeReport(root: string = PACKAGE_ROOT): NativeReport {
  return loadNative(root).report;
}

/** The same with the addon itself; null when it is not available. @internal */
export function loadNative(root: string = PACKAGE_ROOT): {
  readonly report: NativeReport;
  readonly addon: NativeAddon | null;
} {
  const paths = candidates(root);
  if (paths.length === 0) {
    const reason = "the native addon is not built: run npm run build:native";
    return { report: { available: false, reason, path: null }, addon: null };
  }
  const load = createRequire(import.meta.url);
  const reasons: string[] = [];
  for (const path of paths) {
    try {
      const missing = cutShort(path);
      if (missing !== null) throw new Error(missing);
      const addon: unknown = load(path);
      if (isAddon(addon)) return { report: { available: true, reason: null, path }, addon };
      reasons.push("the file is another addon or an older build");
    } catch (error) {
      reasons.push(firstLine(error));
    }
  }
  // The first candidate is the one a plain build makes, so its reason is the one to show.
  const reason = `the native addon does not load: ${reasons[0] ?? "unknown"}`;
  return { report: { available: false, reason, path: paths[0] ?? null }, addon: null };
}

/** The CUDA backend that was built beside an addon, null where there is none. @internal */
export function cudaLibrary(addonPath: string): string | null {
  const folder = dirname(addonPath);
  return CUDA_LIBRARIES.map((name) => join(folder, name)).find(existsSync) ?? null;
}

function candidates(root: string): string[] {
  const build = join(root, "build");
  let names: string[];
  try {
    names = readdirSync(build).filter((name) => name.startsWith("native"));
  } catch {
    return []; // no build folder
  }
  names.sort(); // "native" comes before "native-cpu" and "native-debug"
  return names
    .map((name) => join(build, name, "Release", ADDON))
    .filter((path) => existsSync(path));
}

function isAddon(value: unknown): value is NativeAddon {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Readonly<Record<string, unknown>>;
  return typeof record["version"] === "string" && typeof record["backendAbi"] === "number";
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0] ?? message;
}
