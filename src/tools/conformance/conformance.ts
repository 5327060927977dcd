// The protocol's own test of an implementation: numbered checks, each with its verdict. A check that cannot say
// anything, because an earlier one failed or the implementation lacks what it is about, is skipped with the reason.
import type { AdapterInfo } from "../../adapter/adapter.js";
import type { MakeTransport } from "../../adapter/open-transport.js";
import { CandidateError } from "../../base/errors.js";
import type { Domain, RunConfig } from "../../base/operations.js";
import type { Check, CheckOutcome } from "./check.js";
import {
  CONVERSATION_CHECKS,
  endsWithItsInput,
  helloProblem,
  refusesBadLine,
  unknownOperations,
} from "./checks-conversation.js";
import { DIGEST_CHECKS } from "./checks-digests.js";
import { TRUTH_CHECKS } from "./checks-truth.js";
import type { Waits } from "./conversation.js";
import { Fault } from "./fault.js";
import { measureRates, type Rates, type StartWithWindow } from "./rate.js";
import { soak } from "./soak.js";
import { type Stage, stageFor, Subject } from "./subject.js";

/** @public */
export interface CheckResult {
  readonly number: number; // from 1
  readonly domain: Domain | null; // null: of the program, whatever it answers
  readonly name: string;
  readonly verdict: "passed" | "failed" | "skipped";
  readonly message: string | null; // what is wrong, why it was skipped, or a remark
  readonly sent: readonly string[]; // the lines in question
  readonly came: readonly string[];
}

/** @public */
export interface ConformanceResult {
  readonly verdict: "passed" | "failed";
  readonly hasHello: boolean; // false: the handshake failed, and nothing else could be asked
  readonly info: AdapterInfo | null;
  readonly checks: readonly CheckResult[];
  readonly runs: number; // opened
  readonly operations: number; // asked, in all runs
  /** Operations that its hello lists and no check asked, with all of them. */
  readonly unasked: readonly string[];
  readonly rates: Readonly<Partial<Record<Domain, Rates>>> | null; // null: not measured
}

/** @public */
export interface ConformanceOptions {
  readonly make: MakeTransport;
  readonly waits: Waits;
  readonly toolVersion: string;
  readonly domain?: Domain; // only this one
  readonly config?: RunConfig; // for its runs
  readonly operations?: number; // of the soak; none without
  readonly rate?: { readonly start: StartWithWindow; readonly now: () => number };
  readonly signal?: AbortSignal;
  readonly onCheck?: (number: number, name: string) => void;
}

// The checks that all the others stand on: opening, answering one at a time, answering many in flight.
const GROUND = 3;

/** Tests an implementation. Throws `CandidateError` where there is nothing to test. @public */
export async function testConformance(options: ConformanceOptions): Promise<ConformanceResult> {
  const examination = new Examination(options);
  try {
    return await examination.run();
  } finally {
    await examination.dispose();
  }
}

class Examination {
  readonly #options: ConformanceOptions;
  readonly #subject: Subject;
  readonly #checks: CheckResult[] = [];
  readonly #asked = new Set<string>();
  #rates: Partial<Record<Domain, Rates>> | null = null;

  constructor(options: ConformanceOptions) {
    this.#options = options;
    this.#subject = new Subject(options.make, options.waits, options.toolVersion);
  }

  async run(): Promise<ConformanceResult> {
    const info = await this.#greet();
    if (info !== null && !this.#hasFailed()) {
      for (const domain of this.#domainsOf(info)) await this.#examine(info, domain);
      await this.#check(null, "a line that is no message is refused", () =>
        this.#subject.with(refusesBadLine),
      );
      await this.#check(null, "it ends when its input ends", () =>
        this.#subject.with(endsWithItsInput),
      );
    }
    return {
      verdict: this.#hasFailed() ? "failed" : "passed",
      hasHello: info !== null,
      info,
      checks: this.#checks,
      runs: this.#subject.runs,
      operations: this.#subject.operations,
      unasked: (info?.ops ?? []).filter((op) => !this.#asked.has(op)),
      rates: this.#rates,
    };
  }

  dispose(): Promise<void> {
    return this.#subject.dispose();
  }

  async #greet(): Promise<AdapterInfo | null> {
    let info: AdapterInfo | null = null;
    await this.#check(null, "its hello is one well-formed line, protocol 1", () =>
      this.#subject.with(async (_conversation, greeted) => {
        const problem = helloProblem(greeted.domains, greeted.ops);
        if (problem !== null) throw new Fault(`its hello is wrong: ${problem}`);
        info = greeted;
        const unknown = unknownOperations(greeted.ops);
        if (unknown.length === 0) return { note: null };
        return { note: `"ops" names what this version does not know: ${unknown.join(", ")}` };
      }),
    );
    return info;
  }

  #domainsOf(info: AdapterInfo): readonly Domain[] {
    const { domain } = this.#options;
    if (domain === undefined) return info.domains;
    if (info.domains.includes(domain)) return [domain];
    const message = `it does not answer domain ${domain}, only ${info.domains.join(" and ")}`;
    throw new CandidateError("candidate_handshake", message);
  }

  async #examine(info: AdapterInfo, domain: Domain): Promise<void> {
    const before = this.#checks.length;
    const stage = await stageFor(this.#subject, info, domain, this.#options.config ?? null);
    const { operations = 0, rate } = this.#options;
    const all: readonly Check[] = [
      ...CONVERSATION_CHECKS,
      ...TRUTH_CHECKS,
      ...DIGEST_CHECKS,
      ...(operations > 0
        ? [{ name: "a long run at full window, twice", run: (s: Stage) => soak(s, operations) }]
        : []),
    ];
    for (const [index, { name, run }] of all.entries()) {
      await this.#check(domain, name, () => {
        // what answers at all is the ground of everything after it
        const broken = this.#checks
          .slice(before, before + Math.min(index, GROUND))
          .find(({ verdict }) => verdict === "failed");
        if (broken !== undefined)
          return Promise.resolve({ skipped: `check ${broken.number} failed` });
        const isNeeded = index >= GROUND && stage.operations.length === 0;
        if (isNeeded) return Promise.resolve({ skipped: "no operation could be sent" });
        return run(stage);
      });
    }
    for (const { op } of stage.operations) this.#asked.add(op);
    if (rate === undefined || this.#hasFailed()) return;
    this.#rates = { ...this.#rates, [domain]: await measureRates(stage, rate.start, rate.now) };
  }

  async #check(
    domain: Domain | null,
    name: string,
    run: () => Promise<CheckOutcome>,
  ): Promise<void> {
    const number = this.#checks.length + 1;
    this.#options.signal?.throwIfAborted();
    this.#options.onCheck?.(number, name);
    const about = { number, domain, name };
    try {
      const outcome = await run();
      const isSkipped = "skipped" in outcome;
      this.#checks.push({
        ...about,
        verdict: isSkipped ? "skipped" : "passed",
        message: isSkipped ? outcome.skipped : outcome.note,
        sent: [],
        came: [],
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { message, sent, came } = error;
      this.#checks.push({ ...about, verdict: "failed", message, sent, came });
    }
  }

  #hasFailed(): boolean {
    return this.#checks.some(({ verdict }) => verdict === "failed");
  }
}
