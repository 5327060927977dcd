// Three projects: `unit` (the quick ones), `property` (laws over many seeds) and `native` (they load the addon).
// Tests import the TypeScript sources; forks keep a crash of the addon inside its own process.
// `--mode full` (npm run test:full) sets UT_FULL=1: property tests then run their whole range of seeds.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The files that take longest, half a minute and more: they start first, so that no worker is left with one at the end.
const LONGEST = [
  "test/property/kv-laws.test.ts",
  "test/cli/guide-page.test.ts",
  "test/cli/jobs.test.ts",
  "test/cli/shrink.test.ts",
  "test/property/reference.test.ts",
  "test/cli/usage.test.ts",
  "test/cli/json-reports.test.ts",
  "test/cli/html.test.ts",
  "test/kits/kits.test.ts",
  "test/tools/stress/command.test.ts",
  "test/cli/bisect.test.ts",
  "test/cli/real-inputs.test.ts",
  "test/cli/planted-changes.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONGEST.some((path) => moduleId.endsWith(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    env: mode === "full" ? { UT_FULL: "1" } : {},
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/trace/generated/**", "src/report/html/generated/**"],
      reporter: ["text-summary", "html"],
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/property/**", "test/native/**", "test/defects/found.test.ts"],
          hookTimeout: 120_000,
          testTimeout: 120_000, // ends what hangs; tests that start many processes take their time on a busy machine
        },
      },
      {
        extends: true,
        test: {
          name: "property",
          include: ["test/property/**/*.test.ts", "test/defects/found.test.ts"],
          testTimeout: mode === "full" ? 3_600_000 : 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: "native",
          include: ["test/native/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
}));
