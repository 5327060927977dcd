// Laws of the host cache over seeds: pages are conserved on both sides, refusals change nothing, what was given up leaves
// nothing behind, reserved pages stay where they are, copies arrive, a run goes on from its state, a drain ends at boot.
import { expect, test } from "vitest";
import { HostDriver } from "./host-driver.js";
import { HostTreeDriver } from "./host-tree-driver.js";
import { type Counts, seedsOf, sweepTotal } from "./sweep.js";

const SEEDS = 200;
const OPERATIONS = 150;

test("laws of loads and of retracted requests", () => {
  const counts: Counts = {};
  for (const seed of seedsOf(SEEDS)) {
    const driver = new HostDriver(seed, counts);
    for (let n = 0; n < OPERATIONS; n++) {
      driver.step();
      driver.check(`seed ${seed} step ${n}`);
    }
    driver.drain();
  }
  sweepTotal(`host cache: ${JSON.stringify(counts)}`);
  for (const word of [
    "request.retract",
    "request.restore",
    "host.load_submit",
    "host.load_cancel",
    "refused_host",
    "refused_capacity",
    "refused_rows",
    "name_state",
    "free_outside_reservation",
    "take_between_launch_and_record",
  ])
    expect(counts[word] ?? 0, word).toBeGreaterThan(0);
});

test("laws of backups and of loads by key", () => {
  const counts: Counts = {};
  for (const seed of seedsOf(SEEDS)) {
    const driver = new HostTreeDriver(seed, counts);
    for (let n = 0; n < OPERATIONS; n++) {
      driver.step();
      driver.check(`seed ${seed} step ${n}`);
    }
    driver.drain();
  }
  sweepTotal(`host cache and tree: ${JSON.stringify(counts)}`);
  for (const word of ["host.backup", "host.evict", "loaded", "refused_host", "no_node_at_len"])
    expect(counts[word] ?? 0, word).toBeGreaterThan(0);
});
