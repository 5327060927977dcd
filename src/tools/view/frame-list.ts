// Which operations of a run become frames of the page: all of a run that is short enough; of a longer one those around what
// matters, and every second, fourth, … of the others. The choice follows the operations alone, so that a page is the same
// every time.
import { joinedChanges } from "./map-changes.js";
import type { FrameSide, ViewFrame } from "./view-data.js";

/** @internal */
export interface FrameChoice {
  readonly most: number; // frames
  readonly focus: readonly number[]; // operations whose neighbours are all kept
}

/** Collects frames in order; memory follows `most`, not the run. @internal */
export class FrameList {
  readonly near: number;
  readonly #choice: FrameChoice;
  #frames: ViewFrame[] = [];
  stride = 1;

  constructor(choice: FrameChoice) {
    this.#choice = choice;
    // Half of the frames at most lie around what matters.
    this.near = Math.max(1, Math.floor(choice.most / 4 / Math.max(1, choice.focus.length)));
  }

  /** Whether operation `n` is to be a frame. The first is. */
  wants(n: number): boolean {
    return n % this.stride === 0 || this.#isNear(n);
  }

  add(frame: ViewFrame): void {
    this.#frames.push(frame);
    while (this.#frames.length > this.#choice.most) if (!this.#thin()) return;
  }

  get frames(): readonly ViewFrame[] {
    return this.#frames;
  }

  #isNear(n: number): boolean {
    return this.#choice.focus.some((focus) => Math.abs(n - focus) <= this.near);
  }

  /** Drops every second frame that is not near a focus; what changed there goes to the next that stays. */
  #thin(): boolean {
    this.stride *= 2;
    const kept: ViewFrame[] = [];
    let dropped: ViewFrame | null = null;
    for (const [index, frame] of this.#frames.entries()) {
      const whole: ViewFrame = dropped === null ? frame : joined(dropped, frame);
      dropped = null;
      // the last one stays: nothing behind it could take what changed there
      if (this.wants(frame.n) || index === this.#frames.length - 1) kept.push(whole);
      else dropped = whole;
    }
    const isSmaller = kept.length < this.#frames.length;
    this.#frames = kept;
    return isSmaller;
  }
}

function joined(first: ViewFrame, second: ViewFrame): ViewFrame {
  const { base, candidate } = second;
  return {
    ...second,
    base: joinedSide(first.base, base),
    candidate: candidate === null ? null : joinedSide(first.candidate, candidate),
  };
}

function joinedSide(first: FrameSide | null, second: FrameSide): FrameSide {
  return { ...second, changes: joinedChanges(first?.changes ?? null, second.changes) };
}
