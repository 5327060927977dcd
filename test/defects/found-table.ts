// The table of planted defects in docs/.
import type { Defect } from "./defect.js";
import type { Found } from "./search.js";
import type { Shrunk } from "./shrunk.js";

/** What is known of one defect. */
export interface Entry extends Found {
  readonly name: string;
  readonly shrunk: Shrunk | null; // null: not found by the stress harness, or not shrunk yet
  /** Digest of the sources it was found with. */
  readonly of?: string;
}

/** The page. */
export function tableOf(defects: readonly Defect[], entries: readonly Entry[]): string {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const rows = defects.map((defect) => rowOf(defect, byName.get(defect.name)));
  const found = entries.filter(({ stress }) => stress !== null).length;
  const audited = entries.filter(({ observers }) => observers.audit !== undefined).length;
  return [
    ...HEAD,
    `${defects.length} defects; the stress harness finds ${found}, the auditor ${audited}. ${sizesOf(entries)}`,
    "",
    ...COLUMNS,
    ...rows,
    "",
  ].join("\n");
}

function rowOf({ name, row, where, about }: Defect, entry: Entry | undefined): string {
  const stress = entry?.stress ?? null;
  const { audit, device, idle, compare } = entry?.observers ?? {};
  const sight = (found: { readonly what: string; readonly runs: number } | undefined): string =>
    found === undefined ? "" : `\`${found.what}\`, ${found.runs}`;
  const first =
    stress === null
      ? compare === undefined
        ? "not found"
        : `compare: ${compare.what}, ${compare.runs}`
      : `\`${stress.check}\`, ${stress.runs}`;
  const others = (stress?.checks ?? [])
    .filter((check) => check !== stress?.check)
    .map((check) => `\`${check}\``);
  const cells = [
    where === "device" ? `\`${name}\` (device)` : `\`${name}\``,
    row === null ? "" : String(row),
    about,
    first,
    others.join(" "),
    sight(audit),
    sight(device),
    sight(idle),
    sizeOf(entry?.shrunk ?? null),
  ];
  return `| ${cells.join(" | ")} |`;
}

function sizeOf(shrunk: Shrunk | null): string {
  if (shrunk === null) return "not yet";
  return shrunk.isMinimal ? String(shrunk.ops) : `${shrunk.ops}, not minimal`;
}

/** Median and maximum of the cases' sizes. */
export function sizesOf(entries: readonly Entry[]): string {
  const sizes = entries.flatMap(({ shrunk }) => (shrunk === null ? [] : [shrunk.ops]));
  sizes.sort((left, right) => left - right);
  const cut = entries.filter(({ shrunk }) => shrunk?.isMinimal === false).length;
  const most = `${sizes.length} are shrunk, to ${medianOf(sizes)} operations in the median and ${sizes.at(-1) ?? 0} at most`;
  return `Of these ${most}; ${cut === 0 ? "nothing more can go from any of them" : `from ${cut} something still can`}.`;
}

/** The middle one of sorted numbers. */
export function medianOf(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1] ?? 0;
}

const HEAD = [
  "# Planted defects",
  "",
  "Checks that find nothing prove nothing. Each of these mistakes is put into the allocator, or into the modelled device, by",
  "a test (`test/defects/`); production code has no switch for them. Ten of them (`blind-…`) were made from the allocator's",
  "code alone, before anything about the checks was read.",
  "",
  "The runs are those of `unified-trace stress` with 400 operations, seed by seed, each seed on all five layouts: run 1 is seed 0",
  "on the first layout, run 6 is seed 1 on it. *Found first by* names the stress harness's check and the run; *told as well* what",
  "else its next few finding runs tell. *Audit* is the trace alone, *device* the simulated device, *idle* the checks of",
  "`check.idle`, each by itself over the first 40 runs. Where only a comparison with the second allocator shows a defect, the run",
  "is one in which the two agree without it. *Shrunk* is the number of operations, `boot` included, of the smallest case",
  "(`test/defects/cases/`). `node scripts/planted-defects.mjs` looks for all of them anew.",
  "",
];
const COLUMNS = [
  "| defect | hazard | what is wrong | found first by, run | told as well | audit, run | device, run | idle, run | shrunk |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
];
