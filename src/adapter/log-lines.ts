// What a program's log tells a reader. Node ends a crash with stack frames and its own version, so that the last lines
// of a log are seldom the ones that name the cause.

const FRAMES_KEPT = 2; // of each stack: where it happened, and who called
const FRAME = /^\s+at \S/;
const ERROR = /^\s*(?:Uncaught |Caused by: )?(?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)\b[^=]*:\s/;

/** The log with the first two frames of every stack, without blank lines and Node's version at its end. @internal */
export function withoutDeepFrames(log: string): string {
  const kept: string[] = [];
  let frames = 0;
  for (const line of log.split("\n")) {
    frames = FRAME.test(line) ? frames + 1 : 0;
    if (frames <= FRAMES_KEPT) kept.push(line);
  }
  // The version is a crash's last line, after a blank one; anywhere else it is the program's own message.
  return kept.join("\n").replace(/\n\s*\nNode\.js v\d\S*\s*$/, "\n");
}

/** The line that names the cause: the last that carries an error, else the last one that says anything. @internal */
export function tellingLine(log: string): string {
  const lines = withoutDeepFrames(log)
    .split("\n")
    .filter((line) => /\w/.test(line) && !FRAME.test(line));
  return (lines.findLast((line) => ERROR.test(line)) ?? lines.at(-1) ?? "").trim();
}
