// The text and the document of `conformance`: each check with its verdict, then the summary.
import type { CheckResult, ConformanceResult } from "../tools/conformance/conformance.js";
import type { Palette } from "./palette.js";
import { counted, grouped, shortened, visible } from "./words.js";

const LINE_MAX = 240;
const UNASKED_MAX = 12;

/** @public */
export function conformanceText(result: ConformanceResult, spec: string, palette: Palette): string {
  const lines = [`tested  ${visible(spec)}${aboutOf(result)}`];
  for (const check of result.checks) lines.push(...checkLines(check, palette));
  const { unasked, rates } = result;
  if (unasked.length > 0 && result.operations > 0) {
    const named = unasked.slice(0, UNASKED_MAX).map(visible).join(", ");
    const more = unasked.length > UNASKED_MAX ? ` and ${unasked.length - UNASKED_MAX} more` : "";
    lines.push(palette.dim(`not asked: ${named}${more}`));
  }
  for (const [domain, { window1, window256 }] of Object.entries(rates ?? {})) {
    const ratio = (window256 / window1).toFixed(1);
    lines.push(
      `${domain}: ${grouped(window256)} operations a second at window 256, ${grouped(window1)} at window 1 (${ratio}x)`,
    );
  }
  lines.push(summary(result, palette));
  return lines.join("\n");
}

function aboutOf({ info }: ConformanceResult): string {
  if (info === null) return "";
  const { name, version, domains, ops, digest, fx } = info;
  const parts = [
    `domain${domains.length === 1 ? "" : "s"} ${domains.join(" and ")}`,
    counted(ops.length, "operation"),
    digest === null ? "no digests" : `digests of depth ${digest}`,
    fx ? "effects" : "no effects",
  ];
  return `: ${visible(name)} ${visible(version)}, ${parts.join(", ")}`;
}

function checkLines(check: CheckResult, palette: Palette): string[] {
  const { number, domain, name, verdict, message, sent, came } = check;
  const title = domain === null ? name : `${domain}: ${name}`;
  const head = `${String(number).padStart(3)}  `;
  if (verdict === "passed") {
    const remark =
      message === null ? "" : palette.dim(` (${visible(shortened(message, LINE_MAX))})`);
    return [`${head}${palette.good("passed ")}  ${title}${remark}`];
  }
  if (verdict === "skipped")
    return [`${head}${palette.warn("skipped")}  ${title} (${visible(message ?? "")})`];
  const lines = [
    `${head}${palette.bad("failed ")}  ${title}`,
    `              ${visible(message ?? "")}`,
  ];
  for (const line of sent) lines.push(`              sent  ${visible(shortened(line, LINE_MAX))}`);
  for (const line of came) lines.push(`              came  ${visible(shortened(line, LINE_MAX))}`);
  return lines;
}

function summary(
  { verdict, checks, runs, operations }: ConformanceResult,
  palette: Palette,
): string {
  const count = (word: CheckResult["verdict"]): number =>
    checks.filter((check) => check.verdict === word).length;
  const looked = [
    `${grouped(count("passed"))} of ${counted(checks.length, "check")} passed`,
    `${grouped(count("failed"))} failed`,
    `${grouped(count("skipped"))} skipped`,
    `${counted(runs, "run")} and ${counted(operations, "operation")} asked`,
  ];
  const paint = verdict === "passed" ? palette.good : palette.bad;
  return paint(`${verdict}: ${looked.join(", ")}`);
}

/** The document of `conformance`. @public */
export function conformanceJson(result: ConformanceResult, spec: string): unknown {
  const { verdict, info, checks, runs, operations, unasked, rates } = result;
  return {
    command: "conformance",
    verdict,
    implementation:
      info === null
        ? { spec, name: null }
        : {
            spec,
            name: info.name,
            version: info.version,
            revision: info.revision,
            dirty: info.dirty,
            domains: info.domains,
            ops: info.ops,
            digest: info.digest,
            fx: info.fx,
            from_state: info.fromState,
          },
    checks,
    runs,
    operations,
    unasked,
    rates:
      rates === null
        ? null
        : Object.fromEntries(
            Object.entries(rates).map(([domain, { window1, window256 }]) => [
              domain,
              { window_1: window1, window_256: window256 },
            ]),
          ),
  };
}
