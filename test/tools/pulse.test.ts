// When a tool gives the event loop a turn: after many operations, or after a while, whatever each of them takes.
import { expect, test, vi } from "vitest";
import { Pulse } from "../../src/tools/pulse.js";

test("many quick operations breathe by their number", () => {
  vi.spyOn(performance, "now").mockReturnValue(0);
  const pulse = new Pulse({});
  const first = Array.from({ length: 10_000 }, () => pulse.count(1)).indexOf(true);
  vi.restoreAllMocks();
  expect(first + 1).toBe(4096);
});

test("few slow operations breathe by the clock, so that an interrupt is heard", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const controller = new AbortController();
  const pulse = new Pulse({ signal: controller.signal });
  let operations = 0;
  for (let isDue = false; !isDue; operations++) {
    now += 100; // milliseconds of one operation
    isDue = pulse.count(1);
  }
  expect(operations).toBeLessThanOrEqual(4);
  controller.abort();
  await expect(pulse.breathe()).rejects.toThrow();
  now += 100;
  expect(pulse.count(1)).toBe(false); // it has just breathed
  vi.restoreAllMocks();
});
