// Defects planted between the books and the bytes of a device, found by its bytes alone.
//
//   node bench/device/planted.mjs --device host|cuda|model [--seeds 40] [--ops 300]
//
// Each defect runs over seeds until a page, a read or a send does not hold what the books say. Exit 1: one was not found.
import { parseArgs } from "node:util";
import { Prng } from "../../dist/base/prng.js";
import { ByteDevice } from "../../dist/device/byte-device.js";
import { openBackend } from "../../dist/device/open-device.js";
import { KVStorage } from "../../dist/kv/storage.js";
import { LAYOUTS } from "../../dist/workload/layouts.js";
import { seededWorkload } from "../../dist/workload/seeded.js";
import { DEFECTS, spoiltBackend } from "./spoilt.mjs";

const PROFILES = ["steady", "tight", "transfers", "windows", "swarm"];
const PAGE_SIZES = [3, 16];
const DELAYS_US = [0, 0, 500, 2000];

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "host" },
    seeds: { type: "string", default: "40" },
    ops: { type: "string", default: "300" },
  },
});
const backend = openBackend(values.device);
const seeds = Number(values.seeds);

let missed = 0;
for (const defect of DEFECTS) {
  const found = hunt(defect);
  if (found === null) missed += 1;
  console.log(`${found === null ? "NOT FOUND" : "found    "} ${defect.name}`);
  if (found !== null) console.log(`          ${found}`);
}
console.log(
  `${DEFECTS.length - missed} of ${DEFECTS.length} planted defects found on device ${values.device}`,
);
process.exitCode = missed === 0 ? 0 : 1;

function hunt(defect) {
  for (let seed = 0; seed < seeds; seed++) {
    const counts = { spoilt: 0 };
    const found = play(seed, spoiltBackend(backend, defect, counts));
    if (found !== null && counts.spoilt === 0) return `a false finding: ${found}`;
    if (found !== null) return found;
  }
  return null;
}

function play(seed, spoilt) {
  const layout = LAYOUTS[seed % LAYOUTS.length];
  const pageSize = PAGE_SIZES[seed % PAGE_SIZES.length];
  const weights = PROFILES[Math.floor(seed / LAYOUTS.length) % PROFILES.length];
  const workload = seededWorkload({ seed, ops: Number(values.ops), layout, pageSize, weights });
  const storage = new KVStorage(workload.config, { digestDepth: null });
  const prng = new Prng(seed, 3);
  const delays = { next: () => prng.pick(DELAYS_US) };
  const device = new ByteDevice({
    kind: values.device,
    backend: spoilt,
    verify: "touched",
    delays,
    hasBarriers: true, // it carries them out below
  });
  let n = -1;
  let answer = null;
  try {
    for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
      if (!("operation" in step)) continue;
      n += 1;
      answer = storage.apply(step.operation);
      if (step.operation.op === "boot" && answer.ok !== undefined)
        device.open(workload.config, answer.ok);
      const violation = device.apply(step.operation, answer);
      if (violation !== null) return describe(workload.run, weights, n, violation);
      // The overlap loop's own barrier behind each forward.
      if (step.operation.op !== "forward.record" || answer.fx === undefined) continue;
      const barrier = { op: "forward.barrier", args: { step: step.operation.args.step } };
      device.apply(barrier, storage.apply(barrier));
    }
    const violation = device.verifyAll();
    return violation === null ? null : describe(workload.run, weights, n, violation);
  } finally {
    device.close();
  }
}

function describe(run, weights, n, { message }) {
  return `${run} (${weights}), operation ${n}: ${message}`;
}
