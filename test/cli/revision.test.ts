// Where the revision comes from: git in a checkout, a file in a package, else nowhere.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readFrom } from "../../src/cli/revision.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function packageWith(packed: string | null): string {
  const root = mkdtempSync(join(tmpdir(), "unified-trace-revision-"));
  folders.push(root);
  mkdirSync(join(root, "dist"));
  if (packed !== null) writeFileSync(join(root, "dist", "revision.json"), packed);
  return root;
}
const PACKED = JSON.stringify({ revision: "ab".repeat(20), dirty: false });
const UNKNOWN = { revision: null, dirty: null };

test("a package tells what was packed into it", async () => {
  expect(await readFrom(packageWith(PACKED))).toEqual({ revision: "ab".repeat(20), dirty: false });
});

test.each([[null], ["{"], ["null"], ['{"revision":"main","dirty":false}']])(
  "a package with %j does not know: dirty is unknown as well",
  async (packed) => {
    expect(await readFrom(packageWith(packed))).toEqual(UNKNOWN);
  },
);

test("beside a .git the packed revision is never used", async () => {
  const root = packageWith(PACKED);
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
      cwd: root,
      encoding: "utf8",
    });
  git("init", "-q");
  expect(await readFrom(root)).toEqual(UNKNOWN); // no commit yet
  writeFileSync(join(root, "a.txt"), "a");
  git("add", "a.txt");
  git("commit", "-q", "-m", "one");
  const revision = git("rev-parse", "HEAD").trim();
  expect(await readFrom(root)).toEqual({ revision, dirty: false });
  writeFileSync(join(root, "a.txt"), "b");
  expect(await readFrom(root)).toEqual({ revision, dirty: true });
});
