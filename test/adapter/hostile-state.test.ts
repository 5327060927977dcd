// A state that no run was in is refused with a reason, whatever it names, before it takes time or memory.
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { CandidateError } from "../../src/base/errors.js";
import { Prng } from "../../src/base/prng.js";
import type { State } from "../../src/base/state.js";
import { readLines, recorded, seeds } from "../tools/faulty-adapter.js";

const lines = readLines(await recorded(seeds(0, 1)));
const { config } = lines.find(({ kind }) => kind === "run");
const opening = { run: "one", domain: "kv", config, digestDepth: "layout" } as const;
const operations = lines.filter(({ kind }) => kind === "op").slice(0, 100);

async function stateInside(): Promise<State> {
  const adapter = new InProcessAdapter({ device: "none" });
  await adapter.open(opening);
  expect((await adapter.apply(operations)).failure).toBeNull();
  return (await adapter.state())!;
}

/** What opening on a state says; null: it goes on from there. */
async function refusalOf(state: unknown): Promise<string | null> {
  const adapter = new InProcessAdapter({ device: "none" });
  try {
    await adapter.open({ ...opening, state: state as State });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(CandidateError);
    return (error as Error).message;
  } finally {
    await adapter.dispose();
  }
}

type Place = readonly [bag: Record<string, unknown>, key: string];

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const bag = value as Record<string, unknown>;
  return Object.keys(bag).flatMap((key) => [[bag, key] as Place, ...placesIn(bag[key])]);
}

const VALUES: readonly unknown[] = [
  2 ** 53 - 1,
  1e9,
  2 ** 24,
  -1,
  0,
  "",
  "full",
  [],
  {},
  null,
  true,
  [[1, 2 ** 53 - 2]],
  [[5, 1, 1e9]],
];

test("any one value of a state in place of another", async () => {
  const whole = await stateInside();
  expect(await refusalOf(whole)).toBeNull();
  const random = new Prng(1);
  let refused = 0;
  for (let trial = 0; trial < 400; trial++) {
    const state = structuredClone(whole);
    const places = placesIn(state);
    const [bag, key] = places[random.below(places.length)]!;
    bag[key] = VALUES[random.below(VALUES.length)];
    const message = await refusalOf(state);
    if (message === null) continue;
    refused += 1;
    expect(message).toMatch(/^[^\n]+$/);
    expect(message).not.toMatch(/Error|undefined|threw|not a function|iterable/);
  }
  expect(refused).toBeGreaterThan(50);
});

test("too many ids, and a state of another implementation", async () => {
  const state = await stateInside();
  const huge = structuredClone(state) as unknown as { full: { bindings: unknown[] } };
  huge.full.bindings.push([1, 1, 2 ** 53 - 1]);
  expect(await refusalOf(huge)).toMatch(/names \d+ ids, at most 16777216 are loaded$/);
  const { x_more: _, ...forwards } = state.forwards;
  expect(await refusalOf({ ...state, forwards })).toMatch(/lacks forwards\.x_more/);
});
