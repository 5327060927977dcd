// The worker thread of `module:FILE`: loads the module and serves it over this thread's messages. A hang or a crash in
// here is the module's, and stays in here.
import { parentPort, workerData } from "node:worker_threads";
import { CandidateError } from "../base/errors.js";
import type { Adapter } from "./adapter.js";
import { describeThrown, type ImplementationModule, ModuleRunner } from "./module-contract.js";
import { ServeSession } from "./serve-session.js";

/** What the thread is started with. @internal */
export interface ModuleWorkerData {
  readonly moduleUrl: string;
  readonly name: string; // where the module states none
  readonly ops: readonly string[]; // where the module states none
}

async function load(): Promise<Adapter> {
  const { moduleUrl, name, ops } = workerData as ModuleWorkerData;
  let loaded: Partial<ImplementationModule>;
  try {
    loaded = (await import(moduleUrl)) as Partial<ImplementationModule>;
  } catch (error) {
    throw new CandidateError(
      "candidate_start",
      `it cannot be loaded: ${describeThrown(error)}`,
      {},
      error,
    );
  }
  if (typeof loaded.createImplementation !== "function") {
    throw new CandidateError(
      "candidate_handshake",
      `it does not export a function "createImplementation"`,
    );
  }
  return new ModuleRunner(loaded as ImplementationModule, { name, ops });
}

const session = new ServeSession(load);
let turn: Promise<void> = Promise.resolve();
parentPort?.on("message", (text: string) => {
  // Messages wait for each other: an implementation may answer with promises.
  turn = turn.then(async () => {
    const reply = await session.takeLines(text.slice(0, -1).split("\n"));
    if (reply !== "") parentPort?.postMessage(reply);
  });
});
