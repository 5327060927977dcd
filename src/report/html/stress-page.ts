// What the page of `stress` tells: every finding, the numbers, and what the seeds exercised.
import type { StressFinding, StressResult } from "../../tools/stress/stress.js";
import type { CaseView } from "../../tools/view/case-view.js";
import type { ReportCase } from "../case-report.js";
import { PLAIN } from "../palette.js";
import { stressCases } from "../stress-cases.js";
import { type Reproduce, stressText } from "../stress-text.js";
import { valueText } from "../values.js";
import { counted, grouped, listed } from "../words.js";
import type { CasesPage } from "./cases-page.js";
import { type CaseDetail, NO_DETAIL } from "./failure-html.js";

/** The run of a finding, asked once more; or why it was not, as a sentence. @public */
export type ToldFinding = CaseView | { readonly noMaps: string };

/** @public */
export interface StressPage {
  readonly result: StressResult;
  readonly told: ReadonlyMap<StressFinding, ToldFinding>;
  readonly reproduce: Reproduce;
  readonly notes: readonly string[];
}

/** What the checks demand, in the words of docs/stress.md turned round. */
const DEMANDS: Readonly<Record<string, string>> = {
  lost_write: "a live page holds what its last writer wrote until it is freed",
  unordered_overlap: "two actors touch the same bytes only in an order, if one of them writes",
  host_read_after_wait:
    "the host reads device state before the operation waits for unfinished work",
  rank_divergence: "both ranks answer alike, with the same effects and digests",
  cross_dtype_bytes: "a forward finds no bytes of a state in its pages of tokens",
  ledger_leak: "with nothing open the ledger is empty and no page is pending, vacated or fixed",
  capacity_truth: "what is answered about capacity is what a take then meets",
  refused_changed_state: "a refusal or a question changes nothing and has no effects",
  digest_drift: "the digests kept change by change are those of the state read back",
  stage_divergence: "an allocator of another stage decides alike",
  audit: "the lines alone keep the rules of the audit",
  bad_effect: "the simulated device can carry out every effect",
  expectation: "a broken contract is refused by its rule, and a legal operation is not",
  invariant: "the allocator keeps its own assertions",
  crash: "the allocator answers",
};

/** What the page is made of. @public */
export function stressPage({ result, told, reproduce, notes }: StressPage): CasesPage {
  const report = stressCases(result, reproduce);
  const details = new Map<ReportCase, CaseDetail>();
  const cases = report.suites.flatMap((suite) => suite.cases);
  for (const [index, finding] of result.findings.entries()) {
    const one = cases[index]; // a case a finding, in order
    if (one !== undefined) details.set(one, detailOf(finding, told.get(finding) ?? null));
  }
  return {
    report,
    heading: headingOf(result),
    numbers: numbersOf(result),
    notes: [...notes, ...coverageNotes(result)],
    details,
    text: stressText(result, PLAIN, true, reproduce),
  };
}

function headingOf({ verdict, findings, runs, scenarios, cases }: StressResult): string {
  const all = counted(runs + scenarios + cases, "run");
  if (findings.length > 0) {
    const checks = [...new Set(findings.map(({ signature }) => signature.check))];
    return `${counted(findings.length, "finding")} in ${all}: ${listed(checks)}.`;
  }
  if (verdict === "incomplete") return `No finding in ${all}, but that is not the whole.`;
  return `No finding in ${all}.`;
}

function numbersOf(result: StressResult): [string, string][] {
  const { verdict, runs, resumed, cases, scenarios, leftOut, findings, counts } = result;
  const numbers: [string, number][] = [
    ["findings", findings.length],
    ["runs of seeds", runs],
    ["of them found done", resumed],
    ["saved cases", cases],
    ["scenarios", scenarios],
    ["runs left out", leftOut],
    ["operations", counts.operations],
    ["answers about capacity", counts.claims],
    ["of them tried on a copy", counts.tried],
    ["states written and read back", counts.copies],
    ["stream waits", counts.waits],
  ];
  const told = numbers.filter(([name, count]) => count > 0 || name === "findings");
  return [
    ["verdict", verdict],
    ...told.map(([name, count]): [string, string] => [name, grouped(count)]),
  ];
}

function coverageNotes({ coverage }: StressResult): string[] {
  if (coverage.length === 0) return [];
  const tables = coverage.map(
    ({ name, covered, items }) => `${name} ${covered} of ${items.length}`,
  );
  return [`Exercised: ${tables.join(", ")}.`];
}

function detailOf(finding: StressFinding, told: ToldFinding | null): CaseDetail {
  const { signature, n, actors, bytes, band, profile, seed, case: file } = finding;
  const { check, component } = signature;
  const facts: [string, string][] = [["check", check]];
  if (component !== null) facts.push(["in", component]);
  if (band !== undefined && band !== component) facts.push(["band", band]);
  if (bytes !== undefined) facts.push(["bytes", bytes.map(grouped).join(" to ")]);
  if (actors !== undefined) facts.push(["actors", listed(actors)]);
  if (profile !== null) facts.push(["profile", profile]);
  if (file === null || profile !== null) facts.push(["seed", String(seed)]);
  const own = { ...NO_DETAIL, facts, n, expected: DEMANDS[check] ?? null };
  if (told === null) return own;
  if ("noMaps" in told) return { ...own, noMaps: told.noMaps };
  const { asked, answer, view } = told;
  return {
    ...own,
    asked: asked === null ? null : `${asked.op} ${valueText(asked.args)}`,
    got: asked === null ? null : (answer ?? "nothing"),
    view,
    noMaps: view === null ? "There are no page maps: the run gave no answer." : null,
  };
}
