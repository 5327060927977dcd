// The serving side of the protocol: every message in every phase, bad lines, a reader that goes away.
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Adapter, AdapterInfo, ApplyResult } from "../../src/adapter/adapter.js";
import { serveProtocol } from "../../src/adapter/serve.js";
import type { ServeResult } from "../../src/adapter/serve-session.js";
import { CandidateError, InternalError } from "../../src/base/errors.js";
import type { Answer, Operation } from "../../src/base/operations.js";
import { OPENING } from "./operations.js";

const INFO: AdapterInfo = {
  name: "stub",
  version: "1",
  revision: null,
  dirty: false,
  domains: ["kv"],
  ops: ["boot", "ask.fits", "row.free"],
  digest: "layout",
  fx: true,
  fromState: false,
};

/** Counts operations and batches; `row.free` of a request named after a fault does what the name says. */
class Stub implements Adapter {
  readonly info: AdapterInfo = INFO;
  readonly windowSize = 256;
  readonly batches: number[] = [];
  isDisposed = false;
  async open({ run }: { run: string }): Promise<void> {
    if (run === "refused") throw new CandidateError("candidate_handshake", "a band too many");
  }
  async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    this.batches.push(operations.length);
    const answers: Answer[] = [];
    for (const { op, args } of operations) {
      const fault = op === "row.free" ? args.req : "";
      if (fault === "rfail")
        return { answers, failure: { kind: "invariant", message: "lost_write: page 7" } };
      if (fault === "rcandidate") throw new CandidateError("candidate_handshake", "no floats here");
      if (fault === "rbug") throw new InternalError("broken invariant: sorted");
      answers.push(op === "ask.fits" ? { ok: { fits: true } } : { ok: {} });
    }
    return { answers, failure: null };
  }
  async state(): Promise<null> {
    return null;
  }
  async close(): Promise<{ digest: string; failure: null }> {
    return { digest: "00ff00ff00ff00ff", failure: null };
  }
  async dispose(): Promise<void> {
    this.isDisposed = true;
  }
}

interface Served extends ServeResult {
  readonly lines: string[];
  readonly writes: number;
  readonly stub: Stub;
}

async function serve(chunks: readonly string[]): Promise<Served> {
  const stub = new Stub();
  const texts: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done): void {
      texts.push(chunk.toString("utf8"));
      done();
    },
  });
  const input = new PassThrough();
  const result = serveProtocol({ input, output, makeImplementation: () => stub });
  for (const chunk of chunks) {
    input.write(chunk);
    await new Promise((resolve) => setImmediate(resolve)); // so that each chunk is one read
  }
  input.end();
  const ended = await result;
  return { ...ended, lines: texts.join("").split("\n").slice(0, -1), writes: texts.length, stub };
}

const HELLO = `{"hello":{"protocol":1,"tool":"unified-trace","version":"0"}}\n`;
const OPEN = `{"open":{"run":"a","config":${JSON.stringify(OPENING.config)},"digest_depth":"layout"}}\n`;
const BOOT = `{"n":0,"op":"boot","args":{}}\n`;
const fits = (n: number): string => `{"n":${n},"op":"ask.fits","args":{"demand":{"full":${n}}}}\n`;
const fault = (n: number, name: string): string =>
  `{"n":${n},"op":"row.free","args":{"req":"${name}"}}\n`;

describe("serving", () => {
  test("a whole conversation, two runs", async () => {
    const chunks = [
      HELLO,
      OPEN,
      BOOT + fits(1),
      `{"state":{"n":1}}\n`,
      `{"close":{"run":"a"}}\n`,
      OPEN + BOOT,
    ];
    const { lines, exitCode, message, stub } = await serve(chunks);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        hello: {
          protocol: 1,
          name: "stub",
          version: "1",
          revision: null,
          dirty: false,
          domains: ["kv"],
          ops: ["boot", "ask.fits", "row.free"],
          digest: "layout",
          fx: true,
          from_state: false,
        },
      },
      { opened: { run: "a" } },
      { n: 0, ok: {} },
      { n: 1, ok: { fits: true } },
      { state: null },
      { closed: { run: "a", digest: "00ff00ff00ff00ff" } },
      { opened: { run: "a" } },
      { n: 0, ok: {} },
    ]);
    expect({ exitCode, message }).toEqual({ exitCode: 0, message: null });
    expect(stub.isDisposed).toBe(true);
  });

  test("all operations of one read are one batch and one write", async () => {
    const many = Array.from({ length: 200 }, (_, n) => fits(n + 1)).join("");
    const { lines, writes, stub } = await serve([HELLO + OPEN, BOOT + many]);
    expect(stub.batches).toEqual([201]);
    expect(writes).toBe(2);
    expect(lines.length).toBe(203);
  });

  test("law: how the lines are cut into reads does not matter", async () => {
    const text = HELLO + OPEN + BOOT + Array.from({ length: 30 }, (_, n) => fits(n + 1)).join("");
    const whole = await serve([text]);
    for (const size of [1, 7, 64, 500]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => {
        return text.slice(i * size, (i + 1) * size);
      });
      expect((await serve(chunks)).lines, `chunks of ${size}`).toEqual(whole.lines);
    }
  });

  test("a refused run is an error line; another may be opened", async () => {
    const { lines, exitCode } = await serve([HELLO, OPEN.replace(`"a"`, `"refused"`), OPEN, BOOT]);
    expect(lines.slice(1)).toEqual([
      `{"error":{"code":"candidate_handshake","message":"a band too many"}}`,
      `{"opened":{"run":"a"}}`,
      `{"n":0,"ok":{}}`,
    ]);
    expect(exitCode).toBe(0);
  });

  test("a wrong configuration is an error line with its place", async () => {
    const { lines, exitCode } = await serve([HELLO, OPEN.replace(`"rows":8`, `"rows":"8"`), OPEN]);
    expect(lines[1]).toMatch(/^\{"error":\{"code":"config","message":"\/config\/rows: /);
    expect(lines[2]).toBe(`{"opened":{"run":"a"}}`);
    expect(exitCode).toBe(0);
  });

  test.each([
    ["rfail", 1, `{"n":2,"fail":{"kind":"invariant","message":"lost_write: page 7"}}`],
    ["rcandidate", 5, `{"error":{"code":"candidate_handshake","message":"no floats here"}}`],
    ["rbug", 70, `{"error":{"code":"internal","message":"broken invariant: sorted"}}`],
  ])("what the implementation does wrong (%s) ends with %i", async (name, code, last) => {
    const { lines, exitCode, stub } = await serve([
      HELLO + OPEN,
      BOOT + fits(1) + fault(2, name) + fits(3),
      fits(4),
    ]);
    expect(lines.at(-1)).toBe(last);
    expect(exitCode).toBe(code);
    expect(stub.isDisposed).toBe(true);
  });

  test.each([
    ["rubbish", HELLO + "rubbish\n", /not JSON: \\"rubbish\\"/],
    ["an empty line", HELLO + "\n", /an empty line/],
    ["a list", "[1]\n", /not an object/],
    [
      "another protocol",
      HELLO.replace("1,", "2,"),
      /protocol 2 is asked for; this side speaks protocol 1/,
    ],
    ["no hello", OPEN, /\\"open\\" before the hello/],
    ["two hellos", HELLO + HELLO, /a second hello/],
    ["an unknown message", HELLO + `{"opne":{"run":"a"}}\n`, /did you mean \\"open\\"\?/],
    ["no run", HELLO + BOOT, /\\"operation\\" where no run is open/],
    ["two runs at once", HELLO + OPEN + OPEN, /\\"open\\" before run \\"a\\" was closed/],
    [
      "another run closed",
      HELLO + OPEN + `{"close":{"run":"b"}}\n`,
      /\\"close\\" of run \\"b\\" where \\"a\\" is open/,
    ],
    ["a gap", HELLO + OPEN + BOOT + fits(2), /operation 2 where operation 1 is next/],
    ["a repeat", HELLO + OPEN + BOOT + BOOT, /operation 0 where operation 1 is next/],
    [
      "a number that is none",
      HELLO + OPEN + `{"n":-1,"op":"boot","args":{}}\n`,
      /\\"n\\" is not a number/,
    ],
    ["no arguments", HELLO + OPEN + `{"n":0,"op":"boot"}\n`, /has no \\"args\\"/],
    [
      "a stray key",
      HELLO + OPEN + `{"n":0,"op":"boot","args":{},"arg":{}}\n`,
      /unknown key \\"arg\\" in operation 0/,
    ],
    [
      "an unknown operation",
      HELLO + OPEN + `{"n":0,"op":"ask.fit","args":{}}\n`,
      /did you mean \\"ask.fits\\"\?/,
    ],
    [
      "wrong arguments",
      HELLO + OPEN + BOOT + fits(1).replace(":1}}", `:"1"}}`),
      /operation 1 \(ask\.fits\): \/args\/demand\/full/,
    ],
    [
      "an unknown band",
      HELLO + OPEN + BOOT + fits(1).replace("full", "fulll"),
      /did you mean \\"full\\"\?/,
    ],
    ["half a line", HELLO + `{"open":{"run"`, /ends in the middle of a line/],
  ])("%s is a bad line: exit code 3", async (_, text, message) => {
    const { lines, exitCode, message: said, stub } = await serve([text]);
    expect(exitCode).toBe(3);
    expect(lines.at(-1)).toMatch(message);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ error: { message: said } });
    expect(stub.isDisposed).toBe(text.includes(HELLO));
  });

  test("what came before a bad line is answered", async () => {
    const { lines } = await serve([HELLO + OPEN + BOOT + fits(1) + "rubbish\n" + fits(2)]);
    expect(lines.slice(2, 4)).toEqual([`{"n":0,"ok":{}}`, `{"n":1,"ok":{"fits":true}}`]);
    expect(lines.length).toBe(5);
  });

  test("a reader that went away ends it quietly", async () => {
    const stub = new Stub();
    const input = new PassThrough();
    let written = 0;
    const output = new Writable({
      write(_chunk, _encoding, done): void {
        written += 1;
        const gone: NodeJS.ErrnoException = Object.assign(new Error("write EPIPE"), {
          code: "EPIPE",
        });
        done(written > 1 ? gone : null);
      },
    });
    const result = serveProtocol({ input, output, makeImplementation: () => stub });
    input.write(HELLO);
    await new Promise((resolve) => setImmediate(resolve));
    input.write(OPEN); // its answer meets the closed pipe; nothing more is awaited
    expect(await result).toEqual({ exitCode: 0, message: null });
    expect(stub.isDisposed).toBe(true);
  });
});
