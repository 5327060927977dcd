// Which names may be used and opened when.
import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/base/operations.js";
import { OpenNames, namesOf } from "../../src/trace/open-names.js";

const alloc = (...reqs: string[]): Operation => ({ op: "row.alloc", args: { reqs } });
const free = (req: string): Operation => ({ op: "row.free", args: { req } });
const launch = (step: string, ...reqs: string[]): Operation => ({
  op: "forward.launch",
  args: { step, batch: reqs.map((req) => ({ req, from: 0, to: 1 })), mode: "extend" },
});
const process_ = (step: string): Operation => ({ op: "forward.process", args: { step } });

/** Applies operations; `!` in front of the name of a problem: "dangling f1", or null. */
function follow(names: OpenNames, ...steps: (readonly [Operation, boolean])[]): (string | null)[] {
  return steps.map(([operation, isGranted]) => {
    const problem = names.check(operation);
    names.note(operation, isGranted);
    return problem === null ? null : `${problem.kind} ${problem.what} ${problem.name}`;
  });
}

describe("names of a run", () => {
  test("are used after they are opened", () => {
    expect(
      follow(
        new OpenNames(),
        [free("r1"), true],
        [alloc("r1", "r2"), true],
        [launch("f1", "r1", "r3"), true],
        [free("r2"), true],
      ),
    ).toEqual(["dangling request r1", null, "dangling request r3", null]);
  });

  test("are opened once; a request's again once it is closed", () => {
    expect(
      follow(
        new OpenNames(),
        [alloc("r1"), true],
        [alloc("r1"), false],
        [free("r1"), true],
        [alloc("r1"), true],
        [launch("f1", "r1"), true],
        [process_("f1"), true],
        [launch("f1", "r1"), false],
        [alloc("r2", "r2"), false],
      ),
    ).toEqual([
      null,
      "reused request r1",
      null,
      null,
      null,
      null,
      "reused forward f1",
      "reused request r2",
    ]);
  });

  test("stay known when closed, and when their opening was refused, which opens nothing", () => {
    const names = new OpenNames();
    expect(
      follow(
        names,
        [alloc("r1"), false],
        [free("r1"), false],
        [alloc("r1"), true],
        [free("r1"), true],
        [free("r1"), false],
      ),
    ).toEqual([null, null, null, null, null]);
    expect(names.isOpen("r1")).toBe(false);
    expect(
      follow(names, [launch("f1"), false], [launch("f1"), true], [launch("f1"), true]),
    ).toEqual([null, null, "reused forward f1"]);
  });

  test("a refused close leaves a name open", () => {
    const names = new OpenNames();
    follow(names, [alloc("r1"), true], [free("r1"), false]);
    expect(names.isOpen("r1")).toBe(true);
  });

  test("65,536 closed ones are remembered, older ones forgotten", () => {
    const names = new OpenNames();
    for (let i = 0; i <= 65_536; i++) {
      names.note(launch(`f${i}`), true);
      names.note(process_(`f${i}`), true);
    }
    expect(names.check(process_("f0"))?.kind).toBe("dangling");
    expect(names.check(process_("f1"))).toBeNull();
    expect(names.check(launch("f65536"))?.kind).toBe("reused");
  });

  test("are found in every place of the arguments", () => {
    const restore: Operation = { op: "request.restore", args: { req: "r1", copy: "c1" } };
    expect(namesOf(restore)).toEqual([
      { kind: "request", role: "opens", name: "r1" },
      { kind: "copy", role: "uses", name: "c1" },
    ]);
    const copy: Operation = {
      op: "state.copy",
      args: { from: { req: "r1", purpose: "main" }, to: { req: "r2", purpose: "cow" } },
    };
    expect(namesOf(copy).map(({ name }) => name)).toEqual(["r1", "r2"]);
    const fromTree: Operation = {
      op: "state.copy",
      args: { from: { key: [[1, 4]], len: 4 }, to: { req: "r2", purpose: "cow" } },
    };
    expect(namesOf(fromTree).map(({ name }) => name)).toEqual(["r2"]);
    const kinds = ["f1", "c1", "t1"].map(
      (event) => namesOf({ op: "event.fire", args: { event, rank: 0 } })[0]?.kind,
    );
    expect(kinds).toEqual(["forward", "copy", "transfer"]);
    const send: Operation = {
      op: "net.send",
      args: { transfer: "t1", req: "r1", from: 0, to: 4, writers: ["w1", "w2"] },
    };
    expect(namesOf(send).map(({ role, name }) => `${role} ${name}`)).toEqual([
      "opens t1",
      "uses r1",
      "opens w1",
      "opens w2",
    ]);
    expect(
      namesOf({ op: "heap.copy", args: { from: "a", to: "b", bytes: 1 } }).map(({ name }) => name),
    ).toEqual(["a", "b"]);
  });
});
