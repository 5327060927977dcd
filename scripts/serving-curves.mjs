// Prints what the serving model makes of a request trace, as the curves of docs/serving-model.md: arrivals over time, and
// over the steps of the model how many requests run together and how many tokens they hold.
//
//   npm run build && node scripts/serving-curves.mjs mooncake:conversation_trace.jsonl.gz gpt-oss-120b [budget bytes]
import { deriveConfig } from "../dist/kv/build.js";
import { KVStorage } from "../dist/kv/storage.js";
import { presetConfig } from "../dist/kv/presets/presets.js";
import { openRequestTrace } from "../dist/workload/request-traces.js";
import { withModelSwitches } from "../dist/workload/serving-features.js";
import { servingWorkload } from "../dist/workload/serving.js";

const SLOTS = 72; // columns of a curve
const BARS = "▁▂▃▄▅▆▇█";

/** The highest values of a series in each of `SLOTS` stretches. */
function stretched(values) {
  const slots = Array(Math.min(SLOTS, values.length)).fill(0);
  for (const [index, value] of values.entries()) {
    const slot = Math.floor((index * slots.length) / values.length);
    slots[slot] = Math.max(slots[slot], value);
  }
  return slots;
}

function curve(title, slots) {
  const most = Math.max(1, ...slots);
  const bars = slots.map((value) => BARS[Math.floor((value * (BARS.length - 1)) / most)]);
  return `${title.padEnd(10)} ${bars.join("")} ${String(Math.max(...slots))}`;
}

function arrivalsOf({ requests }) {
  const last = requests.at(-1).arrival + 1;
  const slots = Array(SLOTS).fill(0);
  for (const { arrival } of requests) slots[Math.floor((arrival * SLOTS) / last)] += 1;
  return slots;
}

/** Batch and tokens after each forward; drives the workload against the allocator. */
function drive(workload) {
  const storage = new KVStorage(workload.config, { digestDepth: null });
  const held = new Map(); // request → tokens
  const batches = [];
  const tokens = [];
  let sum = 0;
  let answer = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    const { op, args } = step.operation;
    answer = storage.apply(step.operation);
    if (op === "request.finish" || op === "request.retract") {
      sum -= held.get(args.req) ?? 0;
      held.delete(args.req);
    }
    if (op !== "forward.launch") continue;
    for (const { req, to } of args.batch) {
      sum += to - (held.get(req) ?? 0);
      held.set(req, to);
    }
    batches.push(args.batch.length);
    tokens.push(sum);
  }
  return { batches, tokens };
}

const [spec, preset, budget] = process.argv.slice(2);
if (preset === undefined) {
  console.error("usage: node scripts/serving-curves.mjs FORMAT:FILE PRESET [BUDGET_BYTES]");
  process.exitCode = 2;
} else {
  const trace = await openRequestTrace(spec);
  const plain = { ...presetConfig(preset), ...(budget && { budget_bytes: Number(budget) }) };
  const switches = { sharesPrefixes: true, checkpoint: null, host: null };
  const form = withModelSwitches(plain, deriveConfig(plain).derived, switches);
  const config = deriveConfig(form).derived;
  const workload = servingWorkload({
    ...{ trace, config, form, configName: preset, layout: "-", pageSize: config.page_size },
    sharesPrefixes: true,
  });
  const { batches, tokens } = drive(workload);
  console.log(curve("arrivals", arrivalsOf(trace)));
  console.log(curve("batch", stretched(batches)));
  console.log(curve("tokens", stretched(tokens)));
  console.log(JSON.stringify(workload.counters));
}
