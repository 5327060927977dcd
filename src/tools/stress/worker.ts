// A worker thread of a stress run: seeds come in, results go out.
import { parentPort } from "node:worker_threads";
import { stressSeed, type StressSeedOptions } from "./seed.js";
import { plainResult } from "./units.js";

parentPort?.on("message", (options: StressSeedOptions) => {
  parentPort?.postMessage(plainResult(stressSeed(options)));
});
