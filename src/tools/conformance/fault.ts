// What an implementation did wrong: one line that names it, what was sent to it, what came back.

const LINE_MAX = 400; // characters of a line that a report keeps

/** Thrown by a check that fails. @internal */
export class Fault extends Error {
  readonly sent: readonly string[];
  readonly came: readonly string[];

  /** `problem`: one line; `sent` and `came`: the lines in question, in order. */
  constructor(problem: string, sent: readonly string[] = [], came: readonly string[] = []) {
    super(problem);
    this.sent = sent.map(kept);
    this.came = came.map(kept);
  }
}
Fault.prototype.name = "Fault";

function kept(line: string): string {
  const text = line.trimEnd();
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX)}…`;
}
