// The contract's promises about order: what waits for what, and what does not.
import { STREAM, VERB } from "../bytes-script.js";
import { TABLE } from "../bytes.js";
import {
  type Bench,
  BrokenPromise,
  type ContractCheck,
  equal,
  FULL,
  hashOfStamps,
  STATE,
  stampsOf,
  WINDOW,
  withBench,
} from "./check.js";

/** Long enough to be seen, short enough for a test. */
const LATE_US = 30_000;
const WRITER = 4711;

/** @internal */
export const STREAM_CHECKS: readonly ContractCheck[] = [
  {
    name: "a forward resolves rows and ids, writes its units, counts itself",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        const writes = [
          [FULL, 5, 1, 4, 0, WRITER],
          [FULL, 6, 0, 2, 4, WRITER],
          [WINDOW, 5, 0, 1, 0, WRITER],
          [STATE, 9, 0, 1, 6, WRITER],
        ];
        bench.submit(bench.forward(1, 0, [[2, 2]], writes, [[STATE, 9]]));
        bench.submit([VERB.hostWait, 1], [VERB.forget, 1]);
        const [, first, second, third] = stampsOf(WRITER, 0, 4);
        bench.expectStamps(FULL, 30, [0, first!, second!, third!]);
        bench.expectStamps(FULL, 40, [...stampsOf(WRITER, 4, 2), 0, 0]);
        bench.expectStamps(WINDOW, 77, [stampsOf(WRITER, 0, 1)[0]!, null]);
        bench.expectStamps(STATE, 20, stampsOf(WRITER, 6, 1));
        equal(
          "counters of forwards",
          [...bench.arena.readTable(TABLE.forwards, 0, 4)],
          [0, 0, 1, 0],
        );
        // A second forward reads what the first one wrote, and finds it.
        bench.submit(bench.forward(2, 0, [[2, 2]], [], [[STATE, 9]]), [VERB.hostWait, 2]);
        bench.expectNoFault();
        bench.do(VERB.reset, 1, 2);
        equal("after a reset", [...bench.arena.readTable(TABLE.forwards, 0, 4)], [0, 0, 0, 0]);
      }),
  },
  {
    name: "a forward that reads other bytes than were expected says so",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(bench.forward(1, 0, [[2, 2]], [[FULL, 5, 0, 4, 0, WRITER]]), [
          VERB.hostWait,
          1,
        ]);
        bench.do(VERB.stamp, FULL, 1, 30, 2, 12345);
        bench.submit(bench.forward(2, 0, [[2, 2]], []), [VERB.hostWait, 2]);
        const { count, faults } = bench.arena.faults(4);
        const wanted = { kind: "forward", handle: 2, band: FULL, id: 5, page: 30, unit: 2 };
        const [fault] = faults;
        const stamp = stampsOf(WRITER, 0, 3)[2]!;
        const isRight =
          count === 1 &&
          fault !== undefined &&
          Object.entries(wanted).every(
            ([key, value]) => fault[key as keyof typeof fault] === value,
          );
        if (!isRight || fault.expected !== stamp || fault.found !== 12345)
          throw new BrokenPromise(`the faults are ${JSON.stringify(faults)}`);
        bench.expectNoFault(); // they are told once
        // Where nothing is expected nothing is compared, and an unbound id is left out.
        bench.submit([VERB.bind, FULL, 1, 1, 5, 30], [VERB.bind, FULL, 0, 1, 6, 0]);
        bench.submit(bench.forward(3, 0, [[2, 2]], []), [VERB.hostWait, 3]);
        bench.expectNoFault();
        bench.submit(bench.forward(4, 0, [], [[FULL, 6, 0, 1, 0, WRITER]]), [VERB.hostWait, 4]);
        const unbound = bench.arena.faults(4);
        if (
          unbound.count !== 1 ||
          unbound.faults[0]?.kind !== "unbound" ||
          unbound.faults[0].id !== 6
        )
          throw new BrokenPromise(`a write without a page reports ${JSON.stringify(unbound)}`);
      }),
  },
  {
    name: "the schedule stream waits a recorded forward",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(
          lateForward(bench),
          [VERB.record, 1],
          [VERB.wait, 1],
          [VERB.move, FULL, 0, 1, 30, 60],
        );
        bench.expectStamps(FULL, 60, stampsOf(WRITER, 0, 4));
      }),
  },
  {
    name: "without a wait the schedule stream goes ahead of a late forward",
    needsConcurrency: true,
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(lateForward(bench), [VERB.record, 1], [VERB.move, FULL, 0, 1, 30, 60]);
        bench.expectStamps(FULL, 60, [0, 0, 0, 0]);
        bench.expectStamps(FULL, 30, stampsOf(WRITER, 0, 4));
      }),
  },
  {
    name: "a forward is behind the schedule stream",
    run: (backend) =>
      withBench(backend, (bench) => {
        bench.submit(
          [VERB.delay, STREAM.schedule, LATE_US],
          [VERB.zero, FULL, 2, 30, 40],
          [VERB.bind, FULL, 1, 1, 5, 30],
          bench.forward(1, 0, [], [[FULL, 5, 0, 4, 0, WRITER]]),
        );
        bench.expectStamps(FULL, 30, stampsOf(WRITER, 0, 4));
        bench.expectNoFault();
      }),
  },
  {
    name: "a barrier waits for a forward's metadata, and not for its payload",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(
          [VERB.delay, STREAM.forward, LATE_US],
          lateForward(bench),
          [VERB.barrier, 1],
          [VERB.bind, FULL, 1, 1, 5, 70], // the forward found the old place before
        );
        bench.submit([VERB.synchronize]);
        bench.expectStamps(FULL, 30, stampsOf(WRITER, 0, 4));
        bench.expectPlaces(FULL, [0, 0, 0, 0, 0, 70, 40]);
        bench.expectNoFault();
      }),
  },
  {
    name: "without a barrier a late forward finds what was bound meanwhile",
    needsConcurrency: true,
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.do(VERB.zero, FULL, 1, 70);
        bench.submit(
          [VERB.delay, STREAM.forward, LATE_US],
          bench.forward(1, 0, [[2, 2]], [[FULL, 5, 0, 4, 0, WRITER]]),
          [VERB.bind, FULL, 1, 1, 5, 70],
        );
        bench.submit([VERB.synchronize]);
        bench.expectStamps(FULL, 30, [0, 0, 0, 0]);
        bench.expectStamps(FULL, 70, stampsOf(WRITER, 0, 4));
      }),
  },
  {
    name: "host copies are behind the forward and the schedule stream",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(
          lateForward(bench),
          [VERB.hostCopy, 2, 0, 0, 1, FULL, 30, 0],
          [VERB.hostWait, 2],
          [VERB.hostCopy, 3, 1, LATE_US, 1, FULL, 80, 0],
          [VERB.wait, 3],
          [VERB.move, FULL, 0, 1, 80, 82],
        );
        bench.expectStamps(FULL, 82, stampsOf(WRITER, 0, 4));
      }),
  },
  {
    name: "without a wait the schedule stream goes ahead of a late host copy",
    needsConcurrency: true,
    run: (backend) =>
      withBench(backend, (bench) => {
        bench.do(VERB.zero, FULL, 2, 30, 80);
        const stamps = stampsOf(1, 0, 4).flatMap((stamp, unit) => [30, unit, stamp | 0]);
        bench.do(VERB.stamp, FULL, 4, ...stamps);
        bench.submit([VERB.hostCopy, 1, 0, 0, 1, FULL, 30, 0], [VERB.hostWait, 1]);
        bench.submit(
          [VERB.hostCopy, 2, 1, LATE_US, 1, FULL, 80, 0],
          [VERB.move, FULL, 0, 1, 80, 82],
        );
        bench.expectStamps(FULL, 82, [0, 0, 0, 0]);
        bench.expectStamps(FULL, 80, stampsOf(1, 0, 4));
      }),
  },
  {
    name: "a peer writes behind the schedule stream, and the host can wait for it",
    run: (backend) =>
      withBench(backend, (bench) => {
        bench.submit(
          [VERB.delay, STREAM.schedule, LATE_US],
          [VERB.zero, FULL, 1, 90],
          [VERB.receive, 1, 0, 1, FULL, 90, 0, 4, 0, WRITER],
          [VERB.hostWait, 1],
        );
        bench.expectStamps(FULL, 90, stampsOf(WRITER, 0, 4));
      }),
  },
  {
    name: "a send reads behind the schedule stream",
    run: (backend) =>
      withBench(backend, (bench) => {
        const stamps = stampsOf(WRITER, 0, 4);
        bench.submit(
          [VERB.delay, STREAM.schedule, LATE_US],
          [VERB.stamp, FULL, 4, ...stamps.flatMap((stamp, unit) => [90, unit, stamp | 0])],
          [VERB.send, 1, 0, 1, 1, FULL, 90, hashOfStamps(stamps)[0]! | 0, 0b1111],
          [VERB.hostWait, 1],
        );
        bench.expectNoFault();
      }),
  },
  {
    name: "a host wait and a host read return when the work is over",
    run: (backend) =>
      withBench(backend, (bench) => {
        openRow(bench);
        bench.submit(
          bench.forward(1, LATE_US, [[2, 2]], [[FULL, 5, 0, 1, 0, WRITER]]),
          [VERB.record, 1],
          [VERB.hostWait, 1],
        );
        if (!bench.arena.query(1)) throw new BrokenPromise("a forward that was waited is not over");
        bench.submit([VERB.delay, STREAM.schedule, LATE_US], [VERB.hostRead], [VERB.synchronize]);
      }),
  },
];

/** A late forward, handle 1, over row 2, that writes the page of id 5. */
function lateForward(bench: Bench): readonly number[] {
  return bench.forward(1, LATE_US, [[2, 2]], [[FULL, 5, 0, 4, 0, WRITER]]);
}

/** Row 2: ids 5 and 6, at pages 30 and 40 of the full band; window id 5 at 77; state slot 9 at 20. All zeros. */
function openRow(bench: Bench): void {
  bench.submit(
    [VERB.zero, FULL, 3, 30, 40, 60],
    [VERB.zero, WINDOW, 1, 77],
    [VERB.zero, STATE, 1, 20],
    [VERB.bind, FULL, 1, 2, 5, 30, 6, 40],
    [VERB.bind, WINDOW, 1, 1, 5, 77],
    [VERB.bind, STATE, 1, 1, 9, 20],
    [VERB.row, 2, 0, 2, 5, 6],
  );
}
