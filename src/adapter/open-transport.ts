// The bare line to an implementation, for those who want to see every line of it: no handshake, no repetition.
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { builtScript } from "../base/built-script.js";
import { UsageError } from "../base/errors.js";
import { operationNames } from "../trace/operation-table.js";
import { checkCheckout } from "./checkout.js";
import { splitCommandWords } from "./command-words.js";
import { LoopbackTransport } from "./loopback-transport.js";
import type { ModuleWorkerData } from "./module-worker.js";
import { type OpenAdapterOptions, openAdapter, parseAdapterSpec } from "./open-adapter.js";
import { ProcessTransport } from "./process-transport.js";
import type { Transport } from "./transport.js";
import { WorkerTransport } from "./worker-transport.js";

const FORMS = "self, reference, checkout:PATH, module:FILE and cmd:COMMAND";

/** Makes the transport of one conversation; nothing is started yet. @public */
export type MakeTransport = () => Transport;

/**
 * How lines reach the implementation that `spec` names. `self` and `reference` are served inside this process. Throws
 */
export async function transportTo(
  spec: string,
  options: OpenAdapterOptions = {},
): Promise<MakeTransport> {
  const { kind, target } = parseAdapterSpec(spec);
  const { cwd } = options;
  switch (kind) {
    case "self":
    case "reference":
      return () => new LoopbackTransport(() => openAdapter(spec, options));
    case "checkout": {
      const root = resolve(cwd ?? ".", target);
      checkCheckout(target, root);
      const words = [process.execPath, join(root, "bin", "unified-trace.js"), "serve"];
      return () => new ProcessTransport(words, cwd);
    }
    case "module": {
      const data: ModuleWorkerData = {
        moduleUrl: pathToFileURL(resolve(cwd ?? ".", target)).href,
        name: basename(target).replace(/\.[cm]?js$/, ""),
        ops: operationNames("kv"),
      };
      const script = options.workerScript ?? builtScript("adapter/module-worker.js");
      return () => new WorkerTransport(script, data);
    }
    case "cmd": {
      const words = splitCommandWords(target);
      return () => new ProcessTransport(words, cwd);
    }
    default:
      throw new UsageError(`${spec}: only ${FORMS} are spoken to line by line`, FORMS);
  }
}
