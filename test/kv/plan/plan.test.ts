// Planning: chain order, names, tree slots, fused drafts, and every refusal of the plan by its rule.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import type { KVStoragePlan, PlanOptions } from "../../../src/kv/plan/plan.js";
import { planStorage } from "../../../src/kv/plan/plan.js";
import { layerRoutes } from "../../../src/kv/layout/arena.js";
import type { Json } from "../layers.js";
import { decls, END_PAIR, FULL_WINDOW, LATENT_STATE, planOf, randomLayers } from "../layers.js";

const attention = (extra: Json = {}): Json => ({ heads: 1, head_dim: 4, ...extra });
const layers = (...entries: Json[]): Json => ({ layers: entries });
const FULL: Json = { attention: attention() };
const STATE: Json = { state: { conv: [[2, 3]], temporal: [2] } };
const windowed = (window: number | null): Json => ({ attention: attention({ window }) });

const refusalOf = (target: Json, draft?: Json, options: Partial<PlanOptions> = {}): unknown => {
  const checkpointTokens = options.pageTokens === 7 ? 64 : null; // 7: the target keeps checkpoints
  const all = [
    ...decls(target, { checkpointTokens }),
    ...(draft === undefined ? [] : decls(draft, { role: "draft" })),
  ];
  const planned = planStorage(all, { pageTokens: 4, ...options });
  return "refusal" in planned ? planned.refusal : null;
};
const fused = (target: Json, draft: Json): KVStoragePlan => {
  const all = [
    ...decls(target, { checkpointTokens: 64 }),
    ...decls(draft, { role: "draft", checkpointTokens: 64 }),
  ];
  const planned = planStorage(all, { pageTokens: 4 });
  if ("refusal" in planned) throw new Error(planned.refusal.message);
  return planned.plan;
};
const namesOf = (plan: KVStoragePlan): string[] => plan.subPools.map((pool) => pool.name);
const growsOf = (plan: KVStoragePlan): string[] => plan.subPools.map((pool) => pool.grow);

describe("chain order", () => {
  test("over random models: ends, floats, lifetimes descending to full", () => {
    for (let seed = 0; seed < 300; seed++) {
      const plan = planOf(randomLayers(new Prng(seed)), { pageTokens: 4 });
      const grows = growsOf(plan);
      expect(grows[0]).toBe("up");
      expect(grows.at(-1)).toBe("down");
      expect(grows.slice(1, -1).every((grow) => grow === "float")).toBe(true);
      expect(plan.subPools.at(-1)?.name).toBe("full");
      const lengths = plan.subPools.flatMap(({ lifetime }) =>
        lifetime.kind === "window" ? [lifetime.tokens ?? Infinity] : [],
      );
      expect(lengths).toEqual([...lengths].sort((left, right) => right - left));
      expect([...plan.treeSlots].sort()).toEqual(namesOf(plan).sort());
    }
  });

  test.each([
    ["full+state", layers(FULL, STATE), ["mamba", "full"], ["full", "mamba"]],
    ["full+window", layers(FULL, windowed(8)), ["window_8", "full"], ["full", "window_8"]],
    [
      "full+window+state",
      layers(STATE, windowed(8), FULL),
      ["mamba", "window_8", "full"],
      ["full", "window_8", "mamba"],
    ],
    [
      "full+2window: the longest takes the low end",
      layers(windowed(8), FULL, windowed(32)),
      ["window_32", "window_8", "full"],
      ["full", "window_32", "window_8"],
    ],
    [
      "a window of unknown length is the longest",
      layers(windowed(8), windowed(null), FULL, STATE),
      ["mamba", "window", "window_8", "full"],
      ["full", "window", "window_8", "mamba"],
    ],
  ])("%s", (_, model, chain, slots) => {
    const plan = planOf(model, { pageTokens: 4 });
    expect(namesOf(plan)).toEqual(chain);
    expect(plan.treeSlots).toEqual(slots);
  });

  test("one band alone grows down, where the product's refusal is set aside", () => {
    const plan = planOf(layers(FULL), { pageTokens: 4, allowFullOnly: true });
    expect(growsOf(plan)).toEqual(["down"]);
    expect(plan.primaryWindow).toBeNull();
  });
});

describe("fused drafts", () => {
  test("full layers join the target's entry, behind its layers", () => {
    const plan = fused(FULL_WINDOW, layers({ count: 2, attention: attention({ heads: 3 }) }));
    const full = plan.subPools.at(-1)!;
    expect(full.parts.map(({ role, layer }) => [role, layer])).toEqual([
      ["target", 0],
      ["draft", 0],
      ["draft", 1],
    ]);
    expect(full.unitBytes).toBe(32 + 2 * 3 * 8 * 2); // the draft's heads are its own
  });

  test("a window of another length is a band of its own; the target's stays primary", () => {
    const plan = fused(FULL_WINDOW, layers(windowed(64), FULL));
    expect(namesOf(plan)).toEqual(["window_64", "window_8", "full"]);
    expect(plan.primaryWindow).toBe("window_8");
    expect(plan.treeSlots).toEqual(["full", "window_8", "window_64"]);
  });

  test("a window of the same length joins", () => {
    const plan = fused(FULL_WINDOW, layers(windowed(8), FULL));
    expect(namesOf(plan)).toEqual(["window_8", "full"]);
    expect(plan.subPools[0]?.parts).toHaveLength(4);
  });

  test("recurrent layers join the target's state band with its checkpoint policy", () => {
    const plan = fused(layers(FULL, STATE), layers(STATE));
    expect(plan.subPools[0]?.parts.map((part) => part.role)).toEqual(["target", "draft"]);
  });

  test("routes name the target's layers before the draft's, attention before state", () => {
    const both: Json = { ...FULL, state: { conv: [[2, 3]], temporal: [2] } };
    const plan = fused(layers(both, windowed(8)), layers(FULL));
    expect(
      layerRoutes(plan).map(({ role, layer, subPool, index }) => [role, layer, subPool, index]),
    ).toEqual([
      ["target", 0, "full", 0],
      ["target", 0, "mamba", 0],
      ["target", 1, "window_8", 0],
      ["draft", 0, "full", 1],
    ]);
  });
});

describe("refusals", () => {
  test("no_full_owner: only windows, only state, a stage without full layers", () => {
    expect(refusalOf(layers(windowed(8), STATE))).toMatchObject({ rule: "no_full_owner" });
    expect(refusalOf(layers(STATE))).toMatchObject({ rule: "no_full_owner" });
    expect(refusalOf({ ...END_PAIR, local_layers: [2, 2] })).toMatchObject({
      rule: "no_full_owner",
    });
  });

  test("full_only names MHA or MLA", () => {
    expect(refusalOf(layers(FULL))).toMatchObject({ rule: "full_only", band: "full" });
    const latent = layers({ attention: { kind: "mla", kv_lora_rank: 8 } });
    expect(refusalOf(latent)).toMatchObject({
      rule: "full_only",
      message: expect.stringMatching(/MLA/) as string,
    });
  });

  test("mla_with_window, whichever of the two is the draft's", () => {
    const latent: Json = { attention: { kind: "mla", kv_lora_rank: 8 } };
    expect(refusalOf(layers(latent, windowed(8)))).toMatchObject({
      rule: "mla_with_window",
      band: "window_8",
    });
    expect(refusalOf(LATENT_STATE, layers(windowed(8)))).toMatchObject({ rule: "mla_with_window" });
  });

  test("two_geometries: shapes, kinds, page sizes, element types", () => {
    const cases: readonly Json[] = [
      layers(FULL, { attention: attention({ heads: 2 }) }, STATE),
      layers(FULL, { attention: attention({ v_head_dim: 2 }) }, STATE),
      layers(FULL, { attention: attention({ dtype: "fp8_e4m3" }) }, STATE),
      layers(FULL, { attention: { kind: "mla", kv_lora_rank: 8 } }, STATE),
      layers(FULL, { attention: attention({ page_tokens: 8 }) }, STATE),
    ];
    for (const model of cases)
      expect(refusalOf(model)).toMatchObject({ rule: "two_geometries", band: "full" });
    expect(
      refusalOf(layers(FULL, windowed(8), { attention: attention({ window: 8, page_tokens: 8 }) })),
    ).toMatchObject({ rule: "two_geometries", band: "window_8" });
    expect(
      refusalOf(layers(FULL, STATE, { state: { conv: [[2, 2]], temporal: [2] } })),
    ).toMatchObject({ rule: "two_geometries", band: "mamba" });
  });

  test("two_geometries: a latent row cannot join an MHA entry", () => {
    expect(
      refusalOf(FULL_WINDOW, layers({ attention: { kind: "mla", kv_lora_rank: 8 } })),
    ).toMatchObject({ rule: "mla_with_window" }); // the windows answer first
    expect(
      refusalOf(layers(FULL, STATE), layers({ attention: { kind: "mla", kv_lora_rank: 8 } })),
    ).toMatchObject({ rule: "two_geometries", band: "full" });
  });

  test("draft_needs_state: without a state band, and without a checkpoint policy", () => {
    expect(refusalOf(FULL_WINDOW, layers(STATE))).toMatchObject({ rule: "draft_needs_state" });
    expect(refusalOf(layers(FULL, STATE), layers(STATE))).toMatchObject({
      rule: "draft_needs_state",
      band: "mamba",
    });
    expect(refusalOf(layers(FULL, STATE), layers(STATE), { pageTokens: 7 })).toBeNull();
  });

  test("decode context parallelism wants latent rows whose bytes it divides", () => {
    expect(refusalOf(FULL_WINDOW, undefined, { contextRanks: 2 })).toMatchObject({
      rule: "feature_conflict",
    });
    expect(refusalOf(LATENT_STATE, undefined, { contextRanks: 5 })).toMatchObject({
      rule: "feature_conflict",
    });
  });

  test("a primary window that the plan lacks", () => {
    expect(refusalOf(FULL_WINDOW, undefined, { primaryWindow: "window_9" })).toMatchObject({
      rule: "feature_conflict",
    });
  });
});

test("decode context parallelism widens the owner's pages, a rank stores its share of a token", () => {
  const plan = planOf(LATENT_STATE, { pageTokens: 4, contextRanks: 2 });
  const full = plan.subPools.at(-1)!;
  expect(plan.pageTokens).toBe(8);
  expect([full.unitBytes, full.rankUnitBytes, full.rowsPerPage]).toEqual([48, 24, 4]);
  const state = plan.subPools[0]!;
  expect(state.rankUnitBytes).toBe(state.unitBytes);
});
