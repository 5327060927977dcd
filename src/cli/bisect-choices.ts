// Which of the three searches of `bisect` the flags ask for. A flag of another search is refused: a mistyped request
// must not look as if it had been heard.
import type { Command } from "commander";
import { UsageError } from "../base/errors.js";
import { sizeIn } from "./flags.js";
import type { ImplementationFlags } from "./implementation.js";
import type { ReadingFlags } from "./reading.js";

/** @internal */
export interface BisectFlags extends ImplementationFlags, ReadingFlags {
  readonly trace?: string;
  readonly run?: string;
  readonly good?: string;
  readonly bad?: string;
  readonly firstParent?: boolean;
  readonly first?: boolean;
  readonly skipUnsupported?: boolean;
  readonly operations?: boolean;
  readonly check?: string;
  readonly candidate?: string;
  readonly impl?: string;
  readonly key?: KeyRange;
  readonly by: "refusals" | "answers";
  readonly timeBudget?: number; // seconds
}

/** `KEY=GOOD:BAD[:STEP]`. @internal */
export interface KeyRange {
  readonly key: string;
  readonly good: number;
  readonly bad: number;
  readonly step: number;
}

/** Reads `--key`. @internal */
export function keyRange(text: string): KeyRange {
  const at = text.indexOf("=");
  const key = text.slice(0, Math.max(0, at));
  const numbers = text
    .slice(at + 1)
    .split(":")
    .map(sizeIn);
  const [good = NaN, bad = NaN, step = 1] = numbers;
  const isRead = [good, bad, step].every((value) => Number.isSafeInteger(value));
  if (!isRead || !/^[\w.+/-]+$/.test(key) || numbers.length > 3 || step < 1) {
    throw new UsageError(
      `--key ${text}: expected KEY=GOOD:BAD or KEY=GOOD:BAD:STEP, such as arena_bytes=8g:1g:1m`,
    );
  }
  if (good === bad) throw new UsageError(`--key ${text}: GOOD and BAD are the same value`);
  return { key, good, bad, step };
}

/** @internal */
export type BisectMode =
  | { readonly over: "commits"; readonly good: string; readonly bad: string }
  | { readonly over: "states" }
  | { readonly over: "check"; readonly check: string }
  | { readonly over: "key"; readonly range: KeyRange };

type ModeFlag =
  | "good"
  | "bad"
  | "firstParent"
  | "first"
  | "skipUnsupported"
  | "build"
  | "operations"
  | "check"
  | "candidate"
  | "impl"
  | "key"
  | "by";

const FLAGS: Readonly<Record<BisectMode["over"], readonly ModeFlag[]>> = {
  commits: ["good", "bad", "firstParent", "first", "skipUnsupported", "build"],
  states: ["operations", "candidate", "impl", "build"],
  check: ["operations", "check"],
  key: ["key", "by", "candidate", "build"],
};
const ALL = [...new Set(Object.values(FLAGS).flat())];

/** The search that is asked for. Throws `UsageError` where it is none, or two. @internal */
export function bisectMode(flags: BisectFlags, command: Command): BisectMode {
  const mode = modeOf(flags);
  const allowed = FLAGS[mode.over];
  for (const name of ALL) {
    if (allowed.includes(name) || command.getOptionValueSource(name) !== "cli") continue;
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${flag} does not go with ${TITLES[mode.over]}`);
  }
  return mode;
}

const TITLES: Readonly<Record<BisectMode["over"], string>> = {
  commits: "--good and --bad",
  states: "--operations",
  check: "--check",
  key: "--key",
};

function modeOf({ good, bad, operations, check, key }: BisectFlags): BisectMode {
  if (key !== undefined) return { over: "key", range: key };
  if (check !== undefined) return { over: "check", check };
  if (operations === true) return { over: "states" };
  if (good !== undefined && bad !== undefined) return { over: "commits", good, bad };
  const given =
    good === undefined
      ? bad === undefined
        ? ""
        : `--bad ${bad} alone: `
      : `--good ${good} alone: `;
  throw new UsageError(
    `${given}bisect takes --good REF and --bad REF, --operations, --check COMMAND, or --key KEY=GOOD:BAD`,
  );
}
