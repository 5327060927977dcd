// The public API: re-exports only. What is not here is internal and may change without notice.

// Words that every part shares.
export type * from "./base/effects.js";
export type * from "./base/operations.js";
export type * from "./base/state.js";
export {
  CandidateError,
  EnvironmentError,
  ERROR_CODES,
  InputError,
  InternalError,
  UnifiedTraceError,
  UsageError,
} from "./base/errors.js";
export type { ErrorCode, ErrorPlace } from "./base/errors.js";
export { EXIT, worstExit } from "./base/exit-codes.js";
export type { ExitCode } from "./base/exit-codes.js";
export { countOf, expand, idsOf, toExtents } from "./base/extents.js";

// Traces.
export type * from "./trace/lines.js";
export { openTrace } from "./trace/reader.js";
export type { LineBatch, ReaderOptions, TraceReader, Truncation } from "./trace/reader.js";
export { createTraceWriter } from "./trace/writer.js";
export type { TraceWriter, WriterOptions } from "./trace/writer.js";
export { validateTrace } from "./trace/validate.js";
export type { TraceSummary } from "./trace/validate.js";

// The allocator and the ways to drive it or any other.
export { KV_OPERATIONS, KVStorage } from "./kv/storage.js";
export type { BandCounts, StorageOptions } from "./kv/storage.js";
export type * from "./adapter/adapter.js";
export type {
  ImplementationModule,
  ModuleContext,
  ModuleImplementation,
} from "./adapter/module-contract.js";
export { HEAP_POLICIES, HeapAllocator } from "./heap/heap-allocator.js";
export type { HeapPolicyName, HeapUse } from "./heap/heap-allocator.js";
export { openAdapter } from "./adapter/open-adapter.js";
export type { OpenAdapterOptions } from "./adapter/open-adapter.js";

// Workloads.
export type * from "./workload/workload.js";
export { loadConfigs } from "./workload/configs.js";
export { openRequestTrace } from "./workload/request-traces.js";
export { loadScenarios, scenarioWorkload } from "./workload/scenario.js";
export { seededWorkload } from "./workload/seeded.js";
export { servingWorkload } from "./workload/serving.js";

// The tools: results are data.
export type * from "./tools/outcome.js";
export type { Finding, Signature } from "./tools/findings.js";
export { auditTrace } from "./tools/audit/audit.js";
export type { AuditOptions, AuditResult, PlacedFinding } from "./tools/audit/audit.js";
export { RunAuditor } from "./tools/audit/auditor.js";
export type { UncheckedRules } from "./tools/audit/auditor.js";
export { compareFiles } from "./tools/compare-files.js";
export type { CompareFilesOptions } from "./tools/compare-files.js";
export { compareTrace } from "./tools/compare-trace.js";
export type { CompareChoices, CompareTraceOptions } from "./tools/compare-options.js";
export { convertTrace } from "./tools/convert/convert.js";
export type { ConvertOptions, ConvertResult } from "./tools/convert/convert.js";
export { editTrace } from "./tools/edit/edit.js";
export type { EditOptions, EditResult } from "./tools/edit/edit.js";
export { metamorph } from "./tools/metamorph/metamorph.js";
export type {
  MetamorphFinding,
  MetamorphOptions,
  MetamorphResult,
  RewriteName,
} from "./tools/metamorph/metamorph.js";
export { record } from "./tools/record.js";
export type { RecordOptions } from "./tools/record.js";
export { replayTrace } from "./tools/replay.js";
export type { ReplayOptions } from "./tools/replay.js";
export { parseHeapSpec } from "./adapter/heap-spec.js";
export { studyHeap } from "./tools/heap-study.js";
export type { HeapStudy, HeapStudyOptions } from "./tools/heap-study.js";
export { runScenarios } from "./tools/run-scenarios.js";
export type { RunScenariosOptions } from "./tools/run-scenarios.js";
export { runWorkloads } from "./tools/run-workload.js";
export type { RunWorkloadsOptions } from "./tools/run-workload.js";
export { shrink } from "./tools/shrink/shrink.js";
export type { FailingCase, ShrinkOptions, ShrinkResult } from "./tools/shrink/shrink.js";
export type { Judge, Judgement, ShrinkCase } from "./tools/shrink/case.js";
export { runStress } from "./tools/stress/stress.js";
export type { StressFinding, StressOptions, StressResult } from "./tools/stress/stress.js";
export { traceStats } from "./tools/stats.js";
export type { StatsOptions, TraceStats } from "./tools/stats.js";
