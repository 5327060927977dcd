// `ref:GIT-REF`: a commit is built once, used by everybody, and the repository is left as it was whatever happens.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import type { BuildOptions } from "../../src/adapter/checkout-build.js";
import { cachePlaces, evict } from "../../src/adapter/checkout-cache.js";
import { openAdapter } from "../../src/adapter/open-adapter.js";
import { GeneratedRepository } from "./generated-repository.js";

const repository = new GeneratedRepository();
const [fifo, lifo] = [
  repository.commit("Rows come back in order", "push"),
  repository.commit("Rows come back in reverse", "unshift"),
];
repository.git("tag", "first", fifo);
const broken = repository.commit("A build that fails", "broken");
const slow = repository.commit("A build that hangs", "slow");
repository.commit("Rows come back in order again", "push");
const before = repository.fingerprint();
afterAll(() => {
  expect(repository.fingerprint()).toBe(before);
  repository.remove();
});

let caches = 0;
/** Options with a cache of their own, and what was told meanwhile. */
function fresh(more: BuildOptions = {}): { build: BuildOptions; told: string[]; cache: string } {
  caches += 1;
  const cache = join(repository.home, `cache-${String(caches)}`);
  const told: string[] = [];
  const { environment } = repository;
  const commands = ["node build.mjs"];
  const onProgress = (text: string): void => void told.push(text);
  return { build: { cache, environment, commands, onProgress, ...more }, told, cache };
}

const open = (ref: string, build: BuildOptions, cwd = repository.folder): Promise<Adapter> =>
  openAdapter(`ref:${ref}`, { cwd, build });
const failure = (ref: string, build: BuildOptions, cwd?: string): Promise<unknown> =>
  open(ref, build, cwd).catch((thrown: unknown) => thrown);
const entries = (cache: string): string[] => readdirSync(cachePlaces(cache).commits);
const builds = (): number => readFileSync(join(repository.home, "builds"), "utf8").length / 6;

/** The rows that two requests get after two others gave theirs back, the first one first. */
async function rowsAgain(adapter: Adapter): Promise<unknown> {
  const config = {
    ...{ page_size: 4, arena_bytes: 6656, rows: 2, row_tokens: 128 },
    sub_pools: [{ name: "full", kind: "mha" as const, unit_bytes: 64 }],
  };
  await adapter.open({ run: "rows", domain: "kv", config, digestDepth: null });
  const { answers } = await adapter.apply([
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1", "r2"] } },
    { op: "row.free", args: { req: "r1" } },
    { op: "row.free", args: { req: "r2" } },
    { op: "row.alloc", args: { reqs: ["r3", "r4"] } },
  ]);
  await adapter.dispose();
  return answers[4]?.ok;
}

describe("a commit", () => {
  const { build, told, cache } = fresh();

  test("is built and started, and its revision is told", async () => {
    const adapter = await open("first", build);
    expect(adapter.info).toMatchObject({ name: "minimal", revision: fifo, dirty: false });
    expect(await rowsAgain(adapter)).toEqual({ rows: { r3: 1, r4: 2 } });
    expect(await rowsAgain(await open("first~0", build))).toEqual({ rows: { r3: 1, r4: 2 } });
    expect(await rowsAgain(await open(lifo, build))).toEqual({ rows: { r3: 2, r4: 1 } });
    expect(told).toEqual([
      `ref first (${fifo.slice(0, 12)}): node build.mjs`,
      `commit ${lifo.slice(0, 12)}: node build.mjs`,
    ]);
    expect(repository.fingerprint()).toBe(before);
  });

  test("is found from any folder of the repository, whatever names it", async () => {
    const made = builds();
    await (await open("main~3", build, join(repository.folder, "src"))).dispose();
    expect(builds()).toBe(made);
  });

  test("has a build of its own for other commands", async () => {
    const commands = ["node build.mjs", "node --check build.mjs"];
    await (await open(lifo, { ...build, commands })).dispose();
    expect(entries(cache).filter((name) => name.startsWith(lifo)).length).toBe(2);
  });

  test("is built again when somebody cleared a part of the cache", async () => {
    const { build: own, cache: place } = fresh();
    await (await open(lifo, own)).dispose();
    const missing = join(cachePlaces(place).commits, entries(place)[0]!, "checkout");
    symlinkSync(join(place, "gone"), join(missing, "node_modules"));
    const made = builds();
    await (await open(lifo, own)).dispose();
    expect(builds()).toBe(made + 1);
  });
});

describe("what cannot be had is one line", () => {
  const { build } = fresh();
  test.each([
    ["mian", /"mian" names no commit of this repository; did you mean main\?/],
    ["--help", /"--help" names no commit/],
    ["$(touch made-by-a-shell)", /names no commit/],
    ["main; touch made-by-a-shell", /names no commit/],
    ["main^{tree}", /names no commit/],
  ])("%s", async (ref, message) => {
    const error = await failure(ref, build);
    expect(error).toMatchObject({ name: "CandidateError", code: "candidate_start", exitCode: 5 });
    expect((error as Error).message).toMatch(message);
    expect(existsSync(join(repository.folder, "made-by-a-shell"))).toBe(false);
  });

  test("no repository", async () => {
    const error = await failure("main", build, repository.home);
    expect(error).toMatchObject({ exitCode: 5 });
    expect((error as Error).message).toMatch(/not a git repository/);
  });

  test("no git", async () => {
    const environment = { ...repository.environment, PATH: repository.home };
    const error = await failure("main", { ...build, environment });
    expect(error).toMatchObject({ name: "EnvironmentError", exitCode: 4 });
    expect((error as Error).message).toMatch(/git is not installed/);
  });

  test("a build that fails: its log is kept and its end told, nothing half made stays", async () => {
    let tail = "";
    const { build: own, cache } = fresh({ onFailure: (text) => (tail = text) });
    const error = await failure(broken, own);
    expect(error).toMatchObject({ code: "candidate_start", exitCode: 5 });
    const { message } = error as Error;
    expect(message).toMatch(
      /cannot be built: "node build\.mjs" failed with exit code 1 \(SyntaxError: what does broken mean\?\); its log: /,
    );
    expect(message).not.toContain("\n");
    expect(readFileSync(message.split("its log: ")[1]!, "utf8")).toContain(
      "what does broken mean?",
    );
    expect(tail).toContain("what does broken mean?");
    expect(entries(cache)).toEqual([]);
    expect(repository.fingerprint()).toBe(before);
  });

  test("a build that leaves nothing to start", async () => {
    const commands = [`node -e "require('fs').unlinkSync('bin/unified-trace.js')"`];
    const error = await failure(fifo, fresh({ commands }).build);
    expect((error as Error).message).toMatch(/it has no bin\/unified-trace\.js after its build/);
  });

  test("a program of the build that is not there", async () => {
    const error = await failure(fifo, fresh({ commands: ["no-such-program"] }).build);
    expect((error as Error).message).toMatch(/"no-such-program" is not installed here/);
  });

  test("a cache inside the repository, unless git ignores it", async () => {
    const inside = join(repository.folder, "cache");
    const error = await failure(fifo, { ...build, cache: inside });
    expect(error).toMatchObject({ name: "EnvironmentError", exitCode: 4 });
    expect((error as Error).message).toMatch(/git does not ignore it; UNIFIED_TRACE_CACHE/);
    expect(existsSync(inside)).toBe(false);
    const ignored = join(repository.folder, "dist", "cache");
    await (await open(fifo, { ...build, cache: ignored })).dispose();
  });
});

describe("several at once, and what ended early", () => {
  test("who asks for what another one builds waits for it", async () => {
    const { build, told } = fresh();
    const made = builds();
    const opened = await Promise.all([open(fifo, build), open(fifo, build), open(fifo, build)]);
    expect(builds()).toBe(made + 1);
    expect(
      told.filter((text) => /waiting for process \d+, which builds it/.test(text)),
    ).not.toEqual([]);
    for (const adapter of opened) await adapter.dispose();
  });

  test("an interrupt ends a build, and leaves neither files nor a worktree", async () => {
    const interrupt = new AbortController();
    const { build, cache } = fresh({
      signal: interrupt.signal,
      onProgress: () => void setTimeout(() => interrupt.abort(), 200),
    });
    const error = await failure(slow, build);
    expect(error).toMatchObject({ name: "AbortError" });
    expect(entries(cache)).toEqual([]);
    expect(repository.fingerprint()).toBe(before);
  });

  test("what a killed process left is taken over and tidied up", async () => {
    const { build, cache } = fresh();
    const { commits } = cachePlaces(cache);
    const dead = JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }); // above any process id
    const half = join(commits, ".making-dead");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "holder"), dead);
    writeFileSync(join(half, "repository"), join(repository.folder, ".git"));
    repository.git("worktree", "add", "--quiet", "--detach", join(half, "checkout"), lifo);
    expect(repository.fingerprint()).not.toBe(before);
    const commands = build.commands ?? [];
    await (await open(fifo, build)).dispose();
    const [name] = entries(cache).filter((entry) => entry.startsWith(fifo));
    expect(commands.length).toBe(1);
    expect(entries(cache)).toEqual([name]);
    expect(repository.fingerprint()).toBe(before);
    // a hold on the build itself
    writeFileSync(join(commits, `${name!.replace(fifo, lifo)}.lock`), dead);
    await (await open(lifo, build)).dispose();
    expect(entries(cache).filter((entry) => entry.endsWith(".lock"))).toEqual([]);
  });

  test("a hold that nobody touches any more counts as left, whoever has its process id by now", async () => {
    const { build, cache } = fresh();
    await (await open(fifo, build)).dispose();
    const [name] = entries(cache);
    const lock = join(cachePlaces(cache).commits, `${name!.replace(fifo, lifo)}.lock`);
    writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname() }));
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(lock, old, old);
    await (await open(lifo, build)).dispose();
    expect(existsSync(lock)).toBe(false);
  });
});

describe("packages", () => {
  test("are installed once for each lock file, and linked", async () => {
    const { build, told, cache } = fresh({ commands: ["npm ci", "npm run build"] });
    await (await open(fifo, build)).dispose();
    await (await open(lifo, build)).dispose();
    expect(told.filter((text) => text.endsWith("npm ci")).length).toBe(1);
    expect(told.filter((text) => text.endsWith("npm run build")).length).toBe(2);
    expect(readdirSync(cachePlaces(cache).modules).length).toBe(1);
    const places = cachePlaces(cache);
    for (const name of entries(cache))
      expect(existsSync(join(places.commits, name, "checkout", "node_modules"))).toBe(true);
  });

  test("are copied from a checkout that has the same ones", async () => {
    const modules = join(repository.folder, "node_modules");
    mkdirSync(modules);
    writeFileSync(join(modules, ".package-lock.json"), JSON.stringify({ packages: {} }));
    writeFileSync(join(modules, "mark.txt"), "copied");
    const { build, told, cache } = fresh({ commands: ["npm ci", "node build.mjs"] });
    await (await open(fifo, build)).dispose();
    expect(told.filter((text) => text.endsWith("npm ci"))).toEqual([]);
    const [entry] = entries(cache).filter((name) => name.startsWith(fifo));
    const linked = join(cachePlaces(cache).commits, entry!, "checkout", "node_modules", "mark.txt");
    expect(readFileSync(linked, "utf8")).toBe("copied");
  });
});

test("twenty commits are kept; the least recently used go, but none of the last hour", () => {
  const { cache } = fresh();
  const places = cachePlaces(cache);
  const now = Date.now() / 1000;
  // 30 entries; entry i was used i half hours ago, so 0 and 1 are of the last hour
  const names = Array.from({ length: 30 }, (_, i) => String(i).padStart(40, "0"));
  for (const [i, name] of names.entries()) {
    mkdirSync(join(places.commits, name), { recursive: true });
    writeFileSync(join(places.commits, name, "build.json"), "{}");
    utimesSync(join(places.commits, name, "build.json"), now - i * 1800, now - i * 1800);
  }
  evict(places, join(places.commits, names[29]!));
  const left = [...names.slice(0, 20), names[29]!]; // the one that was made just now stays
  expect(entries(cache).sort()).toEqual(left);
  for (const name of left) utimesSync(join(places.commits, name, "build.json"), now - 60, now - 60);
  evict(places, join(places.commits, names[0]!));
  expect(entries(cache).sort()).toEqual(left);
});
