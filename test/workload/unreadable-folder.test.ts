// A folder of scenarios that may not be listed is a wrong input, whoever runs the test (root may list every folder).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { InputError } from "../../src/base/errors.js";
import { loadScenarios } from "../../src/workload/scenario.js";

vi.mock("node:fs", async (importOriginal) => {
  const actual = await importOriginal<typeof import("node:fs")>();
  const readdirSync = (): never => {
    throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  };
  return { ...actual, readdirSync };
});

const folder = mkdtempSync(join(tmpdir(), "ut-locked-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("a folder that may not be listed: exit 3, and the folder is named", () => {
  let thrown: unknown;
  try {
    loadScenarios([folder]);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(InputError);
  expect(thrown).toMatchObject({ code: "input_unreadable", exitCode: 3, place: { file: folder } });
  expect((thrown as InputError).describe()).toBe(`${folder}: may not be read (permission denied)`);
});
