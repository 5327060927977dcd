// The words after `--impl` and `--candidate`: which implementation is meant, and starting it.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type { VerifyPolicy } from "../device/device.js";
import { DEVICE_KINDS } from "../device/device-kinds.js";
import { operationNames } from "../trace/operation-table.js";
import type { Adapter } from "./adapter.js";
import type { BuildOptions } from "./checkout-build.js";
import { readOwnVersion } from "./checkout-version.js";
import { parseHeapSpec } from "./heap-spec.js";
import type { ProtocolAdapterOptions } from "./protocol-adapter.js";
import type { OpenDevice } from "./storage-adapter.js";

const KINDS = ["self", "reference", "heap", "checkout", "ref", "module", "cmd"] as const;
const FORMS =
  "self, self:DEVICE, reference, heap:POLICY, checkout:PATH, ref:GIT-REF, module:FILE or cmd:COMMAND";

/** Choices for any implementation; each kind takes what concerns it. @public */
export interface OpenAdapterOptions extends ProtocolAdapterOptions {
  readonly verify?: VerifyPolicy; // of the device of `self`
  readonly revision?: string | null; // of this checkout, told as that of `self`
  readonly dirty?: boolean | null;
  readonly cwd?: string; // folder that relative paths start from and programs start in
  readonly workerScript?: URL; // of `module`
  readonly build?: BuildOptions; // of `ref`
}

/** An implementation as it was named on the command line. @public */
export interface AdapterSpec {
  readonly kind: (typeof KINDS)[number];
  readonly target: string; // device, allocator, path, ref, file or command; "" for plain `self` and `reference`
}

/** Reads the name of an implementation. Throws `UsageError` with the nearest known word. @public */
export function parseAdapterSpec(spec: string): AdapterSpec {
  const colon = spec.indexOf(":");
  const word = colon < 0 ? spec : spec.slice(0, colon);
  const target = colon < 0 ? "" : spec.slice(colon + 1);
  const kind = KINDS.find((known) => known === word);
  if (kind === undefined) throw unknownKind(spec, word, target);
  if (kind === "reference" && colon >= 0)
    throw new UsageError(`${spec} names something after its kind; expected reference`, FORMS);
  if (kind === "reference") return { kind, target };
  if (kind === "self" ? colon >= 0 && target === "" : target.trim() === "") {
    throw new UsageError(`${spec} names nothing after its kind; expected ${FORMS}`, FORMS);
  }
  if (kind === "heap") parseHeapSpec(target);
  if (kind === "self" && target !== "" && !DEVICE_KINDS.some((known) => known === target)) {
    throw new UsageError(
      `unknown device ${JSON.stringify(target)} in ${spec}${meant(target, DEVICE_KINDS)}; expected one of ${DEVICE_KINDS.join(", ")}`,
    );
  }
  return { kind, target };
}

/**
 * Starts the implementation that `spec` names. Throws `UsageError` for a wrong name, `EnvironmentError` for a device that is
 * not here, `CandidateError` for one that cannot be started or does not shake hands. The caller disposes of it. @public
 */
export async function openAdapter(
  spec: string,
  options: OpenAdapterOptions = {},
): Promise<Adapter> {
  const { kind, target } = parseAdapterSpec(spec);
  const withVersion = { toolVersion: readOwnVersion(), ...options };
  // Each kind is loaded where it is meant: a whole allocator that nobody asks takes a tenth of a second.
  switch (kind) {
    case "self":
      return openSelf(target, options);
    case "reference": {
      const { ReferenceAdapter } = await import("./reference-adapter.js");
      const { revision, dirty } = options;
      return new ReferenceAdapter({ revision: revision ?? null, dirty: dirty ?? null });
    }
    case "heap": {
      const { HeapAdapter } = await import("./heap-adapter.js");
      const { revision, dirty } = options;
      const commit = { revision: revision ?? null, dirty: dirty ?? null };
      return new HeapAdapter(parseHeapSpec(target), commit);
    }
    case "checkout": {
      const { openCheckoutAdapter } = await import("./checkout.js");
      return openCheckoutAdapter(target, withVersion);
    }
    case "ref": {
      const { openRefAdapter } = await import("./checkout-ref.js");
      return openRefAdapter(target, withVersion);
    }
    case "module": {
      const { openModuleAdapter } = await import("./module-adapter.js");
      return openModuleAdapter(target, { ...withVersion, ops: operationNames("kv") });
    }
    case "cmd": {
      const { openProcessAdapter } = await import("./process-adapter.js");
      return openProcessAdapter(target, withVersion);
    }
  }
}

async function openSelf(device: string, options: OpenAdapterOptions): Promise<Adapter> {
  const { verify, revision, dirty } = options;
  const kind = DEVICE_KINDS.find((known) => known === device) ?? "model"; // "" is plain `self`
  const { StorageAdapter } = await import("./storage-adapter.js");
  // a device is as much code again, which nobody waits for who has none
  const openDevice: OpenDevice =
    kind === "none" ? () => null : (await import("../device/open-device.js")).openDevice;
  return new StorageAdapter({
    device: kind,
    openDevice,
    revision: revision ?? null,
    dirty: dirty ?? null,
    ...(verify === undefined ? {} : { verify }),
  });
}

function unknownKind(spec: string, word: string, target: string): UsageError {
  const known = target === "" ? ["self", "reference"] : KINDS;
  let hint = meant(word, known);
  if (hint === "" && /\.[cm]?js$/.test(spec)) hint = ` (did you mean module:${spec}?)`;
  else if (hint === "" && /[/\\]/.test(spec)) hint = ` (did you mean checkout:${spec}?)`;
  return new UsageError(
    `unknown implementation ${JSON.stringify(spec)}${hint}; expected ${FORMS}`,
    FORMS,
  );
}

function meant(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known);
  return nearest === null ? "" : ` (did you mean ${nearest}?)`;
}
