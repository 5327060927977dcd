// The native backends behind the addon: host memory, and a GPU through the CUDA library beside the addon. What comes over the
// border is checked here once, so that the rest is typed.
import { EnvironmentError } from "../base/errors.js";
import {
  type ByteArena,
  type ByteBackend,
  type ByteCapabilities,
  type ByteConfig,
  ByteError,
  type ByteErrorCode,
  type ByteFault,
} from "./bytes.js";
import { cutShort } from "./whole-library.js";
import { cudaLibrary, loadNative } from "./native-loader.js";

/** The addon's table version that this file speaks to (`UT_BACKEND_ABI` of `native/include/ut/backend.h`). @internal */
export const BACKEND_ABI = 2;

const FAULT_WORDS = 8;
const FAULT_KINDS = ["forward", "send", "unbound"] as const;
const CODES: ReadonlySet<string> = new Set([
  "UT_INVALID",
  "UT_NO_MEMORY",
  "UT_UNAVAILABLE",
  "UT_LOST",
]);

/** The addon's own faces; `native/binding` states them. @internal */
export interface RawBackend {
  readonly name: string;
  deviceCount(): number;
  capabilities(device: number): ByteCapabilities;
  open(config: ByteConfig): RawArena;
}
/** @internal */
export interface RawArena extends Omit<ByteArena, "faults" | "query"> {
  faults(max: number): { readonly count: number; readonly words: Uint32Array };
  query(handle: number): number;
}

/**
 * Opens the native backend of a device. Throws `EnvironmentError`: `addon_missing` where no addon is built,
 * `device_unavailable` where the library, a driver or a device is missing; one line that says what to do.
 * @param library - of a CUDA backend, default the one beside the addon
 * @internal
 */
export function nativeBackend(kind: "host" | "cuda", library?: string): ByteBackend {
  const { report, addon } = loadNative();
  if (addon === null)
    throw new EnvironmentError("addon_missing", `device ${kind}: ${report.reason ?? "no addon"}`);
  if (addon.backendAbi !== BACKEND_ABI) {
    const versions = `the addon has ABI ${addon.backendAbi}, this version needs ${BACKEND_ABI}`;
    throw new EnvironmentError(
      "addon_missing",
      `device ${kind}: ${versions}: run npm run build:native`,
    );
  }
  const open = addon["openBackend"] as (path?: string) => RawBackend; // of this ABI
  try {
    const raw = kind === "host" ? open() : open(whole(library ?? requireCudaLibrary(report.path)));
    if (raw.deviceCount() > 0) return wrapBackend(raw);
    const why = "no driver or no device is there (unified-trace doctor says more)";
    throw new EnvironmentError("device_unavailable", `device ${kind}: ${why}`);
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    const message = `device ${kind}: ${messageOf(error)}`;
    throw new EnvironmentError("device_unavailable", message, {}, error);
  }
}

function whole(library: string): string {
  const missing = cutShort(library);
  if (missing === null) return library;
  throw new Error(`${library}: ${missing}: run npm run build:native`);
}

function requireCudaLibrary(addonPath: string | null): string {
  const found = addonPath === null ? null : cudaLibrary(addonPath);
  if (found !== null) return found;
  const why = "its library is not built: run npm run build:native where nvcc is on PATH";
  throw new EnvironmentError("device_unavailable", `device cuda: ${why}`);
}

function wrapBackend(raw: RawBackend): ByteBackend {
  return {
    name: raw.name,
    deviceCount: () => raw.deviceCount(),
    capabilities: (device) => guarded(() => raw.capabilities(device)),
    open: (config) => new NativeArena(guarded(() => raw.open(config))),
  };
}

class NativeArena implements ByteArena {
  readonly #raw: RawArena;

  constructor(raw: RawArena) {
    this.#raw = raw;
  }

  submit(words: Int32Array, count: number): void {
    try {
      this.#raw.submit(words, count);
    } catch (error) {
      throw byteError(error);
    }
  }
  hashPages(band: number, pages: Int32Array, masks: Uint32Array): Uint32Array {
    return guarded(() => this.#raw.hashPages(band, pages, masks));
  }
  translate(...args: Parameters<ByteArena["translate"]>): void {
    guarded(() => {
      this.#raw.translate(...args);
    });
  }
  faults(max: number): { readonly count: number; readonly faults: readonly ByteFault[] } {
    const { count, words } = guarded(() => this.#raw.faults(max));
    const faults: ByteFault[] = [];
    for (let at = 0; at + FAULT_WORDS <= words.length; at += FAULT_WORDS)
      faults.push(faultOf(words.subarray(at, at + FAULT_WORDS)));
    return { count, faults };
  }
  readBytes(offset: number, bytes: number): Uint8Array {
    return guarded(() => this.#raw.readBytes(offset, bytes));
  }
  readTable(table: number, index: number, count: number): Int32Array {
    return guarded(() => this.#raw.readTable(table, index, count));
  }
  query(handle: number): boolean {
    return guarded(() => this.#raw.query(handle)) === 1;
  }
  resize(config: ByteConfig): void {
    guarded(() => {
      this.#raw.resize(config);
    });
  }
  close(): void {
    this.#raw.close();
  }
}

// In the order of `ut_fault`.
function faultOf(words: Uint32Array): ByteFault {
  const [kind = 1, handle = 0, band = 0, id = 0, page = 0, unit = 0, expected = 0, found = 0] =
    words;
  const word = FAULT_KINDS[kind - 1] ?? "forward";
  return { kind: word, handle, band, id, page, unit, expected, found };
}

function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw byteError(error);
  }
}

function byteError(error: unknown): unknown {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== "string" || !CODES.has(code)) return error;
  return new ByteError(code as ByteErrorCode, messageOf(error));
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
