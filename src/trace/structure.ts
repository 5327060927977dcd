// What may follow what: the header first, runs one after another, numbers without gap or repeat, ends that agree.
import type { ErrorCode } from "../base/errors.js";
import { RunDigests } from "./digest-rules.js";
import type { EndLine, OpLine, RunLine, TraceLine } from "./lines.js";
import { findOperation } from "./operation-table.js";
import type { Problem } from "./problem.js";
import { runWords } from "./run-words.js";
import type { RunWords } from "./run-words.js";

/** A broken rule of structure. @internal */
export interface StructureProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly problem?: Problem; // the field at fault, where it is one
}

/** An open run. */
interface OpenRun {
  readonly line: RunLine;
  readonly words: RunWords | null;
  readonly digests: RunDigests;
  next: number; // number of the operation that must come
  operations: number; // `op` lines so far
  readonly called: string[]; // operations of `call` lines not yet answered, from `next` on
}

/** Follows a trace line by line. @internal */
export class TraceStructure {
  #hasHeader = false;
  #run: OpenRun | null = null;
  readonly #runs = new Set<string>();

  /** The bands of the open run, or null. */
  get words(): RunWords | null {
    return this.#run?.words ?? null;
  }
  /** The open run's id, or null. */
  get run(): string | null {
    return this.#run?.line.run ?? null;
  }
  /** Number of the open run's last operation, or null. */
  get lastOperation(): number | null {
    const run = this.#run;
    return run === null || run.operations === 0 ? null : run.next - 1;
  }
  get isEmpty(): boolean {
    return !this.#hasHeader;
  }

  /** Goes on behind these runs. */
  resume(runs: readonly string[]): void {
    this.#hasHeader = true;
    for (const run of runs) this.#runs.add(run);
  }

  /** Takes note of a valid line; what is wrong with its place, or null. */
  accept(line: TraceLine): StructureProblem | null {
    if (line.kind === "trace") return this.#header();
    if (!this.#hasHeader) {
      return wrong(`the first line must be a "trace" line, found a "${line.kind}" line`);
    }
    if (line.kind === "run") return this.#open(line);
    const run = this.#run;
    if (run === null) return wrong(`a "${line.kind}" line outside a run`);
    switch (line.kind) {
      case "op":
        return acceptOperation(run, line);
      case "call":
        return acceptCall(run, line.n, line.op);
      case "mark":
        return line.n === run.next || line.n === run.next - 1
          ? null
          : wrong(`mark ${line.n} stands before operation ${run.next} of run ${run.line.run}`);
      case "state":
        return acceptState(run, line.n);
      case "end":
        return this.#end(run, line);
    }
  }

  /** False: an operation of the open run must not have a digest. */
  get mayHaveDigests(): boolean {
    return this.#run?.digests.mayFollow ?? false;
  }

  /** What is wrong with the place of an operation whose digest is looked at later, or null. */
  acceptPlace(n: number, op: string): StructureProblem | null {
    const run = this.#run;
    return run === null ? wrong('an "op" line outside a run') : acceptPlace(run, n, op);
  }

  /** What is wrong with the digest of an operation whose place was accepted, or null. */
  acceptDigest(line: OpLine): StructureProblem | null {
    return wrongField(this.#run?.digests.acceptOperation(line) ?? null);
  }

  /** Gives the open run up: its end is missing. */
  abandon(): void {
    this.#run = null;
  }

  #header(): StructureProblem | null {
    if (this.#hasHeader) return wrong('a second "trace" line');
    this.#hasHeader = true;
    return null;
  }

  #open(line: RunLine): StructureProblem | null {
    if (this.#runs.has(line.run)) return wrong(`a second run is named "${line.run}"`);
    this.#runs.add(line.run);
    const words = runWords(line.domain, line.config, line.derived);
    this.#run = {
      line,
      words,
      digests: new RunDigests(line, words),
      next: line.starts_at ?? 0,
      operations: 0,
      called: [],
    };
    return null;
  }

  #end(run: OpenRun, line: EndLine): StructureProblem | null {
    const { run: name, ops } = line;
    if (name !== run.line.run) {
      return wrong(`the end of run "${name}" inside run "${run.line.run}"`);
    }
    if (ops !== run.operations) {
      return wrong(`run ${name} says ${ops} operations, the file has ${run.operations}`);
    }
    this.#run = null;
    return wrongField(run.digests.acceptEnd(line));
  }
}

function acceptOperation(run: OpenRun, line: OpLine): StructureProblem | null {
  return acceptPlace(run, line.n, line.op) ?? wrongField(run.digests.acceptOperation(line));
}

function acceptPlace(run: OpenRun, n: number, op: string): StructureProblem | null {
  if (n !== run.next) return wrongNumber(run, n);
  const problem = wrongKind(run, n, op);
  if (problem !== null) return problem;
  if (run.called.length > 0) {
    const called = run.called.shift();
    if (called !== op) return wrong(`operation ${n} is ${op}, but its "call" line says ${called}`);
  }
  run.next = n + 1;
  run.operations += 1;
  return null;
}

// Calls may run ahead of their answers by as many as are in flight.
function acceptCall(run: OpenRun, n: number, op: string): StructureProblem | null {
  const expected = run.next + run.called.length;
  if (n !== expected) return wrong(`call ${n} where ${expected} is next in run ${run.line.run}`);
  const problem = wrongKind(run, n, op);
  if (problem === null) run.called.push(op);
  return problem;
}

function wrongKind(run: OpenRun, n: number, op: string): StructureProblem | null {
  const { domain } = run.line;
  if (findOperation(op)?.domain !== domain) {
    return wrong(`${op} is no operation of domain ${domain}`);
  }
  if (domain === "kv" && (n === 0) !== (op === "boot")) {
    return wrong(
      n === 0 ? `operation 0 is boot, found ${op}` : `boot is operation 0, found at ${n}`,
    );
  }
  return null;
}

function acceptState(run: OpenRun, n: number): StructureProblem | null {
  if (n === run.next - 1) return null;
  return wrong(`the state of operation ${n} after operation ${run.next - 1}`);
}

function wrongNumber(run: OpenRun, n: number): StructureProblem {
  const what = n < run.next ? "repeated" : "gap: missing";
  const missing = n < run.next ? `operation ${n}` : `operation ${run.next}`;
  return wrong(`${what} ${missing} in run ${run.line.run}: found n ${n}, expected ${run.next}`);
}

function wrongField(problem: Problem | null): StructureProblem | null {
  return problem === null ? null : { code: "trace_structure", message: problem.message, problem };
}

function wrong(message: string): StructureProblem {
  return { code: "trace_structure", message };
}
