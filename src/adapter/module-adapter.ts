// `module:FILE`: an ES module in a worker thread, behind the same protocol as a process.
import { builtScript } from "../base/built-script.js";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Adapter } from "./adapter.js";
import type { ModuleWorkerData } from "./module-worker.js";
import { ProtocolAdapter, type ProtocolAdapterOptions } from "./protocol-adapter.js";
import { WorkerTransport } from "./worker-transport.js";

/** @public */
export interface ModuleAdapterOptions extends ProtocolAdapterOptions {
  /** Folder that a relative path starts from; default the current one. */
  readonly cwd?: string;
  /** Operations that a module answers which states none. */
  readonly ops: readonly string[];
  /** The worker's script; default the built one beside this file. */
  readonly workerScript?: URL;
}

/** Loads `file` in a worker thread. Throws `CandidateError` when it cannot be loaded or is no implementation. @public */
export function openModuleAdapter(file: string, options: ModuleAdapterOptions): Promise<Adapter> {
  const path = resolve(options.cwd ?? ".", file);
  const data: ModuleWorkerData = {
    moduleUrl: pathToFileURL(path).href,
    name: basename(path).replace(/\.[cm]?js$/, ""),
    ops: options.ops,
  };
  const script = options.workerScript ?? builtScript("adapter/module-worker.js");
  return ProtocolAdapter.start(() => new WorkerTransport(script, data), `module ${file}`, options);
}
