// Which runs of a trace belong to a shard: parts of about as many operations each.
import { UnifiedTraceError } from "../base/errors.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { isReadAgain } from "../trace/reader-input.js";
import { ofShard } from "./shards.js";
import type { ShardPart, ShardPiece } from "./shards.js";

const START_COST = 16; // of a run, in operations

interface RunPiece extends ShardPiece {
  readonly index: number; // in the file
}

/**
 * Tells of a run's index in the file whether it is the part's. The file is read once for the lengths of its runs; what can
 * be read only once is dealt out run by run, and so are runs behind damage in the file. @internal
 */
export async function shardOfTrace(
  trace: string,
  part: ShardPart,
  options: ReaderOptions,
  signal?: AbortSignal,
): Promise<(index: number) => boolean> {
  const pieces = isReadAgain(trace) ? await piecesOf(trace, options, signal) : [];
  const own = new Set(ofShard(pieces, part).map(({ index }) => index));
  return (index) => (index < pieces.length ? own.has(index) : index % part.of === part.index - 1);
}

async function piecesOf(
  trace: string,
  options: ReaderOptions,
  signal: AbortSignal | undefined,
): Promise<RunPiece[]> {
  const pieces: RunPiece[] = [];
  const reader = await openTrace(trace, options);
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return pieces;
      signal?.throwIfAborted();
      for (const line of lines) {
        if (line.kind === "run")
          pieces.push({ index: pieces.length, name: line.run, cost: START_COST });
        const last = pieces.at(-1);
        if (line.kind === "end" && last !== undefined)
          pieces[last.index] = { ...last, cost: START_COST + line.ops };
      }
    }
  } catch (error) {
    if (error instanceof UnifiedTraceError) return pieces; // whoever reads on meets it and tells
    throw error;
  } finally {
    await reader.close();
  }
}
