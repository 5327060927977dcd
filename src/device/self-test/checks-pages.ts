// The contract's promises about bytes: fills, zeros, moves, stamps, hashes, host copies.
import { VERB } from "../bytes-script.js";
import {
  type Bench,
  BrokenPromise,
  type ContractCheck,
  equal,
  FULL,
  hashOfStamps,
  smallConfig,
  STATE,
  stampsOf,
  WINDOW,
  withBench,
} from "./check.js";

const POISON = 0x7fc17fc1;

/** @internal */
export const PAGE_CHECKS: readonly ContractCheck[] = [
  {
    name: "an arena opens full of poison, or of zeros",
    run(backend) {
      for (const poison of [true, false]) {
        withBench(
          backend,
          (bench) => {
            for (const band of [FULL, WINDOW, STATE])
              for (const word of bench.page(band, 3))
                if (word !== (poison ? POISON : 0))
                  throw new BrokenPromise(`a fresh page holds ${word}`);
          },
          { ...smallConfig(), poison },
        );
      }
    },
  },
  {
    name: "zero fills the pages named, and no other byte",
    run: (backend) =>
      withBench(backend, (bench) => {
        for (const [band, pages] of [
          [FULL, [2, 7, 100]],
          [WINDOW, [701, 703]],
          [STATE, [20]],
        ] as const) {
          bench.do(VERB.zero, band, pages.length, ...pages);
          for (const page of pages) {
            if (bench.page(band, page).some((word) => word !== 0))
              throw new BrokenPromise(`page ${page} of band ${band} is not all zeros`);
            for (const beside of [page - 1, page + 1]) {
              if ((pages as readonly number[]).includes(beside)) continue;
              if (bench.page(band, beside).some((word) => word !== POISON))
                throw new BrokenPromise(`zero of page ${page} reached page ${beside}`);
            }
          }
        }
      }),
  },
  {
    name: "a stamp writes its unit whole, and hashes follow from stamps",
    run: (backend) =>
      withBench(backend, (bench) => {
        for (const [band, page] of [
          [FULL, 100],
          [WINDOW, 5],
          [STATE, 3],
        ] as const) {
          const { units } = bench.config.bands[band]!; // of the checks
          const stamps = stampsOf(0xdead + band, 11, units);
          bench.do(VERB.zero, band, 1, page);
          equal("the hash of zeros", bench.hash(band, page), [0, 0, 0]);
          const entries = stamps.flatMap((stamp, unit) => [page, unit, stamp | 0]);
          bench.do(VERB.stamp, band, units, ...entries);
          bench.expectStamps(band, page, stamps);
          equal("the hash of a page", bench.hash(band, page), hashOfStamps(stamps));
        }
      }),
  },
  {
    name: "masks leave units out, torn units are counted",
    run: (backend) =>
      withBench(backend, (bench) => {
        const stamps = stampsOf(7, 0, 4);
        bench.do(VERB.stamp, FULL, 4, ...stamps.flatMap((stamp, unit) => [9, unit, stamp | 0]));
        const some = bench.arena.hashPages(FULL, Int32Array.of(9), Uint32Array.of(0b1010));
        const masked = [0, stamps[1]!, 0, stamps[3]!];
        equal("a masked hash", [...some], hashOfStamps(masked));
        // A unit of the window band ends inside this page: its words tear two units of the full band.
        const windowPage = Math.ceil((9 * 4096) / 1020);
        bench.do(VERB.zero, WINDOW, 1, windowPage);
        const torn = bench.hash(FULL, 9)[2];
        if (torn === 0) throw new BrokenPromise("a page written over has no torn unit");
      }),
  },
  {
    name: "a move copies whole pages at once, and leaves its sources",
    run: (backend) =>
      withBench(backend, (bench) => {
        for (const [band, from, to] of [
          [FULL, [10, 12, 14], [20, 22, 24]],
          [WINDOW, [1, 3, 5], [901, 903, 905]],
          [STATE, [2, 4, 6], [10, 12, 14]],
        ] as const) {
          const { units } = bench.config.bands[band]!;
          for (const [k, page] of from.entries()) stampPage(bench, band, page, 50 * k, units);
          bench.do(VERB.move, band, 0, 3, ...from.flatMap((page, k) => [page, to[k]!]));
          for (const [k, page] of to.entries()) {
            bench.expectStamps(band, page, stampsOf(1, 50 * k, units));
            bench.expectStamps(band, from[k]!, stampsOf(1, 50 * k, units));
          }
        }
      }),
  },
  {
    name: "an ordered move goes one after the other",
    run: (backend) =>
      withBench(backend, (bench) => {
        for (let page = 30; page < 34; page++) stampPage(bench, FULL, page, page, 4);
        bench.do(VERB.move, FULL, 1, 3, 31, 30, 32, 31, 33, 32);
        for (let page = 30; page < 33; page++)
          bench.expectStamps(FULL, page, stampsOf(1, page + 1, 4));
        bench.do(VERB.move, FULL, 1, 3, 30, 31, 31, 32, 32, 33); // each source was just written
        for (let page = 30; page < 34; page++) bench.expectStamps(FULL, page, stampsOf(1, 31, 4));
      }),
  },
  {
    name: "host copies bring back what they took away",
    run: (backend) =>
      withBench(backend, (bench) => {
        for (const [band, page] of [
          [FULL, 40],
          [WINDOW, 400],
          [STATE, 15],
        ] as const) {
          const { units } = bench.config.bands[band]!;
          stampPage(bench, band, page, 3, units);
          stampPage(bench, band, page + 2, 90, units);
          const out = [VERB.hostCopy, 1, 0, 0, 2, band, page, 5, band, page + 2, 0];
          const back = [VERB.hostCopy, 2, 1, 0, 2, band, page + 4, 0, band, page + 6, 5];
          bench.submit(out, [VERB.wait, 1]);
          bench.do(VERB.zero, band, 2, page, page + 2);
          bench.submit([VERB.hostWait, 1], back, [VERB.wait, 2]);
          bench.expectStamps(band, page + 4, stampsOf(1, 90, units));
          bench.expectStamps(band, page + 6, stampsOf(1, 3, units));
          bench.submit([VERB.forget, 1], [VERB.forget, 2]);
        }
      }),
  },
  {
    name: "a peer's writes and a fill write their units, a send finds its hash",
    run: (backend) =>
      withBench(backend, (bench) => {
        const writes = [FULL, 50, 1, 3, 100, 77, FULL, 52, 0, 4, 0, 78];
        bench.do(VERB.zero, FULL, 2, 50, 52);
        bench.submit([VERB.receive, 1, 0, 2, ...writes], [VERB.hostWait, 1]);
        const [, first, second] = stampsOf(77, 100, 3);
        const stamps = [0, first!, second!, 0];
        bench.expectStamps(FULL, 50, stamps);
        bench.expectStamps(FULL, 52, stampsOf(78, 0, 4));
        bench.submit([VERB.fill, 2, 0, 1, STATE, 15, 0, 1, 9, 79], [VERB.wait, 2]);
        bench.expectStamps(STATE, 15, stampsOf(79, 9, 1));
        const a = hashOfStamps(stamps)[0]! | 0;
        bench.submit([VERB.send, 3, 0, 1, 1, FULL, 50, a, 0b0110], [VERB.hostWait, 3]);
        bench.expectNoFault();
        bench.submit([VERB.send, 4, 0, 1, 1, FULL, 50, a ^ 1, 0b0110], [VERB.hostWait, 4]);
        const { count, faults } = bench.arena.faults(8);
        const [fault] = faults;
        if (count !== 1 || fault?.kind !== "send" || fault.page !== 50 || fault.handle !== 4)
          throw new BrokenPromise(`a send of other bytes reports ${JSON.stringify(faults)}`);
      }),
  },
];

function stampPage(
  bench: Bench,
  band: number,
  page: number,
  position: number,
  units: number,
): void {
  const stamps = stampsOf(1, position, units);
  bench.do(VERB.stamp, band, units, ...stamps.flatMap((stamp, unit) => [page, unit, stamp | 0]));
}
