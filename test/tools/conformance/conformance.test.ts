// Each fault of an implementation is named rightly, at its check, with what was sent and what came.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { transportTo } from "../../../src/adapter/open-transport.js";
import { conformanceJson, conformanceText } from "../../../src/report/conformance-text.js";
import { PLAIN } from "../../../src/report/palette.js";
import { testConformance } from "../../../src/tools/conformance/conformance.js";
import type { CheckResult, ConformanceResult } from "../../../src/tools/conformance/conformance.js";
import { granted } from "../../../examples/kits/typescript/unified-trace-kit.mjs";
import type {
  Answer,
  Fields,
  Implementation,
} from "../../../examples/kits/typescript/unified-trace-kit.mjs";
import { type Bend, BentTransport, Bump, Rows, type Sent, withMembers } from "./bent.js";

const HEAP = Bump as unknown as Implementation; // its handlers take what the trace format gives them
const KV = Rows as unknown as Implementation;
const straight: Bend = (reply) => [reply];

function tested(
  kinds: readonly Implementation[],
  bend: Bend = straight,
  operations = 0,
): Promise<ConformanceResult> {
  return testConformance({
    make: () => new BentTransport(kinds, bend),
    waits: { answerMs: 150, startMs: 150 },
    toolVersion: "1",
    operations,
  });
}

/** The one check that failed. */
function failedOf({ checks }: ConformanceResult): CheckResult {
  const failed = checks.filter(({ verdict }) => verdict === "failed");
  expect(failed.map(({ name, message }) => [name, message])).toHaveLength(1);
  return failed[0]!;
}

/** Bends the reply to one operation. */
function at(n: number, bend: Bend): Bend {
  return (reply, message) => (message.n === n ? bend(reply, message) : [reply]);
}

/** From operation `n` on nothing is answered, whatever is asked. */
function hanging(n: number): Bend {
  let isHung = false;
  return (reply, message) => {
    if ("hello" in message) isHung = false; // it was started anew
    isHung ||= (message.n ?? 0) >= n;
    return isHung ? null : [reply];
  };
}

describe("an implementation that is right", () => {
  test("passes every check that concerns it", async () => {
    const result = await tested([HEAP, KV], straight, 5000);
    expect(result.checks.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(result.verdict).toBe("passed");
    expect(result.operations).toBeGreaterThan(20_000);
    const skipped = result.checks.filter(({ verdict }) => verdict === "skipped");
    expect(skipped.map(({ domain, message }) => `${domain ?? ""}: ${message ?? ""}`)).toEqual([
      'heap: it takes even {"arena_bytes":-1}',
      "heap: domain heap has no questions",
      "heap: its hello does not say from_state",
      "heap: it gives none in domain heap",
      "kv: it tells no state",
      "kv: its hello does not say from_state",
    ]);
  });

  test.each(["self", "reference"])("%s", async (spec) => {
    const make = await transportTo(spec, {});
    const waits = { answerMs: 60_000, startMs: 60_000 };
    const result = await testConformance({ make, waits, toolVersion: "1" });
    expect(result.checks.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(result.operations).toBeGreaterThan(2000);
  });
});

describe("a fault of the conversation", () => {
  const held: string[] = [];
  const swapped: Bend = (reply, { n }) => {
    if (n === 4) held.push(reply);
    if (n === 4) return null;
    return n === 5 && held.length > 0 ? [reply, held.pop() ?? ""] : [reply];
  };
  const inWindows = (bend: Bend): Bend => {
    // one at a time all goes well: so are the first 402 operations asked
    let asked = 0;
    return (reply, message) => {
      if (message.n !== undefined) asked += 1;
      return asked > 402 ? bend(reply, message) : [reply];
    };
  };
  const TURN = "answers one operation at a time, with its n";
  const WINDOW = "answers 256 in flight, in order";
  const cases: readonly [string, Bend, string, RegExp][] = [
    ["skips", at(5, () => null), TURN, /^skips the answer to operation 5 \(heap\./],
    [
      "skips in a window",
      inWindows(at(5, () => null)),
      WINDOW,
      /^skips the answer to operation 5$/,
    ],
    ["twice", at(5, (reply) => [reply, reply]), TURN, /^answers operation 5 twice$/],
    ["twice in a window", inWindows(at(5, (r) => [r, r])), WINDOW, /^answers operation 5 twice$/],
    ["twice at the end", at(399, (r) => [r, r]), TURN, /^answers operation 399 twice$/],
    [
      "wrong n",
      at(5, (r) => [withMembers(r, { n: 6 })]),
      TURN,
      /^gives the answer to operation 5 the wrong n 6$/,
    ],
    [
      "low n",
      at(5, (r) => [withMembers(r, { n: 4 })]),
      TURN,
      /^gives the answer to operation 5 the wrong n 4$/,
    ],
    [
      "wrong n in a window",
      inWindows(at(5, (r) => [withMembers(r, { n: 6 })])),
      WINDOW,
      /^gives the answer to operation 5 the wrong n 6$/,
    ],
    [
      "out of order",
      inWindows(swapped),
      WINDOW,
      /^answers out of order: operation 5 before operation 4$/,
    ],
    [
      "garbage",
      at(5, () => ["Segmentation fault"]),
      TURN,
      /^writes garbage where the answer to operation 5 is due: not JSON: "Segmentation fault"$/,
    ],
    [
      "neither",
      at(5, () => ['{"n":5}']),
      TURN,
      /^gives a malformed answer to operation 5: neither "ok" nor "err"/,
    ],
    [
      "dies",
      at(5, () => "was killed by SIGSEGV"),
      TURN,
      /^dies at operation 5: was killed by SIGSEGV$/,
    ],
    ["hangs", hanging(5), TURN, /^hangs: no answer to operation 5 \(heap\.\w+\) for 0\.15 s$/],
    [
      "says it is broken",
      at(5, () => ['{"n":5,"fail":{"kind":"invariant","message":"page 3 lost"}}']),
      TURN,
      /^says at operation 5 that it is broken \(invariant\): page 3 lost$/,
    ],
    [
      "never closes",
      (r, m) => ("close" in m ? null : [r]),
      "a run opens and closes, and another after it",
      /^hangs: no answer to "close"$/,
    ],
    [
      "closes another run",
      (r, m) => ("close" in m ? ['{"closed":{"run":"x"}}'] : [r]),
      "a run opens and closes, and another after it",
      /^closed run "x" where "first" was open$/,
    ],
    [
      "opens another run",
      (r, m) =>
        (m["open"] as Sent | undefined)?.["run"] === "second" ? ['{"opened":{"run":"x"}}'] : [r],
      "a run opens and closes, and another after it",
      /^opened run "x" where "second"/,
    ],
  ];
  test("skips, where every operation is a list of its own", async () => {
    const failed = failedOf(
      await tested(
        [KV],
        at(2, () => null),
      ),
    );
    expect(failed.message).toMatch(/^skips the answer to operation 2 \(\w+\.\w+\)$/);
    expect(failed.name).toBe(TURN);
  });

  const manySkipped: [string, Bend][] = [
    ["refusal", (reply) => (reply.includes('"err"') ? null : [reply])],
    ["question", (reply, { op }) => (op?.startsWith("ask.") === true ? null : [reply])],
  ];
  test.each(manySkipped)("skips the answer to every %s", async (_what, bend) => {
    const failed = failedOf(await tested([KV], bend));
    expect(failed.message).toMatch(/^skips the answer to operation \d+ \(\w+\.\w+\)$/);
  });

  test.each(cases)("%s", async (_name, bend, check, problem) => {
    const result = await tested([HEAP], bend);
    const failed = failedOf(result);
    expect(failed.message).toMatch(problem);
    expect(failed.name).toBe(check);
    expect(failed.sent.length).toBeGreaterThan(0);
    // what stands on it is not tested, and says why
    const after = result.checks.filter(
      ({ number, domain }) => number > failed.number && domain === "heap",
    );
    for (const { verdict, message } of after)
      expect([verdict, message]).toEqual(["skipped", `check ${failed.number} failed`]);
    expect(conformanceText(result, "bent", PLAIN)).toContain(`\n              sent  `);
  });
});

describe("a hello that is wrong ends the test with it", () => {
  const hello =
    (members: Fields): Bend =>
    (reply, message) =>
      "hello" in message
        ? [
            JSON.stringify({
              hello: { ...(JSON.parse(reply) as { hello: Fields }).hello, ...members },
            }),
          ]
        : [reply];
  const cases: readonly [string, Bend, RegExp][] = [
    ["protocol", hello({ protocol: 2 }), /^speaks protocol 2; this tool speaks 1$/],
    ["no domains", hello({ domains: undefined }), /"hello" without the lists "domains" and "ops"/],
    ["empty domains", hello({ domains: [] }), /"domains" is empty/],
    ["other domain", hello({ domains: ["gpu"] }), /"domains" names "gpu", expected kv or heap/],
    ["no operations", hello({ ops: [] }), /"ops" is empty/],
    ["one twice", hello({ ops: ["heap.alloc", "heap.alloc"] }), /"ops" names "heap.alloc" twice/],
    ["kv without boot", hello({ domains: ["kv"] }), /"ops" lacks boot/],
    [
      "digest",
      hello({ digest: "shallow" }),
      /"digest" of "hello" is not light, layout, deep or null/,
    ],
    ["silence", (r, m) => ("hello" in m ? null : [r]), /^hangs: no answer to its hello$/],
    [
      "garbage",
      (r, m) => ("hello" in m ? ["Hi!"] : [r]),
      /^writes garbage where .*its hello.* not JSON: "Hi!"$/,
    ],
  ];
  test.each(cases)("%s", async (_name, bend, problem) => {
    const result = await tested([HEAP], bend);
    expect(failedOf(result).message).toMatch(problem);
    expect(result.checks).toHaveLength(1);
    expect([result.verdict, result.hasHello]).toEqual(["failed", false]);
  });

  test("a word that no version knows is only remarked", async () => {
    const bend = hello({ ops: ["heap.alloc", "heap.free", "heap.aloc"] });
    const [first] = (await tested([HEAP], bend)).checks;
    expect([first?.verdict, first?.message]).toEqual([
      "passed",
      expect.stringContaining("heap.aloc"),
    ]);
  });
});

describe("a fault of what it claims", () => {
  class Grants extends Bump {
    "no.such_operation"(): Answer {
      return granted();
    }
  }
  class Leaky extends Bump {
    override "heap.alloc"(args: { id: string; size_bytes: number }): Answer {
      const answer = super["heap.alloc"](args);
      if (answer.err !== undefined) this.top += 16;
      return answer;
    }
    override state(): null {
      return null;
    }
  }
  class Restless extends Bump {
    refusals = 0;
    override "heap.free"(args: { id: string }): Answer {
      const answer = super["heap.free"](args);
      if (answer.err !== undefined) this.refusals += 1;
      return answer;
    }
    override state(): Fields {
      return { ...super.state(), refusals: this.refusals };
    }
  }
  class Frozen extends Bump {
    override state(): Fields {
      return { top: 0 };
    }
  }
  class Misspelt extends Bump {
    override "heap.alloc"(args: { id: string; size_bytes: number }): Answer {
      const { ok, err } = super["heap.alloc"](args);
      return err === undefined ? granted({ address_ofset: ok?.["address_offset"] }) : { err };
    }
  }
  let starts = 0;
  class Moody extends Bump {
    override top = (starts += 16);
  }
  class Curious extends Rows {
    override "ask.fits"(): Answer {
      this.free.reverse();
      return super["ask.fits"]();
    }
  }
  const cases: readonly [string, typeof Bump | typeof Rows, string, RegExp][] = [
    [
      "unknown operations",
      Grants,
      "an operation that it does not know is named as such",
      /^grants an operation that it does not know/,
    ],
    [
      "a leak",
      Leaky,
      "a refused operation changes nothing",
      /^a refused operation changed something: operation \d+ is answered otherwise/,
    ],
    [
      "a state at refusals",
      Restless,
      "a refused operation changes nothing",
      /^a refused heap\.free changed the state$/,
    ],
    [
      "a frozen state",
      Frozen,
      "its states are honest",
      /^its state did not change at operation \d+ \(heap\.\w+\), which was granted$/,
    ],
    [
      "a word",
      Misspelt,
      "answers hold what the trace format knows",
      /operation 0 \(heap\.alloc\).*unknown key "address_ofset"; did you mean "address_offset"/,
    ],
    [
      "itself",
      Moody,
      "answers 256 in flight, in order",
      /^answers operation 0 otherwise when 256 are in flight$/,
    ],
    [
      "questions",
      Curious,
      "a question changes nothing",
      /^a question changed something: operation \d+ is answered otherwise/,
    ],
  ];
  test.each(cases)("%s", async (_name, kind, check, problem) => {
    const failed = failedOf(await tested([kind]));
    expect(failed.message).toMatch(problem);
    expect(failed.name).toBe(check);
    expect(failed.came.length).toBeGreaterThan(0);
  });

  test("a refused opening that ends it, or lets it answer otherwise", async () => {
    const dies: Bend = (reply) => (reply.includes('"error"') ? [reply, "what?"] : [reply]);
    const failed = failedOf(await tested([KV], dies));
    expect(failed.name).toBe("a refused opening leaves it usable");
    expect(failed.message).toMatch(/^writes garbage/);
    const bend: Bend = (reply, message) => {
      const open = message["open"] as Sent | undefined;
      return open?.["domain"] === "kv"
        ? [`{"opened":{"run":${JSON.stringify(open["run"])}}}`]
        : [reply];
    };
    const opens = failedOf(
      await tested([HEAP], (r, m) =>
        (m["open"] as Sent | undefined)?.["run"] === "other"
          ? ['{"opened":{"run":"other"}}']
          : bend(r, m),
      ),
    );
    expect(opens.message).toBe("opens a run of domain kv, which its hello does not list");
  });

  test("bad lines that are swallowed", async () => {
    const failed = failedOf(
      await tested([HEAP], (reply) => (reply.includes("not JSON") ? null : [reply])),
    );
    expect(failed.message).toMatch(/^says nothing to a line that is no message/);
    expect(failed.name).toBe("a line that is no message is refused");
  });
});

describe("digests that lie", () => {
  class Constant extends Rows {
    override value(): string {
      return "1".repeat(16);
    }
  }
  let salt = 0;
  class Salted extends Rows {
    readonly salt = (salt += 1);
    override value(component: string): string {
      const value = super.value(component);
      return component === "rows" ? value.slice(0, -4) + String(1000 + this.salt) : value;
    }
  }
  class AtQuestions extends Rows {
    asked = 0;
    override value(component: string): string {
      const value = super.value(component);
      return component === "net" ? String(this.asked).padStart(16, "0") : value;
    }
    override question(answer: Answer): Answer {
      this.asked += 1;
      return this.tell(answer);
    }
  }
  class AtRefusals extends Rows {
    refusals = 0;
    override value(component: string): string {
      const value = super.value(component);
      return component === "net" ? String(this.refusals).padStart(16, "0") : value;
    }
    // the workload of the check refuses nothing, so that a row too many is asked for
    override "row.alloc"(args: { reqs: readonly string[] }): Answer {
      return this.rows.size >= 2
        ? this.refuse({ err: { code: "refused_rows", need: 1, free: 0 } })
        : super["row.alloc"](args);
    }
    override refuse(answer: Answer): Answer {
      this.refusals += 1;
      return this.tell(answer);
    }
  }
  class WrongFold extends Rows {
    override close(): string | null {
      return this.hasDigests ? "f".repeat(16) : null;
    }
  }
  class None extends Rows {
    override tell(answer: Answer): Answer {
      return answer;
    }
  }
  class Some extends Rows {
    override changed(): Record<string, string> {
      const { net: _net, ...rest } = super.changed();
      return rest;
    }
  }
  class Unasked extends Rows {
    override tell(answer: Answer): Answer {
      return { ...answer, digest: this.changed() };
    }
  }
  const LIES = "lies about its digests: ";
  const cases: readonly [string, typeof Rows, RegExp][] = [
    [
      "constant",
      Constant,
      new RegExp(`^${LIES}none changes at operation \\d+ \\(row\\.\\w+\\), which must`),
    ],
    [
      "salted",
      Salted,
      new RegExp(`^${LIES}that of rows differs between two identical runs at operation 0$`),
    ],
    ["questions", AtQuestions, new RegExp(`^${LIES}that of net changes at a question`)],
    ["refusals", AtRefusals, new RegExp(`^${LIES}that of net changes at a refusal`)],
    ["fold", WrongFold, new RegExp(`^${LIES}that of "closed" is not the fold`)],
    ["none", None, /^promises digests of depth light and gives none$/],
    ["some", Some, /^operation 0 lists no digest of net$/],
    ["unasked", Unasked, /^gives digests in a run that was opened without them$/],
  ];
  test.each(cases)("%s", async (_name, kind, problem) => {
    const failed = failedOf(await tested([kind]));
    expect(failed.message).toMatch(problem);
    expect(failed.name).toBe("its digests are honest");
  });
});

describe("a program", () => {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-conformance-"));
  const kits = new URL("../../../examples/kits/typescript/", import.meta.url).href;
  const program = async (name: string, more: string): Promise<ConformanceResult> => {
    const path = join(folder, `${name}.mjs`);
    const imports = `import { Heap } from "${kits}heap.mjs"; import { serve } from "${kits}unified-trace-kit.mjs";`;
    const about = `{ name: "${name}", version: "1" }`;
    writeFileSync(path, `${imports}\n${more}\nawait serve([Mine], ${about});\n`);
    const make = await transportTo(`cmd:"${process.execPath}" "${path}"`);
    return testConformance({
      make,
      waits: { answerMs: 60_000, startMs: 60_000 },
      toolVersion: "1",
    });
  };

  test("that dies is quoted with its log", async () => {
    const result = await program(
      "dies",
      `class Mine extends Heap {
         "heap.free"() { console.error("Error: page 7 is gone"); process.exit(7); }
       }`,
    );
    expect(failedOf(result).message).toMatch(
      /^dies at operation \d+: exited with code 7; its log says: Error: page 7 is gone$/,
    );
  });

  test("that outlives its input is named", async () => {
    const result = await program(
      "stays",
      `class Mine extends Heap {}
       setInterval(() => undefined, 1000);`,
    );
    const failed = failedOf(result);
    expect(failed.message).toBe("goes on for half a second after its input ended");
    expect(failed.came[0]).toMatch(/was killed by SIGTERM/);
  });
});

test("the document keeps to the published schema, passed or failed", async () => {
  const path = fileURLToPath(
    new URL("../../../schemas/conformance-report.schema.json", import.meta.url),
  );
  const validate = new Ajv2020({ strict: false }).compile(
    JSON.parse(readFileSync(path, "utf8")) as object,
  );
  const hello: Bend = (reply, message) => ("hello" in message ? ["Hi!"] : [reply]);
  const results = [
    await tested([HEAP, KV]),
    await tested(
      [HEAP],
      at(5, () => null),
    ),
  ];
  results.push(await tested([HEAP], hello));
  results.push({ ...results[0]!, rates: { heap: { window1: 10, window256: 100 } } });
  for (const result of results) {
    const document: unknown = JSON.parse(JSON.stringify(conformanceJson(result, "bent")));
    expect([validate(document), validate.errors ?? []]).toEqual([true, []]);
  }
  expect(conformanceText(results[0]!, "bent", PLAIN)).toMatch(
    /\npassed: \d+ of \d+ checks passed, 0 failed, \d+ skipped, [\d,]+ runs and [\d,]+ operations asked$/,
  );
});
