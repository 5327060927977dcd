// Scripts drawn at random, legal by construction and complete with waits: their outcome does not depend on timing.
import type { Prng } from "../../base/prng.js";
import type { ByteConfig } from "../bytes.js";
import { VERB } from "../bytes-script.js";

const DELAYS_US = [0, 0, 0, 200] as const;
const PAGES_MAX = 6;

/** @internal */
export function randomScript(prng: Prng, config: ByteConfig): number[][] {
  const verbs: number[][] = [];
  for (let count = prng.between(2, 8); count > 0; count--) verbs.push(...randomPiece(prng, config));
  return verbs;
}

/** One piece of work and the waits that make its outcome certain. */
function randomPiece(prng: Prng, config: ByteConfig): number[][] {
  const band = prng.below(config.bands.length);
  const { units, ids, pages, hostPages } = config.bands[band]!; // in range
  const some = (low: number, high: number): number[] => distinct(prng, low, high);
  const writer = prng.below(2 ** 31);
  switch (prng.below(9)) {
    case 0: {
      const list = some(1, pages - 1);
      return [[VERB.zero, band, list.length, ...list]];
    }
    case 1: {
      const list = some(1, pages - 1);
      const pairs = Math.floor(list.length / 2);
      return [[VERB.move, band, 0, pairs, ...list.slice(0, 2 * pairs)]];
    }
    case 2: {
      const list = some(1, ids - 1).flatMap((id) => [id, prng.between(1, pages - 1)]);
      return [[VERB.bind, band, prng.below(2), list.length / 2, ...list]];
    }
    case 3: {
      const cells = some(0, ids - 1);
      return [[VERB.row, prng.between(1, config.rows), prng.below(4), cells.length, ...cells]];
    }
    case 4: {
      const entries = some(1, pages - 1).flatMap((page) => [page, prng.below(units), writer]);
      return [[VERB.stamp, band, entries.length / 3, ...entries]];
    }
    case 5: {
      const list = some(1, ids - 1).flatMap((id) => [
        id,
        ...Array.from({ length: units }, () => prng.below(3)),
      ]);
      return [[VERB.expect, band, list.length / (1 + units), ...list]];
    }
    case 6: {
      const copies = some(1, pages - 1).map((page, k) => [band, page, k % hostPages]);
      const inward = prng.below(2);
      // Host pages of one copy are distinct, or their order would matter.
      const list = copies.slice(0, hostPages).flat();
      const verb = [VERB.hostCopy, 1, inward, prng.pick(DELAYS_US), list.length / 3, ...list];
      return [verb, [VERB.wait, 1], [VERB.hostWait, 1], [VERB.forget, 1]];
    }
    case 7: {
      const verb = prng.below(2) === 0 ? VERB.receive : VERB.fill;
      const list = some(1, pages - 1).flatMap((page) => {
        const from = prng.below(units);
        return [band, page, from, prng.between(from + 1, units), prng.below(1000), writer];
      });
      const piece = [verb, 1, prng.pick(DELAYS_US), list.length / 6, ...list];
      return [piece, [VERB.hostWait, 1], [VERB.forget, 1]];
    }
    default:
      return randomForward(prng, config, band, writer);
  }
}

/** Its writes go to distinct ids, which are bound to distinct pages before: two writes of one page have no order. */
function randomForward(prng: Prng, config: ByteConfig, band: number, writer: number): number[][] {
  const { units, ids, pages } = config.bands[band]!; // in range
  const targets = distinct(prng, 1, pages - 1);
  const written = distinct(prng, 1, ids - 1).slice(0, targets.length);
  const binds = written.flatMap((id, k) => [id, targets[k]!]); // as many
  const writes = written.flatMap((id) => {
    const from = prng.below(units);
    return [band, id, from, prng.between(from + 1, units), prng.below(1000), writer];
  });
  const reads = [prng.between(1, config.rows), prng.below(config.rowPages + 1)];
  const head = [VERB.forward, 1, prng.pick(DELAYS_US), 1, 0, written.length];
  return [
    [VERB.bind, band, prng.below(2), written.length, ...binds],
    [...head, ...reads, ...writes],
    [VERB.record, 1],
    [VERB.wait, 1],
    [VERB.hostWait, 1],
    [VERB.forget, 1],
  ];
}

function distinct(prng: Prng, low: number, high: number): number[] {
  const found = new Set<number>();
  for (let count = prng.between(1, PAGES_MAX); count > 0; count--)
    found.add(prng.between(low, high));
  return [...found];
}
