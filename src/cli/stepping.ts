// `show --step`: walks a run at a terminal, or after commands that come line by line from a pipe.
import process from "node:process";
import { createInterface } from "node:readline";
import { UsageError } from "../base/errors.js";
import { EXIT, worstExit } from "../base/exit-codes.js";
import { nearestWord } from "../base/nearest.js";
import { lineText } from "../report/listing-text.js";
import { lookText } from "../report/look-text.js";
import { counted, grouped, visible } from "../report/words.js";
import { type Breakpoint, breakpointText, parseBreakpoint } from "../tools/view/breakpoints.js";
import type { Walker } from "../tools/view/walker.js";
import type { Session } from "./session.js";

const LISTED = 5; // operations on either side

const HELP = `
n, next [K]       the operation K further on (1)      b, break SPEC   stop there on continue
p, previous [K]   the operation K before (1)          breaks          the breakpoints, numbered
g, go N           operation N                         d, delete I     take breakpoint I away
c, continue       on to the next breakpoint           l, list [K]     K operations on either side (5)
m, map            this operation once more            s, state        the full state after it
h, help           this                                q, quit         the end
An empty line repeats next, previous or continue. SPEC is op=KIND (op=host.*), request=ID, page=BAND:ID
(page=full:10..20), refused, refused=CODE, differs, or state=PATH>NUMBER (state=full.live>100,
state=rows.r1.allocated>=64, state=full.fragmentation>0.5), which stops where it becomes true.`;

const NAMES: Readonly<Record<string, string>> = {
  n: "next",
  p: "previous",
  prev: "previous",
  g: "go",
  j: "go",
  jump: "go",
  c: "continue",
  m: "map",
  b: "break",
  d: "delete",
  l: "list",
  s: "state",
  h: "help",
  "?": "help",
  q: "quit",
  exit: "quit",
};
const COMMANDS = [
  "next",
  "previous",
  "go",
  "continue",
  "map",
  "break",
  "breaks",
  "delete",
  "list",
  "state",
  "help",
  "quit",
] as const;
type CommandName = (typeof COMMANDS)[number];
const REPEATED: readonly string[] = ["next", "previous", "continue"];

/** Walks until the commands end. @param from - the operation to begin at, null: the first @internal */
export async function step(
  walker: Walker,
  from: number | null,
  breaks: readonly string[],
  session: Session,
): Promise<number> {
  const walk = new Walk(walker, session, from);
  for (const text of breaks) walk.addBreak(text);
  await walk.show();
  await readCommands(walk, session);
  session.signal.throwIfAborted();
  session.print(walk.summary());
  const exits: number[] = [];
  if (walker.hasParted) exits.push(EXIT.finding);
  if (walker.isPartial) exits.push(EXIT.incomplete);
  return worstExit(exits);
}

/** At a terminal a wrong command is told and the walk goes on; in a pipe it ends the walk, as a wrong flag would. */
async function readCommands(walk: Walk, session: Session): Promise<void> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const reader = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stdout } : {}),
    terminal: isTerminal,
    prompt: "step> ",
  });
  const lines = reader[Symbol.asyncIterator](); // taken at once: lines that come early wait in it
  const stop = (): void => {
    reader.close();
  };
  session.signal.addEventListener("abort", stop);
  // At a terminal readline keeps the key to itself; the rest of the program waits for the signal.
  reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    for (let number = 1; !isOver(session); number++) {
      if (isTerminal) reader.prompt();
      const line = await lines.next();
      if (line.done === true || isOver(session)) break;
      try {
        if (!(await walk.run(line.value))) break;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        if (!isTerminal) throw new UsageError(`line ${String(number)}: ${error.message}`);
        session.note(visible(error.message));
      }
    }
  } finally {
    session.signal.removeEventListener("abort", stop);
    if (isTerminal) session.print(""); // behind the prompt
    reader.close();
  }
}

/** A signal that came before anybody listened is told here only. */
function isOver(session: Session): boolean {
  return session.signal.aborted;
}

class Walk {
  readonly #walker: Walker;
  readonly #session: Session;
  readonly #breaks: Breakpoint[] = [];
  #n: number;
  #repeated: readonly string[] = ["next"];
  #shown = 0;

  constructor(walker: Walker, session: Session, from: number | null) {
    this.#walker = walker;
    this.#session = session;
    this.#n = from === null ? walker.first : this.#within(from, "--op");
  }

  addBreak(text: string): void {
    this.#breaks.push(parseBreakpoint(text, this.#walker.scope));
  }

  /** Does one command; false where it ends the walk. */
  async run(text: string): Promise<boolean> {
    const words = text.trim().split(/\s+/);
    const [given = "", ...rest] = words[0] === "" ? this.#repeated : words;
    const name = commandNamed(given);
    if (REPEATED.includes(name)) this.#repeated = [name, ...rest];
    switch (name) {
      case "next":
        await this.#move(countOf(name, rest));
        return true;
      case "previous":
        await this.#move(-countOf(name, rest));
        return true;
      case "go":
        this.#n = this.#within(numberOf(name, rest), name);
        await this.show();
        return true;
      case "continue":
        alone(name, rest);
        await this.#continue();
        return true;
      case "map":
      case "state":
        alone(name, rest);
        await this.show(name === "state");
        return true;
      case "break":
        this.addBreak(rest.join(" "));
        this.#tellBreaks();
        return true;
      case "breaks":
        alone(name, rest);
        this.#tellBreaks();
        return true;
      case "delete":
        this.#delete(numberOf(name, rest));
        return true;
      case "list":
        this.#list(rest.length === 0 ? LISTED : countOf(name, rest));
        return true;
      case "help":
        this.#session.print(HELP.trim());
        return true;
      case "quit":
        return false;
    }
  }

  async show(hasState = false): Promise<void> {
    const { palette, columns, isVerbose } = this.#session;
    const look = await this.#walker.look(this.#n);
    const options = { palette, columns, verbose: isVerbose, hasState, tellsSource: false };
    this.#shown += 1;
    this.#session.print([...lookText(look, options), ""].join("\n"));
  }

  summary(): string {
    const { run, first, last, hasParted } = this.#walker;
    const range = `operation ${grouped(this.#n)} of ${grouped(first)} to ${grouped(last)}`;
    const text = `walked: run ${visible(run)}, ${range}; ${counted(this.#shown, "operation")} shown`;
    const { palette } = this.#session;
    return hasParted ? palette.warn(text) : palette.good(text);
  }

  async #move(by: number): Promise<void> {
    const { first, last } = this.#walker;
    const to = Math.min(last, Math.max(first, this.#n + by));
    if (to === this.#n) {
      this.#session.print(by > 0 ? "the run ends here" : "the run begins here");
      return;
    }
    this.#n = to;
    await this.show();
  }

  async #continue(): Promise<void> {
    if (this.#n === this.#walker.last) {
      this.#session.print("the run ends here");
      return;
    }
    const { n, on } = await this.#walker.next(this.#n, this.#breaks);
    this.#n = n;
    const why = on === null ? "the end of the run" : `breakpoint ${visible(breakpointText(on))}`;
    this.#session.print(this.#session.palette.bold(`stopped at operation ${grouped(n)}: ${why}`));
    await this.show();
  }

  #tellBreaks(): void {
    const lines = this.#breaks.map(
      (point, index) => `${String(index + 1).padStart(3)}  ${visible(breakpointText(point))}`,
    );
    this.#session.print(lines.length === 0 ? "no breakpoints" : lines.join("\n"));
  }

  #delete(number: number): void {
    if (number < 1 || number > this.#breaks.length)
      throw new UsageError(`delete ${String(number)}: no such breakpoint; breaks lists them`);
    this.#breaks.splice(number - 1, 1);
    this.#tellBreaks();
  }

  #list(around: number): void {
    const { first, last } = this.#walker;
    const { columns, palette } = this.#session;
    const lines: string[] = [];
    for (let n = Math.max(first, this.#n - around); n <= Math.min(last, this.#n + around); n++) {
      const text = lineText(this.#walker.line(n), columns - 2, palette);
      lines.push(`${n === this.#n ? "> " : "  "}${text}`);
    }
    this.#session.print(lines.join("\n"));
  }

  #within(n: number, what: string): number {
    const { first, last, run } = this.#walker;
    if (n >= first && n <= last) return n;
    const held = `operations ${String(first)} to ${String(last)}`;
    throw new UsageError(`${what} ${String(n)}: run ${run} holds ${held}`, held);
  }
}

function commandNamed(word: string): CommandName {
  const full = NAMES[word] ?? word;
  const known = COMMANDS.find((name) => name === full);
  if (known !== undefined) return known;
  const nearest = nearestWord(word, COMMANDS);
  const meant = nearest === null ? "help lists the commands" : `did you mean ${nearest}?`;
  throw new UsageError(`unknown command '${word}': ${meant}`);
}

function numberOf(name: string, [word, ...more]: readonly string[]): number {
  const value = Number(word);
  if (word === undefined || more.length > 0 || !/^\d+$/.test(word) || !Number.isSafeInteger(value))
    throw new UsageError(`${name} ${word ?? ""}: expected a whole number behind it`);
  return value;
}

/** How often; once without a number. */
function countOf(name: string, words: readonly string[]): number {
  return words.length === 0 ? 1 : Math.max(1, numberOf(name, words));
}

function alone(name: string, rest: readonly string[]): void {
  if (rest.length > 0) throw new UsageError(`${name} takes nothing behind it`);
}
