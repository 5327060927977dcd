// Names of implementations, and checkouts.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openAdapter, parseAdapterSpec } from "../../src/adapter/open-adapter.js";
import { fixture, OPENING, someOperations } from "./operations.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "unified-trace-"));
  folders.push(made);
  return made;
}

describe("the name of an implementation", () => {
  test.each([
    ["self", "self", ""],
    ["self:model", "self", "model"],
    ["self:none", "self", "none"],
    ["self:cuda", "self", "cuda"],
    ["checkout:../other", "checkout", "../other"],
    ["ref:main~3", "ref", "main~3"],
    ["ref::/a subject", "ref", ":/a subject"],
    ["module:./x.js", "module", "./x.js"],
    ["cmd:python3 x.py --at a:b", "cmd", "python3 x.py --at a:b"],
    [`cmd:"python3 x.py"`, "cmd", `"python3 x.py"`],
  ])("%s", (spec, kind, target) => {
    expect(parseAdapterSpec(spec)).toEqual({ kind, target });
  });

  test.each([
    ["slef", /unknown implementation "slef" \(did you mean self\?\)/],
    ["chekout:../x", /\(did you mean checkout\?\)/],
    ["moduel:x.js", /\(did you mean module\?\)/],
    ["../other", /\(did you mean checkout:\.\.\/other\?\)/],
    ["./x.mjs", /\(did you mean module:\.\/x\.mjs\?\)/],
    ["", /unknown implementation ""/],
    [
      "self:modle",
      /unknown device "modle" in self:modle \(did you mean model\?\); expected one of model, none/,
    ],
    ["self:", /names nothing after its kind/],
    ["cmd:", /names nothing after its kind/],
    ["checkout: ", /names nothing after its kind/],
    ["reference:fast", /reference:fast names something after its kind; expected reference/],
    ["ref:", /names nothing after its kind/],
    ["rfe:main", /\(did you mean ref\?\)/],
  ])("%j is a usage error", async (spec, message) => {
    const error = await openAdapter(spec).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "UsageError", code: "usage", exitCode: 2 });
    expect((error as Error).message).toMatch(message);
  });

  test.each(["self:host", "self:cuda"])(
    "%s starts, or lacks its device: exit code 4",
    async (spec) => {
      const opened = await openAdapter(spec).catch((thrown: unknown) => thrown);
      if (!(opened instanceof Error)) {
        const adapter = opened as Awaited<ReturnType<typeof openAdapter>>; // this machine has the device
        expect(adapter.info).toMatchObject({ name: "unified-trace", digest: "deep", fx: true });
        await adapter.dispose();
        return;
      }
      expect(opened).toMatchObject({ name: "EnvironmentError", exitCode: 4 });
      const device = spec.slice("self:".length);
      expect(opened.message.startsWith(`device ${device}: `)).toBe(true);
    },
  );

  test.each(["self", "self:none"])("%s starts", async (spec) => {
    const adapter = await openAdapter(spec, { revision: "abc", verify: "every" });
    expect(adapter.info).toMatchObject({ name: "unified-trace", revision: "abc" });
    await adapter.dispose();
  });

  test("cmd: starts a program, quotes and all", async () => {
    const adapter = await openAdapter(`cmd:"${process.execPath} '${fixture("faulty.mjs")}' none"`);
    expect(adapter.info.name).toBe("faulty");
    await adapter.dispose();
  });

  test("cmd: starts in the folder it is given", async () => {
    const cwd = folder();
    symlinkSync(fixture("faulty.mjs"), join(cwd, "here.mjs"));
    const adapter = await openAdapter(`cmd:${process.execPath} here.mjs`, { cwd });
    expect(adapter.info.name).toBe("faulty");
    await adapter.dispose();
  });
});

describe("a checkout", () => {
  /** A folder that looks like a checkout and serves the faulty program. */
  function checkout(fault: string, at: number): string {
    const root = folder();
    mkdirSync(join(root, "bin"));
    mkdirSync(join(root, "dist", "cli"), { recursive: true });
    writeFileSync(join(root, "package.json"), `{"type":"module"}`);
    writeFileSync(join(root, "dist", "cli", "main.js"), "");
    const program = JSON.stringify(`file://${fixture("faulty.mjs")}`);
    writeFileSync(
      join(root, "bin", "unified-trace.js"),
      `if (process.argv[2] !== "serve") process.exit(9);
       process.argv.splice(2, 1, ${JSON.stringify(fault)}, "${at}");
       await import(${program});`,
    );
    return root;
  }

  test.each([
    ["a package", `import "no-such-package-anywhere";`, /Cannot find package/],
    ["a part of the build", `import "../dist/gone.js";`, /Cannot find module.*gone\.js/],
  ])("without %s says what is missing and what to run", async (_, source, missing) => {
    const root = checkout("none", 0);
    writeFileSync(join(root, "bin", "unified-trace.js"), source);
    const error = await openAdapter(`checkout:${root}`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "candidate_start", exitCode: 5 });
    const { message } = error as Error;
    expect(message).toMatch(missing);
    expect(message).toMatch(/ERR_MODULE_NOT_FOUND.*"npm ci" and "npm run build"/);
  });

  test("is started with `serve` and judged like any process", async () => {
    const adapter = await openAdapter(`checkout:${checkout("crash", 100)}`);
    await adapter.open(OPENING);
    const { answers, failure } = await adapter.apply(someOperations(256));
    expect(answers.length).toBe(100);
    expect(failure).toMatchObject({ kind: "crash" });
    await adapter.dispose();
  });

  test.each([
    ["that is not there", (root: string) => join(root, "no"), /there is no such folder$/],
    ["that is a file", (root: string) => join(root, "package.json"), /this is not a folder$/],
    ["without package.json", (root: string) => join(root, "bin"), /there is no package\.json/],
    [
      "that is not built",
      (root: string) => {
        rmSync(join(root, "dist"), { recursive: true });
        return root;
      },
      /it is not built; run "npm ci" and "npm run build" there$/,
    ],
    [
      "of something else",
      (root: string) => {
        rmSync(join(root, "bin"), { recursive: true });
        return root;
      },
      /expected a checkout of unified-trace$/,
    ],
  ])("%s: exit code 5", async (_, change, message) => {
    const path = change(checkout("none", 0));
    const error = await openAdapter(`checkout:${path}`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "CandidateError", code: "candidate_start", exitCode: 5 });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message.startsWith(`checkout ${path}: `)).toBe(true);
  });
});
