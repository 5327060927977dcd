// A worker thread of a comparison: parts come in, results go out.
import { workerData } from "node:worker_threads";
import { answerPieces } from "../worker-threads.js";
import { comparePart } from "./part.js";
import type { Part, PartPlan } from "./part.js";

const plan = workerData as PartPlan; // what the thread was started with

answerPieces((part: Part) => comparePart(plan, part));
