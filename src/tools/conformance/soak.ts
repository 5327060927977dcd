// A long run at full window, twice: the answers must be the same, and nothing may break. Memory does not follow the
// length: of each answer a hash is kept.
import { hashName } from "../../base/digest.js";
import { encodeAnswer } from "../../adapter/protocol.js";
import type { Operation } from "../../base/operations.js";
import type { CheckOutcome } from "./check.js";
import { Fault } from "./fault.js";
import { operationSource, taken } from "./operations.js";
import type { Stage } from "./subject.js";

const BATCH = 4096;

/** Asks `count` operations in two runs on one start. @internal */
export async function soak(stage: Stage, count: number): Promise<CheckOutcome> {
  const hashes = new Int32Array(count);
  await stage.subject.withKept(async (conversation) => {
    for (const run of ["soak-1", "soak-2"]) {
      await stage.open(conversation, stage.opening(run));
      const source = operationSource(stage.domain, stage.ops, stage.config);
      for (let done = 0; done < count; done += BATCH) {
        const operations = taken(source, Math.min(BATCH, count - done));
        const answers = await stage.ask(conversation, operations);
        for (const [at, answer] of answers.entries()) {
          const hash = hashName(encodeAnswer(done + at, answer)) | 0;
          if (run === "soak-1") hashes[done + at] = hash;
          else if (hashes[done + at] !== hash)
            throw new Fault(
              `answers operation ${done + at} otherwise in the second of two identical runs`,
              [lineOfOperation(done + at, operations[at])],
              [encodeAnswer(done + at, answer)],
            );
        }
      }
      await conversation.close(run);
    }
  });
  return { note: `${count} operations, twice` };
}

function lineOfOperation(n: number, operation: Operation | undefined): string {
  return JSON.stringify({ n, ...operation });
}
