// A progress line on standard error, on a terminal only, redrawn at most a few times a second.
import { visible } from "../report/words.js";

const REDRAW_MS = 120;

/** One line that is redrawn in place; nothing at all where no terminal shows it. @internal */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #isShown: boolean;
  #drawnAt = 0;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream, isWanted: boolean) {
    this.#stream = stream;
    this.#isShown = isWanted && stream.isTTY;
  }

  /** Shows `text` in place of the line before. Cheap when called often. */
  show(text: string): void {
    if (!this.#isShown) return;
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const width = Math.max(20, this.#stream.columns - 1);
    this.#stream.write(`\r\u001b[2K${visible(text).slice(0, width)}`);
  }

  /** Takes the line away before something else is written. */
  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#stream.write("\r\u001b[2K");
  }
}
