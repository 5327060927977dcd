// Known-good runs give no violation, whatever is verified and however often.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeUnless } from "../skip-aloud.js";
import { firstFinding, readStory, threeBands } from "./story.js";

const GOLDEN = new URL("../../../shared/golden/", import.meta.url);
const NAMES = ["full-state.jsonl", "full-window.jsonl", "three-bands.jsonl"];

describe("the hand-written run", () => {
  test.each(["touched", "every"] as const)("has no violation, verifying %s", (verify) => {
    expect(firstFinding(threeBands, verify)).toBeNull();
  });
});

const missing = existsSync(GOLDEN) ? undefined : "no golden traces beside the project";
describeUnless(missing, "golden traces", () => {
  test.each(NAMES)("%s has no violation", (name) => {
    const story = readStory(new URL(name, GOLDEN));
    expect(story.lines.length).toBeGreaterThan(20);
    expect(firstFinding(story, "every")).toBeNull();
    expect(firstFinding(story, "touched")).toBeNull();
  });
});
