// The contract suite: every promise of the device boundary, checked on one backend. It needs nothing but the backend.
import { InternalError } from "../../base/errors.js";
import type { ByteBackend } from "../bytes.js";
import { ByteError } from "../bytes.js";
import { BrokenPromise, type ContractCheck } from "./check.js";
import { CALL_CHECKS } from "./checks-calls.js";
import { PAGE_CHECKS } from "./checks-pages.js";
import { STREAM_CHECKS } from "./checks-streams.js";

const CHECKS: readonly ContractCheck[] = [...PAGE_CHECKS, ...STREAM_CHECKS, ...CALL_CHECKS];

/** How one check went. @public */
export interface SelfTestCheck {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "skipped";
  readonly message: string | null; // what is wrong, or why it was skipped
}

/** @public */
export interface SelfTestResult {
  readonly device: string;
  readonly verdict: "passed" | "failed";
  readonly checks: readonly SelfTestCheck[];
}

/** Runs every check, whatever earlier ones found. @internal */
export function selfTest(
  backend: ByteBackend,
  onCheck: (check: SelfTestCheck) => void = () => undefined,
): SelfTestResult {
  const { concurrentStreams, name } = backend.capabilities(0);
  const checks = CHECKS.map((check): SelfTestCheck => {
    const done =
      check.needsConcurrency === true && !concurrentStreams
        ? skipped(check, "its streams do not overlap")
        : runCheck(check, backend);
    onCheck(done);
    return done;
  });
  if (!checks.some(({ verdict }) => verdict === "passed" || verdict === "failed"))
    throw new InternalError("a self-test that ran nothing");
  const verdict = checks.some((check) => check.verdict === "failed") ? "failed" : "passed";
  return { device: `${backend.name}: ${name}`, verdict, checks };
}

function skipped({ name }: ContractCheck, message: string): SelfTestCheck {
  return { name, verdict: "skipped", message };
}

function runCheck(check: ContractCheck, backend: ByteBackend): SelfTestCheck {
  const { name } = check;
  try {
    check.run(backend);
    return { name, verdict: "passed", message: null };
  } catch (error) {
    if (error instanceof BrokenPromise) return { name, verdict: "failed", message: error.message };
    if (error instanceof ByteError)
      return { name, verdict: "failed", message: `${error.code}: ${error.message}` };
    throw error;
  }
}
