// One seeded run seen by each observer by itself: the simulated device, the idle checks, the auditor that knows the trace
// alone, and the comparison with the second allocator. Each stops at what it finds first, the run goes on.
import type {
  Answer,
  BootOk,
  Digests,
  DirectConfig,
  KvOperation,
} from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { equalAnswers } from "../../src/trace/compare-values.js";
import { Reference } from "../../src/reference/reference.js";
import { DigestPair } from "../../src/tools/digests.js";
import { RunAuditor } from "../../src/tools/audit/auditor.js";
import { seededWorkload, type SeededOptions } from "../../src/workload/seeded.js";

/** Who looks on. */
export const OBSERVERS = ["device", "idle", "audit"] as const;
/** `compare` is slow: the second allocator copies its whole state at every operation. */
export type Observer = (typeof OBSERVERS)[number] | "compare";

/** What an observer found first: a check or a rule; `compare` says of which kind of answer. */
export type Observed = Partial<Record<Observer, string>>;

type Look = (n: number, operation: KvOperation, answer: Answer) => string | null;

/** Runs a seed to its end, or until all have found something or the allocator throws. */
export function observe(options: SeededOptions, observers: ReadonlySet<Observer>): Observed {
  const workload = seededWorkload(options);
  const config = workload.config as DirectConfig; // seeds draw the direct form
  const storage = new KVStorage(config, { digestDepth: "layout" });
  const looks = new Map<Observer, Look>();
  for (const observer of observers) looks.set(observer, LOOKS[observer](config));
  const observed: Observed = {};
  const show = (n: number, operation: KvOperation, answer: Answer): void => {
    for (const [observer, look] of looks) {
      const found = look(n, operation, answer);
      if (found === null) continue;
      observed[observer] = found;
      looks.delete(observer);
    }
  };
  let answer: Answer | null = null;
  let n = 0;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // of domain kv
    try {
      answer = answerOf(storage, operation);
    } catch {
      return observed; // an assertion: none of these sees it
    }
    show(n, operation, answer);
    if (looks.size === 0) return observed;
    n += 1;
  }
  const last: KvOperation = { op: "check.idle", args: {} };
  show(n, last, answerOf(storage, last));
  return observed;
}

function answerOf(storage: KVStorage, operation: KvOperation): Answer {
  const answer = storage.apply(operation);
  const digest: Digests | undefined = storage.takeDigest();
  return digest === undefined ? answer : { ...answer, digest };
}

const LOOKS: Readonly<Record<Observer, (config: DirectConfig) => Look>> = {
  device: (config) => {
    const device = new ModelDevice({ verify: "touched" });
    return (_n, operation, answer) => {
      if (operation.op === "boot") device.open(config, answer.ok as BootOk); // what boot answers
      return device.apply(operation, answer)?.check ?? null;
    };
  },
  idle: () => (_n, operation, answer) => {
    if (operation.op !== "check.idle" || answer.ok === undefined) return null;
    const { violations } = answer.ok as { readonly violations: readonly { check: string }[] }; // what it answers
    return violations[0]?.check ?? null;
  },
  audit: (config) => {
    let auditor: RunAuditor | null = null;
    return (n, operation, answer) => {
      auditor ??= new RunAuditor(config, answer.ok as BootOk); // boot comes first
      return auditor.line(n, operation, answer)[0]?.signature.check ?? null;
    };
  },
  compare: (config) => {
    const reference = new Reference(config, "layout");
    const digests = new DigestPair();
    return (_n, operation, answer) => {
      let other: Answer;
      try {
        other = reference.apply(operation);
      } catch {
        return "crash";
      }
      if (!equalAnswers(operation.op, answer, other, { fx: true, digest: false })) return "answer";
      return digests.agree(answer.digest, other.digest) ? null : "digest";
    };
  },
};
