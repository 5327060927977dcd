// A worker thread of a comparison: parts come in, results go out.
import { parentPort, workerData } from "node:worker_threads";
import { comparePart } from "./part.js";
import type { Part, PartPlan } from "./part.js";

const plan = workerData as PartPlan; // what the thread was started with

parentPort?.on("message", (part: Part) => {
  void comparePart(plan, part).then((outcome) => parentPort?.postMessage(outcome));
});
