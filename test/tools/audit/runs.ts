// Runs of this project's allocator as lines, and the auditor over them.
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { KVStorage } from "../../../src/kv/storage.js";
import { RunAuditor } from "../../../src/tools/audit/auditor.js";
import type { Finding } from "../../../src/tools/findings.js";
import type { Layout } from "../../../src/workload/layouts.js";
import { seededWorkload } from "../../../src/workload/seeded.js";

export interface Line {
  readonly operation: KvOperation;
  readonly answer: Answer;
}

export interface RecordedRun {
  readonly name: string;
  readonly config: DirectConfig;
  readonly lines: readonly Line[];
}

/** A seeded run with its answers. */
export function seededRun(
  seed: number,
  layout: Layout,
  pageSize: number,
  weights: string,
  ops = 400,
): RecordedRun {
  const workload = seededWorkload({ seed, ops, layout, pageSize, weights });
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: "layout" });
  const lines: Line[] = [];
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    answer = storage.apply(operation);
    lines.push({ operation, answer });
  }
  return { name: `${weights}/${workload.run}`, config, lines };
}

/** What the auditor finds in a run, to the first `most` findings. */
export function auditRun(
  { config, lines }: Omit<RecordedRun, "name">,
  most = 5,
): readonly Finding[] {
  const boot = lines[0]!.answer.ok as BootOk;
  const auditor = new RunAuditor(config, boot);
  const found: Finding[] = [];
  for (const [n, { operation, answer }] of lines.entries()) {
    found.push(...auditor.line(n, operation, answer));
    if (found.length >= most) return found;
  }
  found.push(...auditor.end());
  return found;
}

/** One line a finding. */
export function told(finding: Finding): string {
  return `${finding.n} ${finding.signature.op} ${finding.signature.check}: ${finding.message}`;
}
