// Small memories and small request traces for the serving model: sessions that repeat and extend a prefix, in tokens
// that a test can count.
import type { CheckpointConfig } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { ConfigRule } from "../../src/workload/configs.js";
import { derive } from "../../src/workload/configs.js";
import type { Layout } from "../../src/workload/layouts.js";
import { plainAccount, runsOf } from "../../src/workload/request-trace.js";
import type { RequestTrace, TracedRequest } from "../../src/workload/request-traces.js";
import type { ServingSwitches } from "../../src/workload/serving-features.js";
import { withSwitches } from "../../src/workload/serving-features.js";
import type { ServingOptions } from "../../src/workload/serving.js";

export const BLOCK_TOKENS = 16;

const RULE: ConfigRule = {
  full_tokens: 700,
  row_tokens: 1024,
  move_cap: 8,
  full_unit_bytes: 24,
  window_unit_bytes: 20,
  state_unit_bytes: 500,
  windows: [16, 40],
  batch: 6,
  chunk: 64,
  decode_tokens: 3,
  retire_tokens: 4,
  steps_per_second: 20,
};

/** Requests of a few sessions: a turn repeats what came before, whole blocks of it, and goes on. */
export function smallTrace(seed: number, count: number): RequestTrace {
  const prng = new Prng(seed, 77);
  const sessions: number[][] = [[], [1, 2], [1, 2, 3, 4]];
  let fresh = 10;
  let arrival = 0;
  const requests = Array.from({ length: count }, (): TracedRequest => {
    const session = prng.pick(sessions);
    const input = Math.min(300, session.length * BLOCK_TOKENS + prng.between(1, 90));
    const blocks = session.slice(0, Math.ceil(input / BLOCK_TOKENS));
    while (blocks.length < Math.ceil(input / BLOCK_TOKENS)) blocks.push((fresh += 1));
    if (prng.chance(2, 3)) sessions.push(blocks.slice(0, Math.floor(input / BLOCK_TOKENS)));
    if (sessions.length > 8) sessions.splice(prng.below(3) + 1, 1);
    arrival += prng.below(200);
    return { arrival, input, output: prng.between(1, 60), blocks: runsOf(blocks) };
  });
  return {
    name: "synthetic",
    blockTokens: BLOCK_TOKENS,
    requests,
    seed,
    account: plainAccount(count),
  };
}

/** What a run over such a trace takes. */
export function smallOptions(
  seed: number,
  layout: Layout,
  pageSize: number,
  switches: ServingSwitches,
  requests = 40,
): ServingOptions {
  const { config, serving } = derive(RULE, layout, pageSize);
  const { strategy } = switches.checkpoint ?? { strategy: "extra_buffer" };
  const checkpoint: CheckpointConfig =
    strategy === "no_buffer" ? { strategy } : { strategy, interval: 16 };
  return {
    trace: smallTrace(seed, requests),
    config: withSwitches(config, { ...switches, checkpoint }),
    serving,
    configName: "small",
    layout,
    pageSize,
    sharesPrefixes: switches.sharesPrefixes,
    usesHost: switches.host !== null,
  };
}
