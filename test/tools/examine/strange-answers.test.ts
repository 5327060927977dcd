// Answers of someone else's candidate whose lists are none: a divergence in every mode, never a fault of our own.
import { expect, test } from "vitest";
import type { Answer } from "../../../src/base/operations.js";
import { comparisonsText } from "../../../src/report/compare-text.js";
import { PLAIN } from "../../../src/report/palette.js";
import { COMPARE_MODES } from "../../../src/tools/equality/modes.js";
import { against } from "../../report/comparisons.js";
import { at } from "../faulty-adapter.js";

const N = 9;
const STRANGE: readonly Readonly<Record<string, unknown>>[] = [
  { fx: [["move", 5]] },
  { fx: [["move", "full", 5]] },
  { fx: [["zero", "full", [[null]]]] },
  { ok: { pages: 5 } },
  { ok: { pages: { r1: { full: 5 } } } },
  { ok: { pages: { r1: [] }, rows: { r1: [] } } },
  { ok: { rows: [5], freed: { r1: { full: [1, 2] } } } },
];

test.each(STRANGE.map((strange) => [JSON.stringify(strange), strange] as const))(
  "%s",
  async (_text, strange) => {
    for (const mode of COMPARE_MODES) {
      const mistake = at(N, (was): Answer => ({ ...was, ...strange }));
      const result = await against(mistake, { mode });
      expect(result.error, mode).toBeNull();
      if (mode === "exact") expect(result.verdict).toBe("divergent");
      comparisonsText([result], { palette: PLAIN, verbose: true, trace: null });
    }
  },
);
