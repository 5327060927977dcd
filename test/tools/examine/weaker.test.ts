// Lines that no mode can find anything in may wait: the modes that hold are those of modes that walk through every line.
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/base/operations.js";
import { Prng } from "../../../src/base/prng.js";
import type { AnsweredLine } from "../../../src/tools/answered-line.js";
import { DigestPair } from "../../../src/tools/digests.js";
import { equalityOf } from "../../../src/tools/equality/equality-of.js";
import { type CompareMode, weakerModes } from "../../../src/tools/equality/modes.js";
import { WeakerModes } from "../../../src/tools/examine/weaker.js";
import { readLines, recorded, seeds } from "../faulty-adapter.js";

const OTHER = "0123456789abcdef";
const holder = { parts: { fx: true, digest: true } };
const runs = readLines(await recorded(seeds(0, 4, 300))).reduce<AnsweredLine[][]>((found, line) => {
  if (line.kind === "run") found.push([]);
  if (line.kind === "op") found.at(-1)!.push(line);
  return found;
}, []);

type Change = (line: AnsweredLine) => Answer;
const same: Change = ({ ok, err, fx, digest }) => ({
  ...(ok && { ok }),
  ...(err && { err }),
  ...(fx && { fx }),
  ...(digest && { digest }),
});
const changes: readonly Change[] = [
  (line) => ({ ...same(line), digest: { ...line.digest, full: OTHER } }),
  ({ fx: _fx, ...line }) => same(line),
  (line) => ({ err: { code: "refused_capacity" }, digest: line.digest ?? {} }),
  (line) => ({ ...same(line), ok: { ...line.ok, step: "relayout" } }),
];

/** Which modes hold along a run whose lines are answered so; `isHasty`: no line waits. */
function holding(
  lines: readonly AnsweredLine[],
  answers: readonly Answer[],
  batch: number,
  isHasty: boolean,
): readonly CompareMode[] {
  const modes = new WeakerModes(weakerModes("exact").map((mode) => equalityOf(mode, holder)));
  const digests = new DigestPair();
  for (const [index, line] of lines.entries()) {
    const answer = answers[index]!;
    digests.agree(line.digest, answer.digest);
    const { digest: _left, ...base } = same(line);
    const { digest: _right, ...candidate } = answer;
    const isAnswerSame = !isHasty && JSON.stringify(base) === JSON.stringify(candidate);
    modes.meet(line, answer, { isAnswerSame, isStateSame: !isHasty && digests.areSame() });
    if (index % batch === 0) modes.batch();
  }
  return modes.holding();
}

describe("the same modes hold", () => {
  test.each([1, 10, 10_000])("with a batch every %i lines", (batch) => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 60; seed++) {
      const prng = new Prng(seed);
      const lines = runs[seed % runs.length]!;
      const wanted = new Map<number, Change>();
      for (let left = prng.below(4); left > 0; left--)
        wanted.set(prng.below(lines.length), changes[prng.below(changes.length)]!);
      const answers = lines.map((line, index) => (wanted.get(index) ?? same)(line));
      const hasty = holding(lines, answers, batch, true);
      expect(holding(lines, answers, batch, false), `seed ${seed}`).toEqual(hasty);
      seen.add(hasty.join(" "));
    }
    expect(seen.size).toBeGreaterThan(3); // not always the same answer
  });
});
