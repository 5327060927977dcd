// The hash of a git commit as a report names it.
const HASH = /^[0-9a-f]{40,64}$/;

/** Whether a text is the full hash of a git commit, SHA-1 or SHA-256. @internal */
export function isCommitHash(text: string): boolean {
  return HASH.test(text);
}
