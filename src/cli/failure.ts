// Turns whatever was thrown into one line (or one JSON object) and an exit code. No stack trace reaches the user unless
// `--verbose` asks for the details of a bug of our own.
import { CandidateError, UnifiedTraceError } from "../base/errors.js";
import { EXIT } from "../base/exit-codes.js";
import { errorJson } from "../report/error-json.js";
import { visible } from "../report/words.js";
import type { Session } from "./session.js";

const DISK_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"]);

/** Prints what was thrown and returns the exit code it means. @internal */
export function reportFailure(thrown: unknown, session: Session): number {
  const interrupt = session.interruptCode;
  // what is being started when the signal comes ends too, and that is no failure of it
  if (interrupt !== null && (isAbort(thrown) || thrown instanceof CandidateError)) {
    session.tellInterrupt("before there was a verdict");
    return interrupt;
  }
  const failure = asFailure(thrown);
  if (failure.isClosedPipe) return EXIT.ok;
  if (session.isJson) session.printJson(errorJson(failure));
  else session.note(`unified-trace: ${oneLine(failure.line)}`);
  if (session.isVerbose && failure.details !== "") session.note(failure.details);
  return failure.exitCode;
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly line: string; // message with its place
  readonly place: UnifiedTraceError["place"];
  readonly exitCode: number;
  readonly details: string; // for --verbose
  readonly isClosedPipe: boolean;
}

function asFailure(thrown: unknown): Failure {
  if (thrown instanceof UnifiedTraceError && thrown.code !== "internal") {
    const cause = thrown.cause instanceof Error ? `caused by: ${thrown.cause.message}` : "";
    return {
      code: thrown.code,
      message: thrown.message,
      line: thrown.describe(),
      place: thrown.place,
      exitCode: thrown.exitCode,
      details: cause,
      isClosedPipe: false,
    };
  }
  const errno = errnoOf(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (errno === "EPIPE")
    return { ...bare("output_unwritable", message, EXIT.ok), isClosedPipe: true };
  if (errno !== null && DISK_CODES.has(errno)) {
    return bare("output_unwritable", message, EXIT.environment);
  }
  const details = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const hint = "this is a bug in unified-trace; --verbose shows where";
  const line = `internal error: ${message} (${hint})`;
  return { ...bare("internal", message, EXIT.internal), line, details };
}

function bare(code: string, message: string, exitCode: number): Failure {
  return { code, message, line: message, place: {}, exitCode, details: "", isClosedPipe: false };
}

function errnoOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  const code = (thrown as NodeJS.ErrnoException).code;
  return typeof code === "string" && code.startsWith("E") ? code : null;
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}

function oneLine(text: string): string {
  return visible(text.replaceAll(/\s*\n\s*/g, "; "));
}
