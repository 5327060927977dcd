// Errors that are thrown. Refusals are outcomes, values in the trace, and never thrown.
/** Code, meaning and exit code of every error; `docs/errors.md` explains each. @public */
export const ERROR_CODES = {
  usage: 2,
  trace_not_json: 3,
  trace_schema: 3,
  trace_structure: 3,
  trace_version: 3,
  trace_truncated: 3,
  trace_limit: 3,
  scenario: 3,
  config: 3,
  input_format: 3,
  input_unreadable: 3,
  output_unwritable: 4,
  environment: 4,
  addon_missing: 4,
  device_unavailable: 4,
  candidate_start: 5,
  candidate_handshake: 5,
  limit_reached: 6,
  internal: 70,
} as const;
/** @public */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Where in an input an error lies. @public */
export interface ErrorPlace {
  readonly file?: string;
  readonly line?: number; // 1-based
  readonly column?: number; // 1-based
  readonly path?: string; // JSON pointer inside the line
  readonly expected?: string;
}

/** Base of every error this project throws on purpose. @public */
export class UnifiedTraceError extends Error {
  readonly code: ErrorCode;
  readonly place: ErrorPlace;
  constructor(code: ErrorCode, message: string, place: ErrorPlace = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.place = place;
  }
  get exitCode(): number {
    return ERROR_CODES[this.code];
  }
  /** One line: place, then what happened. */
  describe(): string {
    const { file, line, column } = this.place;
    const where = [file, line, column].filter((part) => part !== undefined).join(":");
    return where === "" ? this.message : `${where}: ${this.message}`;
  }
}
UnifiedTraceError.prototype.name = "UnifiedTraceError";

/** Wrong flags or arguments. @public */
export class UsageError extends UnifiedTraceError {
  constructor(message: string, expected?: string) {
    super("usage", message, expected === undefined ? {} : { expected });
  }
}
UsageError.prototype.name = "UsageError";

/** A file is wrong: not JSON, schema, structure, version, truncated, unreadable. @public */
export class InputError extends UnifiedTraceError {}
InputError.prototype.name = "InputError";

/** This machine lacks something, or an output cannot be written. @public */
export class EnvironmentError extends UnifiedTraceError {}
EnvironmentError.prototype.name = "EnvironmentError";

/** A candidate that cannot be started or fails the handshake. @public */
export class CandidateError extends UnifiedTraceError {}
CandidateError.prototype.name = "CandidateError";

/** A bug in unified-trace itself. @public */
export class InternalError extends UnifiedTraceError {
  constructor(message: string) {
    super("internal", message);
  }
}
InternalError.prototype.name = "InternalError";
