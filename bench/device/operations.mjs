// Operations of the allocator end to end on a device with bytes, beside the same operations on the simulated device: how much
// host time the bytes add when nothing is waited for.
//
//   node bench/device/operations.mjs --device cuda|host|nothing [--rounds 400] [--trace serving.jsonl]
//
// With a trace (plain lines, its first run): the added time of every operation that waits for nothing, by kind and in all.
//
// Both devices are fed the same operations in turns; what is timed is the device's share of an operation (books, script, submit).
import { performance } from "node:perf_hooks";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ByteDevice } from "../../dist/device/byte-device.js";
import { ModelDevice } from "../../dist/device/model.js";
import { openBackend } from "../../dist/device/open-device.js";
import { KVStorage } from "../../dist/kv/storage.js";

const PAGE = 16; // tokens
const MANY = 1000; // pages of one extend or free
const BATCH = 256; // requests of a decode step
const ADDED_US = 15; // asked for

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cuda" },
    rounds: { type: "string", default: "400" },
    trace: { type: "string" },
  },
});
const rounds = Number(values.rounds);
// `nothing` takes scripts and does nothing: what is left is the making of the scripts.
const nothing = { submit() {}, faults: () => ({ count: 0, faults: [] }), close() {} };
const backend =
  values.device === "nothing"
    ? { capabilities: () => ({ name: "takes scripts, does nothing" }), open: () => nothing }
    : openBackend(values.device);
const { name } = backend.capabilities(0);

const config = {
  page_size: PAGE,
  arena_bytes: 2 ** 32,
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4096 }],
  rows: 512,
  row_tokens: 1 << 18,
  overlap: true,
};

/** One allocator under three followers: nobody, the books alone, the books and bytes. */
class Rig {
  constructor(configuration = config) {
    this.storage = new KVStorage(configuration, { digestDepth: null });
    const boot = must(this.storage.apply({ op: "boot", args: {} }));
    this.model = new ModelDevice({ verify: "touched" });
    this.bytes = new ByteDevice({
      kind: values.device === "nothing" ? "model" : values.device,
      ...{ backend, verify: "touched", lookEvery: Infinity },
    });
    this.model.open(this.storage.direct, boot.ok);
    this.bytes.open(this.storage.direct, boot.ok);
    this.turn = 0;
  }

  /** Applies an operation; microseconds of the allocator, of the books, and of books with bytes. */
  apply(operation) {
    const times = [0, 0, 0];
    const at = performance.now();
    const answer = this.storage.apply(operation);
    times[0] = (performance.now() - at) * 1000;
    const followers = [
      [1, this.model],
      [2, this.bytes],
    ];
    if (this.turn++ % 2 === 1) followers.reverse();
    for (const [index, device] of followers) {
      const before = performance.now();
      const violation = device.apply(operation, answer);
      times[index] = (performance.now() - before) * 1000;
      if (violation !== null) throw new Error(violation.message);
    }
    this.answer = answer;
    return times;
  }
}

function must(answer) {
  if (answer.err !== undefined) throw new Error(JSON.stringify(answer.err));
  return answer;
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

function report(what, samples) {
  const [own, books, bytes] = [0, 1, 2].map((index) =>
    median(samples.map((times) => times[index])),
  );
  const added = median(samples.map((times) => times[2] - times[1]));
  const verdict = added <= ADDED_US ? "met" : "MISSED";
  console.log(
    `${what.padEnd(44)} allocator ${own.toFixed(1).padStart(7)} us  books ${books.toFixed(1).padStart(7)} us  ` +
      `with bytes ${bytes.toFixed(1).padStart(7)} us  added ${added.toFixed(1).padStart(6)} us  want ${ADDED_US} ${verdict}`,
  );
}

console.log(
  `device ${values.device} (${name}), medians of ${rounds} operations; bytes added to the books of the simulated device`,
);

if (values.trace !== undefined) overTrace(values.trace);
else microbenches();

/** Operations of a recorded run; nothing is synchronised but what the run itself waits for. */
function overTrace(file) {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const run = lines.find(({ kind }) => kind === "run");
  const rig = new Rig(run.config);
  const waiting = new Set(["forward.process", "host.backup_done", "host.load_done", "net.end"]);
  const all = [];
  const kinds = new Map();
  for (const { kind, op, args, run: of } of lines) {
    if (kind === "run" && of !== run.run) break;
    if (kind !== "op" || op === "boot") continue;
    const times = rig.apply({ op, args });
    const waits = (rig.answer.fx ?? []).some(
      ([effect]) => effect === "hostread" || effect === "hostwait",
    );
    if (waits || waiting.has(op)) continue;
    all.push(times);
    if (!kinds.has(op)) kinds.set(op, []);
    kinds.get(op).push(times);
  }
  for (const [op, samples] of [...kinds].sort((a, b) => b[1].length - a[1].length).slice(0, 8))
    report(`${op} (${samples.length})`, samples);
  report(`every operation that waits for nothing (${all.length})`, all);
  rig.bytes.close();
}

function microbenches() {
  // Decode: 256 requests grow by a token; every sixteenth step each of them takes a page.
  {
    const rig = new Rig();
    const reqs = Array.from({ length: BATCH }, (_, index) => `r${index}`);
    rig.apply({ op: "row.alloc", args: { reqs } });
    const first = reqs.map((req, index) => ({ req, from: 0, to: 1 + (index % PAGE) }));
    rig.apply({ op: "tokens.extend", args: { batch: first } });
    const samples = [];
    for (let round = 0; round < rounds; round++) {
      const batch = reqs.map((req, index) => ({ req, len: 2 + (index % PAGE) + round }));
      const times = rig.apply({ op: "tokens.decode", args: { batch } });
      if (round >= 20) samples.push(times); // both are warm
      rig.bytes.synchronize(); // nothing is queued when the next one begins
    }
    report(`decode of ${BATCH} requests, 16 pages`, samples);
    console.log(
      `  allocator and bytes alone: ${median(samples.map((t) => t[0] + t[2] - t[1])).toFixed(1)} us, want 45`,
    );
    rig.bytes.close();
  }

  // Extend and free of a thousand pages; a question; a flush that finds nothing.
  {
    const rig = new Rig();
    rig.apply({ op: "row.alloc", args: { reqs: ["a", "b"] } });
    rig.apply({ op: "tokens.extend", args: { batch: [{ req: "b", from: 0, to: 64 * PAGE }] } });
    const pieces = new Map();
    const note = (what, times) => {
      if (!pieces.has(what)) pieces.set(what, []);
      pieces.get(what).push(times);
    };
    for (let round = 0; round < rounds; round++) {
      const to = MANY * PAGE;
      note(
        `extend of ${MANY} pages`,
        rig.apply({ op: "tokens.extend", args: { batch: [{ req: "a", from: 0, to }] } }),
      );
      rig.bytes.synchronize();
      note("a question", rig.apply({ op: "ask.fits", args: { demand: { full: 10 } } }));
      note(
        `free of ${MANY} pages`,
        rig.apply({ op: "tokens.free", args: { req: "a", from: 0, to, bands: "all" } }),
      );
      rig.bytes.synchronize();
      note("flush that finds nothing", rig.apply({ op: "chain.flush", args: {} }));
      const from = (64 + (round % 32)) * PAGE;
      note(
        "extend of 1 page",
        rig.apply({ op: "tokens.extend", args: { batch: [{ req: "b", from, to: from + PAGE }] } }),
      );
      const step = `f${round}`;
      const batch = [{ req: "b", from, to: from + 1 }];
      note(
        "launch of a forward over 65 pages",
        rig.apply({ op: "forward.launch", args: { step, batch, mode: "decode" } }),
      );
      note(
        "record of a forward",
        rig.apply({ op: "forward.record", args: { step, writes: "known" } }),
      );
      rig.apply({ op: "forward.process", args: { step } });
      rig.apply({ op: "tokens.free", args: { req: "b", from, to: from + PAGE, bands: "all" } });
      if (round % 32 !== 31)
        rig.apply({ op: "tokens.extend", args: { batch: [{ req: "b", from, to: from + PAGE }] } });
      else
        rig.apply({
          op: "tokens.free",
          args: { req: "b", from: 64 * PAGE, to: from, bands: "all" },
        });
      rig.bytes.synchronize();
    }
    for (const [what, samples] of pieces) report(what, samples.slice(20));
    rig.bytes.close();
  }
}
