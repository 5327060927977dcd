// What a trace and a candidate say of themselves before anything runs: what differs is told, and what cannot be replayed
// is refused.
import type { Adapter, Commit } from "../adapter/adapter.js";
import { CandidateError } from "../base/errors.js";
import type { Domain } from "../base/operations.js";
import type { RunLine } from "../trace/lines.js";
import { isReadAgain } from "../trace/reader-input.js";
import { kindsAhead, kindsDifference, lackingKinds, unanswered } from "./missing-kinds.js";
import type { LookAhead } from "./missing-kinds.js";
import { adapterSide, sideDifferences } from "./sides.js";
import type { TraceSide } from "./sides.js";
import type { SideDifference, SideInfo } from "./outcome.js";

const SKIPPING = "--skip-unsupported leaves them out and makes the verdict incomplete";

/** @internal */
export interface HandshakeOptions {
  readonly trace: string;
  readonly candidate: string; // what the user named
  readonly skipUnsupported: boolean;
  readonly isChosen: (run: string, index: number) => boolean; // whether a run is compared
  readonly commit: Promise<Commit> | null; // the candidate's, null: its info has it
  readonly onLacking?: ((kinds: readonly string[]) => void) | undefined;
  readonly onDifferences?: ((found: readonly SideDifference[]) => void) | undefined;
}

/** One comparison's handshake: before every run its domain, once for a domain its operation kinds. @internal */
export class Handshake {
  readonly #options: HandshakeOptions;
  #candidate: SideInfo | null = null;
  #commit: Commit | null = null;
  readonly #lacking: string[] = [];
  readonly #told = new Set<Domain>();

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /**
   * Before a run is opened. Throws `CandidateError` for a domain, a start from a state, or operation kinds met ahead that
   * the candidate lacks.
   */
  async shake(
    adapter: Adapter,
    line: RunLine,
    startsFromState: boolean,
    side: TraceSide,
  ): Promise<void> {
    const { candidate } = this.#options;
    if (!adapter.info.domains.includes(line.domain)) {
      throw refusal(`${candidate} does not answer domain ${line.domain} of run ${line.run}`);
    }
    if (startsFromState && !adapter.info.fromState) {
      throw refusal(`${candidate} cannot start run ${line.run} from a state`);
    }
    this.#candidate = adapterSide(candidate, adapter, side.info());
    if (this.#told.has(line.domain)) return;
    this.#told.add(line.domain);
    const lacking = lackingKinds(adapter, line.domain);
    this.#lacking.push(...lacking);
    const ahead = await this.#lookAhead(lacking);
    const met = ahead.met.map(({ op }) => op);
    side.kinds(ahead.met);
    const [first] = ahead.met;
    if (first !== undefined && !this.#options.skipUnsupported) throw this.#missing(met, first.run);
    const kinds = ahead.isWhole ? met : lacking;
    if (kinds.length > 0) this.#options.onLacking?.(kinds);
    const { onDifferences } = this.#options;
    if (onDifferences === undefined) return;
    await this.settle();
    onDifferences(this.differences(side));
  }

  /** Waits for the candidate's commit, which is looked for while the comparison works already. */
  async settle(): Promise<void> {
    this.#commit = await this.#options.commit;
  }

  /** Null when the candidate answers every kind among the lines; refuses others unless they may be skipped. */
  answeredKinds(
    adapter: Adapter,
    lines: readonly { readonly op: string }[],
    run: string,
  ): ReadonlySet<string> | null {
    const known = new Set<string>(adapter.info.ops);
    const missing = unanswered(lines, known);
    if (missing.length === 0) return null;
    if (this.#options.skipUnsupported) return known;
    throw this.#missing(missing, run);
  }

  /** An operation that the candidate listed and does not answer after all; throws unless it may be skipped. */
  meetUnsupported(op: string, n: number, run: string): void {
    if (this.#options.skipUnsupported) return;
    const what = `${this.#options.candidate} does not answer ${op} (operation ${n} of run ${run})`;
    throw refusal(`${what}; ${SKIPPING.replace("them", "it")}`);
  }

  /** Whether the candidate lacks operation kinds of a domain that was met. */
  get isLacking(): boolean {
    return this.#lacking.length > 0;
  }

  /** The candidate as a side of the report, null before the first handshake. */
  candidateSide(base: SideInfo): SideInfo | null {
    const { configHash, pageSizes } = base;
    if (this.#candidate === null) return null;
    return { ...this.#candidate, ...this.#commit, configHash, pageSizes };
  }

  /** Everything in which the two sides differ. */
  differences(side: TraceSide): readonly SideDifference[] {
    const base = side.info();
    const candidate = this.candidateSide(base);
    if (candidate === null) return [];
    const kinds = kindsDifference(this.#lacking, side.operationKinds);
    return [...sideDifferences(base, candidate), ...(kinds === null ? [] : [kinds])];
  }

  // Standard input is read once, by the comparison.
  async #lookAhead(lacking: readonly string[]): Promise<LookAhead> {
    const { trace, isChosen } = this.#options;
    const isRead = lacking.length > 0 && isReadAgain(trace);
    if (!isRead) return { met: [], isWhole: lacking.length === 0 };
    return kindsAhead(trace, lacking, isChosen);
  }

  #missing(kinds: readonly string[], run: string): CandidateError {
    const list = [...kinds].sort().join(", ");
    return refusal(
      `${this.#options.candidate} does not answer ${list}, used by run ${run}; ${SKIPPING}`,
    );
  }
}

function refusal(message: string): CandidateError {
  return new CandidateError("candidate_handshake", message);
}
