// A recorded serving run carried out on a device with bytes: operations a second, host time an operation, bytes by kind of work.
//
//   unified-trace record --workload mooncake:FILE --limit 1000 --config bench/device/serving-8g.json --impl self:none --out serving.jsonl
//   node bench/device/serving.mjs --device cuda|host --trace serving.jsonl
//
// The allocator runs along and answers; every page that changed is read back and compared every 64 operations, all at the end.
import { createReadStream } from "node:fs";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { ByteDevice } from "../../dist/device/byte-device.js";
import { VERB } from "../../dist/device/bytes-script.js";
import { openBackend } from "../../dist/device/open-device.js";
import { KVStorage } from "../../dist/kv/storage.js";

const GIB = 2 ** 30;
const { values } = parseArgs({
  options: { device: { type: "string", default: "cuda" }, trace: { type: "string" } },
});

const bytes = {
  zeroed: 0,
  moved: 0,
  "copied to the host": 0,
  "copied from the host": 0,
  "written by forwards": 0,
  received: 0,
};
const calls = { scripts: 0, forwards: 0, submitMs: 0 };

/** A backend whose arenas count what scripts ask for. */
function counting(backend) {
  return {
    ...backend,
    open(config) {
      const arena = backend.open(config);
      const submit = arena.submit.bind(arena);
      arena.submit = (words, count) => {
        for (let at = 0; at < count; at += words[at + 1]) countVerb(config, words, at);
        calls.scripts += 1;
        const before = performance.now();
        submit(words, count);
        calls.submitMs += performance.now() - before;
      };
      return arena;
    },
  };
}

function countVerb({ bands }, words, at) {
  const page = (band) => bands[band].pageBytes;
  const units = (w) => ((words[w + 3] - words[w + 2]) * page(words[w])) / bands[words[w]].units;
  switch (words[at]) {
    case VERB.zero:
      bytes.zeroed += words[at + 3] * page(words[at + 2]);
      break;
    case VERB.move:
      bytes.moved += words[at + 4] * page(words[at + 2]);
      break;
    case VERB.hostCopy: {
      const kind = words[at + 3] === 0 ? "copied to the host" : "copied from the host";
      for (let k = 0; k < words[at + 5]; k++) bytes[kind] += page(words[at + 6 + 3 * k]);
      break;
    }
    case VERB.receive:
      for (let k = 0; k < words[at + 4]; k++) bytes.received += units(at + 5 + 6 * k);
      break;
    case VERB.forward: {
      calls.forwards += 1;
      const first = at + 7 + 2 * (words[at + 4] + words[at + 5]);
      for (let k = 0; k < words[at + 6]; k++) bytes["written by forwards"] += units(first + 6 * k);
      break;
    }
    default:
  }
}

const backend = openBackend(values.device);
let storage = null;
let device = null;
let operations = 0;
const ms = { allocator: 0, device: 0 };
const begin = performance.now();
for await (const line of createInterface({ input: createReadStream(values.trace) })) {
  if (line === "") continue;
  const { kind, config, op, args } = JSON.parse(line);
  if (kind === "run" && storage !== null) break; // the first run alone
  if (kind === "run") storage = new KVStorage(config, { digestDepth: null });
  if (kind !== "op") continue;
  const started = performance.now();
  const answer = storage.apply({ op, args });
  const answered = performance.now();
  if (op === "boot") {
    device = new ByteDevice({ kind: values.device, backend: counting(backend), verify: "touched" });
    device.open(storage.direct, answer.ok);
  }
  const violation = device.apply({ op, args }, answer);
  if (violation !== null) throw new Error(`operation ${operations}: ${violation.message}`);
  ms.allocator += answered - started;
  ms.device += performance.now() - answered;
  operations += 1;
}
const violation = device.verifyAll();
if (violation !== null) throw new Error(violation.message);
const idle = storage.apply({ op: "check.idle", args: {} });
const seconds = (performance.now() - begin) / 1000;
device.close();

const total = Object.values(bytes).reduce((sum, count) => sum + count, 0) + bytes.moved; // a move reads, too
console.log(
  `device ${values.device} (${backend.capabilities(0).name}): ${operations} operations, ${calls.forwards} forwards, every page as written`,
);
console.log(`idle at the end: ${JSON.stringify(idle.ok)}`);
console.log(
  `${(operations / seconds).toFixed(0)} operations/s over ${seconds.toFixed(1)} s, reading the trace and comparing pages included`,
);
const each = (value) => `${((value * 1000) / operations).toFixed(1)} us`;
console.log(
  `host time an operation: allocator ${each(ms.allocator)}, device ${each(ms.device)} (of it submits ${each(calls.submitMs)}, ${calls.scripts} of them)`,
);
for (const [kind, count] of Object.entries(bytes))
  console.log(`  ${kind.padEnd(22)} ${(count / GIB).toFixed(2)} GiB`);
console.log(
  `${(total / GIB).toFixed(1)} GiB written or moved, ${(total / seconds / 1e9).toFixed(2)} GB/s over the whole run`,
);
