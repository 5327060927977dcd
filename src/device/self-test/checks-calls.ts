// The contract's promises about calls: translation, refusals that change nothing, memory, the end of an arena; and scripts drawn at
// random, whose outcome the arena in plain JavaScript tells.
import { Prng } from "../../base/prng.js";
import { type ByteBackend, TABLE } from "../bytes.js";
import { VERB } from "../bytes-script.js";
import { simulatedBackend } from "../bytes-simulated.js";
import {
  Bench,
  BrokenPromise,
  type ContractCheck,
  equal,
  expectRefused,
  FULL,
  smallConfig,
  withBench,
} from "./check.js";
import { randomScript } from "./random-script.js";

const SEEDS = 20;
const SCRIPTS = 12;
/** More than any machine has. */
const TOO_MUCH = 2 ** 40;

/** @internal */
export const CALL_CHECKS: readonly ContractCheck[] = [
  {
    name: "token ids are translated, 32 and 64 bits, in tables with tails",
    run: (backend) =>
      withBench(backend, (bench) => {
        bench.do(VERB.bind, FULL, 1, 2, 5, 30, 63, 255);
        const tokens = [20, 21, 23, 0, -4, 4, 252, 255, 256, 1_000_000];
        const wanted = [120, 121, 123, 0, 0, 0, 1020, 1023, 0, 0];
        const padded = [...wanted.slice(0, 5), 0, 0, ...wanted.slice(5), 0, 0];
        const narrow = Int32Array.from(tokens);
        const wide = BigInt64Array.from(tokens, BigInt);
        for (const ids of [narrow, wide]) {
          const out = new Int32Array(14).fill(-1);
          bench.arena.translate(FULL, ids, 2, 5, out, 7);
          equal("a table of 2 x 7", [...out], padded);
          const wideOut = new BigInt64Array(10).fill(-1n);
          bench.arena.translate(FULL, ids, 1, 10, wideOut, 10);
          equal("64-bit ids", [...wideOut].map(Number), wanted);
        }
        expectRefused("a table narrower than its ids", "UT_INVALID", () => {
          bench.arena.translate(FULL, narrow, 2, 5, new Int32Array(8), 4);
        });
      }),
  },
  {
    name: "binds, rows and expectations are where they were put",
    run: (backend) =>
      withBench(backend, (bench) => {
        bench.submit(
          [VERB.bind, FULL, 1, 2, 3, 9, 4, 8],
          [VERB.bind, FULL, 0, 2, 4, 0, 1, 7],
          [VERB.row, 8, 3, 2, 4, 3],
          [VERB.row, 1, 0, 1, 2],
        );
        bench.expectPlaces(FULL, [0, 7, 0, 9, 0]);
        equal("row 8", [...bench.arena.readTable(TABLE.row, 8, 5)], [0, 0, 0, 4, 3]);
        equal("row 1", [...bench.arena.readTable(TABLE.row, 1, 2)], [2, 0]);
      }),
  },
  {
    name: "a wrong script is refused whole",
    run: (backend) =>
      withBench(backend, (bench) => {
        const before = [VERB.zero, FULL, 1, 30];
        const wrong: readonly (readonly [string, readonly number[]])[] = [
          ["page 0", [VERB.zero, FULL, 1, 0]],
          ["a page beyond the band", [VERB.zero, FULL, 1, 256]],
          ["a band that is not there", [VERB.zero, 3, 1, 1]],
          ["a count beyond the verb", [VERB.zero, FULL, 2, 4]],
          ["a page that is source and destination", [VERB.move, FULL, 0, 2, 4, 5, 5, 6]],
          ["id 0", [VERB.bind, FULL, 0, 1, 0, 5]],
          ["an id beyond the table", [VERB.bind, FULL, 0, 1, 64, 5]],
          ["an id bound twice", [VERB.bind, FULL, 0, 2, 5, 5, 5, 6]],
          ["row 0", [VERB.row, 0, 0, 1, 1]],
          ["a cell beyond the row", [VERB.row, 1, 15, 2, 1, 1]],
          ["units that end before they begin", [VERB.receive, 1, 0, 1, FULL, 5, 3, 2, 0, 1]],
          ["a unit beyond the page", [VERB.stamp, FULL, 1, 5, 4, 1]],
          ["a host page beyond the pool", [VERB.hostCopy, 1, 0, 0, 1, FULL, 5, 8]],
          ["a handle that is not there", [VERB.wait, 9]],
          ["a verb that is not there", [99]],
        ];
        for (const [what, verb] of wrong)
          expectRefused(what, "UT_INVALID", () => {
            bench.submit(before, verb);
          });
        if (bench.page(FULL, 30).some((word) => word === 0))
          throw new BrokenPromise("a refused script zeroed a page");
        bench.submit(before);
        bench.expectStamps(FULL, 30, [0, 0, 0, 0]);
      }),
  },
  {
    name: "an arena that does not fit is refused, and the open one stays",
    run: (backend) => {
      expectRefused("an arena larger than memory", "UT_NO_MEMORY", () => {
        backend.open(smallConfig(TOO_MUCH)).close();
      });
      withBench(backend, (bench) => {
        bench.do(VERB.zero, FULL, 1, 30);
        expectRefused("growth beyond memory", "UT_NO_MEMORY", () => {
          bench.arena.resize(smallConfig(TOO_MUCH));
        });
        bench.expectStamps(FULL, 30, [0, 0, 0, 0]);
        bench.do(VERB.bind, FULL, 1, 1, 5, 30);
        bench.arena.resize(smallConfig(2 << 20));
        bench.expectPlaces(FULL, [0, 0, 0, 0, 0, 0]);
        bench.do(VERB.zero, FULL, 1, 511); // a page that only the larger arena has
        bench.arena.resize(smallConfig());
        expectRefused("a page of the larger arena", "UT_INVALID", () => {
          bench.do(VERB.zero, FULL, 1, 511);
        });
      });
    },
  },
  {
    name: "a closed arena refuses every call, and is closed twice without harm",
    run(backend) {
      const bench = new Bench(backend);
      bench.submit(bench.forward(1, 20_000, [], [])); // work is under way
      bench.arena.close();
      bench.arena.close();
      expectRefused("a script", "UT_INVALID", () => {
        bench.do(VERB.synchronize);
      });
      expectRefused("a hash", "UT_INVALID", () => bench.hash(FULL, 1));
    },
  },
  {
    name: "scripts drawn at random do what they say",
    run(backend) {
      for (let seed = 0; seed < SEEDS; seed++) compareWithPlain(backend, seed);
    },
  },
];

/** The same scripts, complete with waits, on this backend and on the arena in plain JavaScript. */
function compareWithPlain(backend: ByteBackend, seed: number): void {
  const config = { ...smallConfig(1 << 18), poison: seed % 2 === 0 };
  withBench(
    backend,
    (bench) => {
      withBench(
        simulatedBackend,
        (plain) => {
          const prng = new Prng(seed, 7);
          for (let script = 0; script < SCRIPTS; script++) {
            const verbs = randomScript(prng, config);
            bench.submit(...verbs);
            plain.submit(...verbs);
          }
          compareArenas(bench, plain, seed);
        },
        config,
      );
    },
    config,
  );
}

function compareArenas(bench: Bench, plain: Bench, seed: number): void {
  const { arenaBytes, bands, rows } = bench.config;
  const [found, wanted] = [bench, plain].map(({ arena }) => arena.readBytes(0, arenaBytes));
  const at = found!.findIndex((byte, index) => byte !== wanted![index]); // two arenas
  if (at >= 0) throw new BrokenPromise(`seed ${seed}: byte ${at} of the arena differs`);
  for (const [band, { ids, name }] of bands.entries()) {
    const [own, theirs] = [bench, plain].map(({ arena }) => arena.readTable(TABLE.v2p, band, ids));
    equal(`seed ${seed}: v2p of ${name}`, [...own!], [...theirs!]);
  }
  const [own, theirs] = [bench, plain].map(({ arena }) =>
    arena.readTable(TABLE.forwards, 0, rows + 1),
  );
  equal(`seed ${seed}: counters of forwards`, [...own!], [...theirs!]);
  // How often one id that several rows hold is told is a backend's own choice.
  const hasFaults = [bench, plain].map(({ arena }) => Number(arena.faults(0).count > 0));
  equal(`seed ${seed}: whether there are faults`, [hasFaults[0]!], [hasFaults[1]!]);
}
