// Exit codes of the command line. They follow `diff`: 1 means that something was found.

/** @public */
export const EXIT = {
  ok: 0,
  finding: 1,
  usage: 2,
  badFile: 3,
  environment: 4,
  candidate: 5,
  incomplete: 6,
  notRepeated: 7,
  internal: 70,
  interrupted: 130,
  terminated: 143,
} as const;
/** @public */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

// When several apply, the first of these is the process's answer.
const PRECEDENCE: readonly number[] = [130, 143, 2, 70, 1, 5, 3, 4, 6, 7, 0];

/** The code that wins when several apply. @public */
export function worstExit(codes: readonly number[]): number {
  for (const code of PRECEDENCE) if (codes.includes(code)) return code;
  return EXIT.ok;
}

const GIT_SKIP = 125; // this commit cannot be judged
const GIT_STOP = 128; // no commit can: the bisection ends

/** The code as `git bisect run` understands it: a wrong command line must not skip every commit. @public */
export function gitBisectExit(code: number): number {
  if (code >= EXIT.badFile && code <= EXIT.notRepeated) return GIT_SKIP;
  return code === EXIT.usage || code === EXIT.internal ? GIT_STOP : code;
}
