// What a check found.

/** One thing that is wrong. @public */
export interface Problem {
  readonly path: string; // JSON pointer
  readonly message: string; // what stands there, one line
  readonly expected: string; // what should
  readonly isKey?: true; // the name of the member is at fault, not its value
}
