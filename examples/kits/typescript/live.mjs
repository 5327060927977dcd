// A program that uses the example heap and records itself when UNIFIED_TRACE names a file:
//
//   UNIFIED_TRACE=live.jsonl node examples/kits/typescript/live.mjs
//   unified-trace compare --trace live.jsonl --candidate 'cmd:node examples/kits/typescript/adapter.mjs'
import process from "node:process";
import { FirstFit } from "./first-fit.mjs";
import { LiveRecorder } from "./unified-trace-kit.mjs";

const ARENA_BYTES = 64 * 1024;
const heap = new FirstFit(ARENA_BYTES);
const live = new LiveRecorder({
  name: "first-fit",
  version: "1",
  config: { arena_bytes: ARENA_BYTES },
});

// The program's own entry points, each with one call around what it always did.
function allocate(sizeBytes) {
  return live.alloc({ sizeBytes }, (call) => {
    const address = heap.allocate(sizeBytes);
    if (address === null) call.refused("refused_capacity", { limit: "bytes" });
    else call.granted(address);
    return address;
  });
}

function resize(address, sizeBytes) {
  return live.realloc(address, sizeBytes, (call) => {
    const moved = heap.resize(address, sizeBytes);
    if (moved === null) call.refused("refused_capacity", { limit: "bytes" });
    else call.granted(moved);
    return moved ?? address;
  });
}

function free(address) {
  live.free(address, (call) => {
    heap.free(address);
    call.granted();
  });
}

/** Allocates, resizes and frees by a fixed rule; addresses come up again and again. */
function work(steps, crashAt) {
  const held = [];
  const takeOut = (index) => held.splice(index % held.length, 1)[0];
  let number = 1;
  for (let step = 0; step < steps; step++) {
    number = Number((BigInt(number) * 1103515245n + 12345n) % 2147483648n);
    const choice = Math.floor(number / 65536) % 8;
    const size = 16 + (Math.floor(number / 8192) % 6000);
    // as a crash inside the allocator would
    if (step === crashAt)
      live.alloc({ sizeBytes: size }, () => process.kill(process.pid, "SIGKILL"));
    if (choice < 4 || held.length === 0) {
      const address = allocate(size);
      if (address !== null) held.push(address);
    } else if (choice < 5) held.push(resize(takeOut(number), size));
    else free(takeOut(number));
  }
  for (const address of held) free(address);
}

work(Number(process.argv[2] ?? 200), Number(process.argv[3] ?? -1));
