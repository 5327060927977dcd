// What a stress run has done so far, kept beside its cases: an interrupt or a kill costs at most the runs at hand.
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { fileStamp, renameFile, withLock, writeWhole } from "../../workload/case-files.js";
import { readJsonFile, readText } from "../../workload/json-file.js";
import type { Finding } from "../findings.js";
import { stateProblem } from "./resume-spec.js";
import type { StressCounts } from "./run.js";

const VERSION = 1;
const NAME = "stress-state.json";
const OLD_NAME = "stress-state.old.json";
const BYTES_MAX = 2 ** 29 - 1; // a text cannot be much longer

/** One finished run. @public */
export interface UnitResult {
  readonly run: string;
  readonly profile: string;
  readonly findings: readonly Finding[];
  readonly counts: StressCounts;
  readonly coverage: readonly (readonly [string, number])[];
  readonly case: string | null; // file of the first finding
}

/** The finished runs of one folder. Several commands may share it: what others finished is kept. @internal */
export class ResumeState {
  readonly #path: string;
  readonly #key: string;
  readonly #old: string;
  readonly #units = new Map<string, UnitResult>();
  #stamp: string | null = null; // of the file that was read or written last
  /** What was set aside, and as which file; null: nothing. Null runs: another version counts its own way. */
  setAside: { readonly runs: number | null; readonly file: string } | null = null;

  /**
   * @param key - what else a run depends on: state of another key or version is set aside. Throws `InputError` for a
   * file that is no state: it may be dear to somebody
   */
  constructor(out: string, key: string) {
    this.#path = join(out, NAME);
    this.#old = join(out, OLD_NAME);
    this.#key = key;
    this.#join();
  }

  /** Every finished run, those of others too. */
  get units(): Iterable<UnitResult> {
    return this.#units.values();
  }
  add(unit: UnitResult): void {
    this.#units.set(unit.run, unit);
  }
  /** Writes what is finished, beside the file and then in its place. */
  save(): void {
    withLock(`${this.#path}.lock`, () => {
      this.#join();
      const units = [...this.#units.values()];
      writeWhole(this.#path, `${JSON.stringify({ version: VERSION, key: this.#key, units })}\n`);
      this.#stamp = fileStamp(this.#path);
    });
  }

  /** Takes in what stands in the file, unless it is what was seen there last. */
  #join(): void {
    const stamp = fileStamp(this.#path);
    if (stamp === null || stamp === this.#stamp) return;
    const state = readState(this.#path);
    if (state.version !== VERSION || state.key !== this.#key) {
      renameFile(this.#path, this.#old);
      const runs = state.version === VERSION ? state.units.length : null;
      this.setAside = { runs, file: this.#old };
    } else for (const unit of state.units) if (!this.#units.has(unit.run)) this.add(unit);
  }
}

interface StateFile {
  readonly version: number;
  readonly key: string;
  readonly units: readonly UnitResult[]; // of this version
}

/** Throws `InputError` for what is no state of any version. */
function readState(file: string): StateFile {
  try {
    const value = parsed(file, readText(file, BYTES_MAX));
    const problem = stateProblem(value, VERSION);
    if (problem === null) return value as StateFile; // just checked
    const message = `at ${problem.path === "" ? "/" : problem.path}: ${problem.message}`;
    throw new InputError("input_format", message, { file, path: problem.path });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, message, place } = error;
    const advice = "no state of stress: move it away, or name another folder with --out";
    throw new InputError(code, `${message}; ${advice}`, place, error);
  }
}

/** The strict parser names the place of a mistake; it is too slow for long files that have none. */
function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return readJsonFile(file).value;
  }
}
