// What a failure says when a signal came first: the signal ended the candidate, too, and that is no second message.
import { expect, test, vi } from "vitest";
import { CandidateError, InputError } from "../../src/base/errors.js";
import { reportFailure } from "../../src/cli/failure.js";
import type { Session } from "../../src/cli/session.js";

function sessionWith(interruptCode: number | null): { session: Session; notes: string[] } {
  const notes: string[] = [];
  const session = {
    interruptCode,
    ...{ isJson: false, isVerbose: false },
    note: (text: string) => notes.push(text),
    tellInterrupt: vi.fn((text: string) => notes.push(`interrupted ${text}`)),
  };
  return { session: session as unknown as Session, notes }; // the members that are looked at
}

test("a candidate that ends while it is started, after a signal", () => {
  const thrown = new CandidateError("candidate_handshake", "cmd: was killed by SIGINT");
  const { session, notes } = sessionWith(130);
  expect(reportFailure(thrown, session)).toBe(130);
  expect(notes).toEqual(["interrupted before there was a verdict"]);
});

test("without a signal, and for other failures, what happened is said", () => {
  const candidate = new CandidateError("candidate_start", "cmd: no such program");
  const alone = sessionWith(null);
  expect(reportFailure(candidate, alone.session)).toBe(5);
  expect(alone.notes).toEqual(["unified-trace: cmd: no such program"]);
  const input = new InputError("input_unreadable", "no such file", { file: "a" });
  const after = sessionWith(143);
  reportFailure(input, after.session);
  expect(after.notes).toEqual(["unified-trace: a: no such file"]);
});
