// Errors in JSON documents: the one document of a command that failed, and a part of documents that go on after one.
import type { ErrorPlace } from "../base/errors.js";

/** What is told of an error. @public */
export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly place: ErrorPlace;
}

/** `{"error":{…}}`, the one document of a command that failed. @public */
export function errorJson(error: ToldError): unknown {
  return { error: errorOrNull(error) };
}

/** The error with all its keys; null: nothing was wrong. @internal */
export function errorOrNull(error: ToldError | null): unknown {
  if (error === null) return null;
  const { file, line, column, path, expected } = error.place;
  return {
    code: error.code,
    message: error.message,
    file: file ?? null,
    line: line ?? null,
    column: column ?? null,
    path: path ?? null,
    expected: expected ?? null,
  };
}
