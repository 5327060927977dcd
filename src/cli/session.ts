// What one call of the command line has at hand: its streams, colour, the interrupt signal. The only place that looks
// at the terminal and the environment. Output that nobody reads any more (`| head`) is dropped in silence.
import process from "node:process";
import type { Writable } from "node:stream";
import { EXIT } from "../base/exit-codes.js";
import { paletteOf, PLAIN } from "../report/palette.js";
import type { Palette } from "../report/palette.js";
import { standardOutput } from "./file-output.js";
import { ProgressLine } from "./progress-line.js";

/** One call of the command line. Made by `main`, handed to every command. @internal */
export class Session {
  /** Aborted by SIGINT, SIGTERM, SIGHUP or a closed standard output. */
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  /** Standard output; `print` is how an answer gets there. */
  readonly output: Writable = standardOutput();
  /** True when the answer is one JSON document on standard output. */
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  readonly palette: Palette; // of standard output
  /** Characters that a line of standard output holds: the terminal's, else those that COLUMNS says, else 100. */
  readonly columns: number;
  /** Where GitHub Actions takes a job's summary from; null elsewhere. */
  readonly jobSummary: string | null;
  #interrupt: "SIGINT" | "SIGTERM" | "SIGHUP" | null = null;
  #isInterruptTold = false;
  #isClosed = false;
  #outputError: Error | null = null;
  readonly #abort = new AbortController();
  readonly #handlers: [NodeJS.Signals, () => void][] = [];

  /** Makes a session; the colour library is loaded only where colour is shown. */
  static async start(argv: readonly string[]): Promise<Session> {
    const isPlain = beforeSeparator(argv).includes("--no-color") || !isColourWanted();
    const isShown = !isPlain && (process.stdout.isTTY || process.stderr.isTTY);
    if (!isShown) return new Session(argv, PLAIN);
    const { Chalk } = await import("chalk");
    return new Session(argv, paletteOf(new Chalk({ level: 1 })));
  }

  private constructor(argv: readonly string[], colours: Palette) {
    const words = beforeSeparator(argv);
    this.isJson = words.includes("--json");
    this.isVerbose = words.includes("--verbose");
    this.palette = process.stdout.isTTY && !this.isJson ? colours : PLAIN;
    this.columns = columnsOf(process.stdout.isTTY ? process.stdout.columns : undefined);
    const summary = process.env["GITHUB_STEP_SUMMARY"];
    this.jobSummary = summary === undefined || summary === "" ? null : summary;
    this.progress = new ProgressLine(process.stderr, !isContinuousIntegration());
    this.signal = this.#abort.signal;
    this.#listen();
  }

  /**
   * The exit code of an interrupt, of a reader that went away or of an output that cannot be written; null while none of
   * them happened.
   */
  get interruptCode(): number | null {
    if (this.#interrupt === "SIGINT") return EXIT.interrupted;
    // a terminal that went away asks for the same as SIGTERM
    if (this.#interrupt !== null) return EXIT.terminated;
    if (this.#outputError !== null) return EXIT.environment;
    return this.#isClosed ? EXIT.ok : null;
  }

  /** True once the reader of standard output went away. */
  get isStdoutClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes a part of the answer to standard output. */
  print(text: string): void {
    this.progress.clear();
    if (!this.#isClosed) this.output.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** Writes the answer as one JSON document. */
  printJson(document: unknown): void {
    this.print(JSON.stringify(document, null, 2));
  }

  /** Writes a message line to standard error. */
  note(text: string): void {
    this.progress.clear();
    process.stderr.write(`${text}\n`);
  }

  /** Says once that a signal ended the work; a reader that went away is told nothing. */
  tellInterrupt(text: string): void {
    if (this.#interrupt === null || this.#isInterruptTold) return;
    this.#isInterruptTold = true;
    this.note(`unified-trace: interrupted ${text}`);
  }

  /** Where a summary belongs when standard output carries a trace. */
  say(text: string, isStdoutTaken: boolean): void {
    if (isStdoutTaken) this.note(text);
    else this.print(text);
  }

  /** Takes the signal handlers away again and waits until standard output is written. */
  async close(): Promise<void> {
    this.progress.clear();
    for (const [name, handler] of this.#handlers) process.removeListener(name, handler);
    if (!this.#isClosed && this.#outputError === null) {
      await new Promise<void>((resolve) => {
        this.output.write("", () => {
          resolve();
        });
      });
    }
    if (this.#outputError !== null) {
      this.note(`unified-trace: standard output cannot be written: ${this.#outputError.message}`);
    }
  }

  #listen(): void {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      // `once`: a second signal meets the default handler and ends the process at once.
      const handler = (): void => {
        this.#interrupt ??= name;
        this.#abort.abort();
      };
      process.once(name, handler);
      this.#handlers.push([name, handler]);
    }
    this.output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") this.#isClosed = true;
      else this.#outputError ??= error;
      this.#abort.abort();
    });
    // A reader of messages that went away is no reason to stop.
    process.stderr.on("error", () => undefined);
  }
}

/** The words that are flags: everything before `--`. @internal */
export function beforeSeparator(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}

const COLUMNS_USUAL = 100;
const COLUMNS_MIN = 20;

function columnsOf(terminal: number | undefined): number {
  const asked = Number(process.env["COLUMNS"]);
  const usual = Number.isSafeInteger(asked) && asked > 0 ? asked : COLUMNS_USUAL;
  // a terminal without a size says 0
  return Math.max(COLUMNS_MIN, terminal === undefined || terminal === 0 ? usual : terminal);
}

function isContinuousIntegration(): boolean {
  const value = process.env["CI"];
  return value !== undefined && value !== "" && value !== "false" && value !== "0";
}

function isColourWanted(): boolean {
  const noColour = process.env["NO_COLOR"];
  return (noColour === undefined || noColour === "") && !isContinuousIntegration();
}
