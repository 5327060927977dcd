// The two checks of the allocator on itself that follow the run's level, tripped at every level. Nothing that a caller
// may do trips them, so what they look at is broken here by hand.
import { describe, expect, test } from "vitest";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import { ForwardSteps } from "../../src/kv/alloc/forward-steps.js";
import { Invariants } from "../../src/kv/alloc/invariants.js";
import { requireGeometry } from "../../src/kv/alloc/compaction.js";
import { EffectScope } from "../../src/kv/alloc/signals.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";

function forward(name: string): ForwardStep {
  return {
    kind: "forward",
    name,
    mode: "decode",
    launch: 1,
    entries: new Map(),
    explicit: null,
    unknownWrites: false,
    retired: false,
  };
}

/** A host read behind a wait for a forward. */
function lateHostRead(level: 0 | 1 | 2): Invariants {
  const invariants = new Invariants(level);
  const steps = new ForwardSteps();
  const step = forward("f1");
  steps.record(step);
  const scope = new EffectScope(steps, invariants);
  scope.wait(step);
  scope.emit(["hostread", "recovery"]);
  return invariants;
}

/** Urgent work on a band whose pending page was not settled. */
function unsettledGeometry(level: 0 | 1 | 2): Invariants {
  const invariants = new Invariants(level);
  const plan = {
    name: "full",
    kind: "mha",
    window: null,
    isWindow: false,
    isOwner: true,
    unitsPerPage: 1,
    grow: "down",
    unit_bytes: 2,
    page_bytes: 2,
    pages: 8,
    first_page: 1,
  } as const;
  const band = new EndBand(plan, 0, 8, { layout: false });
  band.acquire(1, 0, { forward: null, fresh: 0 });
  band.bind(1, 7, 0);
  band.free(1, forward("f1"));
  requireGeometry(band, { invariants }, "urgent compaction");
  return invariants;
}

describe.each([
  ["band.host_read_before_wait", lateHostRead],
  ["band.geometry_ready", unsettledGeometry],
] as const)("%s", (name, broken) => {
  test("level 0 looks at nothing", () => {
    expect(broken(0).takeTold()).toBeNull();
  });
  test("level 1 tells it once", () => {
    const invariants = broken(1);
    expect(invariants.takeTold()).toContain(name);
    expect(invariants.takeTold()).toBeNull();
  });
  test("level 2 is fatal", () => {
    expect(() => broken(2)).toThrow(name);
  });
});

test("a wait of an earlier operation is no wait of this one", () => {
  const invariants = new Invariants(2);
  const steps = new ForwardSteps();
  const step = forward("f1");
  steps.record(step);
  const scope = new EffectScope(steps, invariants);
  scope.wait(step);
  scope.take();
  scope.emit(["hostread", "recovery"]);
  expect(scope.take()).toEqual([["hostread", "recovery"]]);
});
