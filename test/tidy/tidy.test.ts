// A test of the source tree itself: what the compiler and the linter do not see.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const LINES_MAX = 420; // the aim is 350; this is where a file surely holds two ideas
const OUTPUTS = new Set([".git", "node_modules", "dist", "build", "coverage", ".gpu"]);

/** What git knows or would add; without git (an unpacked archive) everything but outputs. Paths use `/`. */
function listFiles(): string[] {
  try {
    const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    const listed = execFileSync("git", args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
    const names = listed.toString("utf8").split("\0");
    return names.filter((name) => name !== "" && existsSync(join(root, name)));
  } catch {
    return walk(root);
  }
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return OUTPUTS.has(entry.name) ? [] : walk(path);
    return entry.isFile() ? [relative(root, path).replaceAll("\\", "/")] : [];
  });
}

const files = listFiles();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const isText = (path: string): boolean => !/\.(gz|zst|png|ico|woff2?|node|so|bin)$/.test(path);

/** `path:line: text` of every line of the files that the pattern matches. */
function hits(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  );
}

describe("source files", () => {
  const sources = files.filter(
    (path) => /^src\/.*\.ts$/.test(path) && !path.includes("/generated/"),
  );

  it("exist", () => {
    expect(sources.length).toBeGreaterThan(0);
  });

  it(`have at most ${LINES_MAX} lines`, () => {
    const long = sources
      .map((path) => ({ path, lines: read(path).trimEnd().split("\n").length }))
      .filter(({ lines }) => lines > LINES_MAX)
      .map(({ path, lines }) => `${path}: ${lines} lines`);
    expect(long).toEqual([]);
  });

  it("begin with a comment that says what they are", () => {
    const bare = sources.filter((path) => !/^(#!.*\n)?(\/\/|\/\*)/.test(read(path)));
    expect(bare).toEqual([]);
  });

  it("call things in src/kv by their words of docs/glossary.md", () => {
    const wrongWord = /^(heap|region|watermark|limbo|gc|defrag|checksum|mismatch)s?$/i;
    const exported = /^export (?:abstract )?(?:const|function|class|interface|type) (\w+)/gm;
    const wrong = sources
      .filter((path) => path.startsWith("src/kv/"))
      .flatMap((path) => [...read(path).matchAll(exported)].map((match) => match[1]!))
      .filter((name) => name.split(/(?=[A-Z])|_/).some((word) => wrongWord.test(word)));
    expect(wrong).toEqual([]);
  });
});

describe("tests", () => {
  const tests = files.filter(
    (path) => /^test\/.*\.ts$/.test(path) && path !== "test/skip-aloud.ts",
  );

  it("run all of themselves: nothing is focused, and skipping goes through test/skip-aloud.ts", () => {
    const focused = new RegExp(String.raw`\b(it|test|describe)\.(only|skip|todo|fails)\b`);
    expect(hits(tests, focused)).toEqual([]);
  });
});

describe("documents", () => {
  const pages = files.filter((path) => /^docs\/.*\.md$/.test(path) || /^[A-Z]+\.md$/.test(path));

  it("have exactly one title each", () => {
    const wrong = pages
      .map((path) => ({ path, titles: titles(read(path)) }))
      .filter((page) => page.titles.length !== 1);
    expect(wrong).toEqual([]);
  });

  it("explain every error code", async () => {
    const page = files.find((path) => path === "docs/errors.md");
    if (page === undefined) return; // the page's absence is for the package's own file list to notice
    const { ERROR_CODES } = await import("../../src/base/errors.js");
    const text = read(page);
    const missing = Object.keys(ERROR_CODES).filter((code) => !text.includes(`\`${code}\``));
    expect(missing).toEqual([]);
  });

  it("link to files that exist", () => {
    const broken = pages.flatMap((path) =>
      [...withoutCode(read(path)).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map((match) => match[1]!)
        .filter((target) => !existsSync(join(root, path, "..", target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "");
const titles = (markdown: string): string[] => withoutCode(markdown).match(/^# .*$/gm) ?? [];

describe("every file", () => {
  const texts = files.filter(isText);

  it("names no path of one particular machine", () => {
    const folders = ["work", "root", "Users"].join("|");
    const absolute = new RegExp(String.raw`(^|[\s"'\`=(:>,])/(${folders})(/|["'\`\s),;]|$)`);
    expect(hits(texts, absolute)).toEqual([]);
  });

  it("ends its lines with LF and its last line with one", () => {
    const plain = texts.filter((path) =>
      /\.(ts|m?js|cjs|json|md|ya?ml|cpp|hpp|h|cu|txt|py)$/.test(path),
    );
    const wrong = plain.filter((path) => {
      const text = read(path);
      return text !== "" && (text.includes("\r\n") || !text.endsWith("\n"));
    });
    expect(wrong).toEqual([]);
  });
});

describe("the package", () => {
  it("is locked without saying where packages came from", () => {
    expect(hits(["package-lock.json"], /"resolved"\s*:/)).toEqual([]);
  });

  it("runs nothing when it is installed, and pins every version exactly", () => {
    const { scripts, dependencies, devDependencies } = JSON.parse(read("package.json"));
    for (const hook of ["preinstall", "install", "postinstall", "prepare"]) {
      expect(scripts).not.toHaveProperty(hook);
    }
    for (const version of Object.values({ ...dependencies, ...devDependencies })) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it("uses one vitest: the runner and its coverage agree", () => {
    const { devDependencies } = JSON.parse(read("package.json"));
    expect(devDependencies["@vitest/coverage-v8"]).toBe(devDependencies["vitest"]);
  });

  it("keeps its two programmes executable", () => {
    if (process.platform === "win32") return; // no such bit
    for (const path of [".ci/run", "bin/unified-trace.js"]) {
      expect(read(path)).toMatch(/^#!\/usr\/bin\/env (bash|node)\n/);
      expect(statSync(join(root, path)).mode & 0o111).not.toBe(0);
    }
  });
});
