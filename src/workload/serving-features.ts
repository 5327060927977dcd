// What a serving run switches on beside serving alone, and what the configuration then says.
import type { CheckpointConfig, Demand, DirectConfig, ModelConfig } from "../base/operations.js";

/** How state is kept for the prefix tree. @public */
export const CHECKPOINT_STRATEGIES = ["no_buffer", "extra_buffer", "extra_buffer_lazy"] as const;

/** Tokens between two checkpoints where nothing is said. */
const INTERVAL = 256;

/** @public */
export interface ServingSwitches {
  readonly sharesPrefixes: boolean; // through the prefix tree
  readonly checkpoint: CheckpointConfig | null; // null: as the configuration says, else `extra_buffer`
  readonly host: number | "default" | null; // host pages of every band (slots of state); null: no host cache
}

/** The configuration with what the switches say; without one of them it is as it was. @public */
export function withSwitches(config: DirectConfig, switches: ServingSwitches): DirectConfig {
  return { ...config, ...switchedKeys(config, config, switches) };
}

/** As `withSwitches`, for a model form; `derived` is the direct form without them. @public */
export function withModelSwitches(
  form: ModelConfig,
  derived: DirectConfig,
  switches: ServingSwitches,
): ModelConfig {
  const given = { checkpoint: form["checkpoint"], host: form["host"] };
  return { ...form, ...switchedKeys(given, derived, switches) };
}

function switchedKeys(
  given: { readonly checkpoint?: unknown; readonly host?: unknown },
  direct: DirectConfig,
  { sharesPrefixes, checkpoint, host }: ServingSwitches,
): Partial<DirectConfig> {
  const hasState = direct.sub_pools.some(({ kind }) => kind === "state");
  const ownCheckpoint = given.checkpoint === undefined ? DEFAULT_CHECKPOINT : null;
  const policy = sharesPrefixes && hasState ? (checkpoint ?? ownCheckpoint) : null;
  // A state that is cached where its request ends must not be written by one forward more.
  const isSerial = policy?.strategy === "no_buffer";
  return {
    ...(sharesPrefixes ? { prefix_sharing: true } : {}),
    ...(policy === null ? {} : { checkpoint: withInterval(policy) }),
    ...(isSerial ? { overlap: false } : {}),
    ...(host === null || (host === "default" && given.host !== undefined)
      ? {}
      : { host: hostPages(direct, host) }),
  };
}

const DEFAULT_CHECKPOINT: CheckpointConfig = { strategy: "extra_buffer" };

function withInterval({ strategy, interval }: CheckpointConfig): CheckpointConfig {
  return strategy === "no_buffer" ? { strategy } : { strategy, interval: interval ?? INTERVAL };
}

/** Host pages of every band: as given, else twice what the band would have of an arena divided evenly. */
function hostPages(config: DirectConfig, pages: number | "default"): Demand {
  const { sub_pools: pools, page_size: pageSize, arena_bytes: arena } = config;
  return Object.fromEntries(
    pools.map(({ name, kind, unit_bytes: unit }) => {
      const pageBytes = kind === "state" ? unit : unit * pageSize;
      const share = Math.floor((2 * arena) / (pools.length * pageBytes));
      return [name, pages === "default" ? Math.max(1, share) : pages];
    }),
  );
}

/** The grid on which chunks end and state is kept, in tokens from a prompt's start; 1 where none is kept so. @public */
export function checkpointGrid(config: DirectConfig): number {
  const { checkpoint, page_size: pageSize, prefix_sharing: shares, sub_pools: pools } = config;
  const hasState = pools.some(({ kind }) => kind === "state");
  if (shares !== true || !hasState || checkpoint === undefined) return 1;
  if (checkpoint.strategy === "no_buffer") return 1;
  const interval = checkpoint.interval ?? INTERVAL;
  let [left, right] = [pageSize, interval];
  while (right > 0) [left, right] = [right, left % right];
  return (pageSize / left) * interval;
}
