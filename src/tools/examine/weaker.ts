// The weaker modes along a second look. Where both sides answered alike none of them can find anything, so lines of that
// kind wait, and a mode walks through them only once an answer gives it something to find.
import type { Answer, Digests, Operation } from "../../base/operations.js";
import type { AnsweredLine } from "../answered-line.js";
import type { Equality } from "../equality/equality.js";
import type { CompareMode } from "../equality/modes.js";

const BATCHES_MAX = 16; // read while lines wait: bounds the memory that they hold

/** How far two answers to one operation are the same. @internal */
export interface Agreement {
  readonly isAnswerSame: boolean; // value by value: the line can stand for both
  readonly isStateSame: boolean; // every component's digest behind it
}

interface Waiting {
  readonly line: AnsweredLine;
  readonly digest: Digests; // the candidate's
}

class Mode {
  readonly equality: Equality;
  isWaiting = true; // has seen none of the lines so far
  isBroken = false;

  constructor(equality: Equality) {
    this.equality = equality;
  }

  meet(line: AnsweredLine, answer: Answer): void {
    if (this.isBroken || isAskedOtherwise(this.equality, line)) return;
    if (this.equality.differences(line, answer).length > 0) this.isBroken = true;
  }
}

/** Which modes hold as long as the run is looked at. @internal */
export class WeakerModes {
  readonly #modes: readonly Mode[];
  #waiting: Waiting[] = [];
  #batches = 0;

  constructor(equalities: readonly Equality[]) {
    this.#modes = equalities.map((equality) => new Mode(equality));
  }

  /** Takes in the next operation's answers. */
  meet(line: AnsweredLine, answer: Answer, { isAnswerSame, isStateSame }: Agreement): void {
    const entry = isAnswerSame ? { line, digest: answer.digest ?? {} } : null;
    let isAnyWaiting = false;
    for (let index = 0; index < this.#modes.length; index++) {
      const mode = this.#modes[index]!; // below the length
      // states are all that `quiescent` looks at
      const isSame = isAnswerSame && (mode.equality.mode !== "quiescent" || isStateSame);
      if (mode.isWaiting && isSame) {
        isAnyWaiting = true;
        continue;
      }
      this.#wake(mode);
      mode.meet(line, entry === null ? answer : given(entry));
    }
    if (entry !== null && isAnyWaiting) this.#waiting.push(entry);
  }

  /** A batch of lines was read. */
  batch(): void {
    this.#batches += 1;
    if (this.#batches <= BATCHES_MAX) return;
    for (const mode of this.#modes) this.#wake(mode);
    this.#waiting = [];
  }

  /** The modes that looked at something and found no difference. */
  holding(): readonly CompareMode[] {
    return this.#modes
      .filter((mode) => {
        // what waits is without differences, but some of it has to be what the mode looks at
        for (const entry of mode.isWaiting ? this.#waiting : []) {
          if (mode.equality.looked > 0) break;
          mode.meet(entry.line, given(entry));
        }
        return !mode.isBroken && mode.equality.looked > 0;
      })
      .map(({ equality }) => equality.mode);
  }

  #wake(mode: Mode): void {
    if (!mode.isWaiting) return;
    mode.isWaiting = false;
    for (const entry of this.#waiting) mode.meet(entry.line, given(entry));
  }
}

// The line's own values: a mode sees at once that nothing differs there.
function given({ line, digest }: Waiting): Answer {
  const { ok, err, fx } = line;
  return { ok, err, fx, digest } as Answer; // undefined is as good as left out
}

// A question that names ids of the base says nothing of a candidate whose own are others.
function isAskedOtherwise(equality: Equality, { op, args }: AnsweredLine): boolean {
  if (op !== "ask.translate" || equality.asked === undefined) return false;
  const operation = { op, args } as Operation; // they stood on one line
  return JSON.stringify(equality.asked(operation).args) !== JSON.stringify(args);
}
