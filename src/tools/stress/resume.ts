// What a stress run has done so far, kept beside its cases: an interrupt or a kill costs at most the runs at hand.
import { join } from "node:path";
import { textIfAny, writeWhole } from "../../workload/case-files.js";
import type { Finding } from "../findings.js";
import type { StressCounts } from "./run.js";

const VERSION = 1;
const NAME = "stress-state.json";

/** One finished run. @public */
export interface UnitResult {
  readonly run: string;
  readonly profile: string;
  readonly findings: readonly Finding[];
  readonly counts: StressCounts;
  readonly coverage: readonly (readonly [string, number])[];
  readonly case: string | null; // file of the first finding
}

/** The finished runs of one folder. @internal */
export class ResumeState {
  readonly #path: string;
  readonly #key: string;
  readonly #units = new Map<string, UnitResult>();

  /** @param key - what else a run depends on: state of another key is left aside */
  constructor(out: string, key: string) {
    this.#path = join(out, NAME);
    this.#key = key;
    for (const unit of this.#read()) this.#units.set(unit.run, unit);
  }

  get(run: string): UnitResult | undefined {
    return this.#units.get(run);
  }
  add(unit: UnitResult): void {
    this.#units.set(unit.run, unit);
  }
  /** Writes what is finished, beside the file and then in its place. */
  save(): void {
    const units = [...this.#units.values()];
    writeWhole(this.#path, `${JSON.stringify({ version: VERSION, key: this.#key, units })}\n`);
  }

  #read(): readonly UnitResult[] {
    try {
      // written whole by `save`, or by somebody else: then the version is missing
      const { version, key, units } = JSON.parse(textIfAny(this.#path) ?? "{}") as StateFile;
      return version === VERSION && key === this.#key ? units : [];
    } catch {
      return []; // none yet, or not ours to go on from: everything runs again
    }
  }
}

interface StateFile {
  readonly version: number;
  readonly key: string;
  readonly units: readonly UnitResult[];
}
