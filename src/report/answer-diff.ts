// Two answers side by side: the fields that differ as `-` base and `+` candidate, and what agrees. What is printed of
// two sides always differs visibly: where two values look alike as text, their JSON stands there instead.
import { diffArrays } from "diff";
import type { Answer } from "../base/operations.js";
import type { FieldDifference } from "../tools/outcome.js";
import { answerLeaves, valueText } from "./values.js";
import type { Leaf } from "./values.js";
import { shortened, visible } from "./words.js";

/** One line of a diff. @public */
export interface DiffLine {
  readonly sign: "-" | "+" | " ";
  readonly text: string;
}

const LINES_MAX = 24;
const TEXT_MAX = 160;
const CONTEXT = 24; // characters before the place where two lines part

/** The differing lines of two answers. @public */
export function answerDiff(
  base: Answer | null,
  candidate: Answer | null,
  isWhole: boolean,
): DiffLine[] {
  const left = answerLeaves(base).map(leafLine);
  const right = answerLeaves(candidate).map(leafLine);
  const lines: DiffLine[] = [];
  let removed: readonly string[] = [];
  for (const change of diffArrays(left, right)) {
    if (change.removed) {
      removed = change.value;
      continue;
    }
    pushBlock(lines, removed, change.added ? change.value : [], isWhole);
    removed = [];
  }
  pushBlock(lines, removed, [], isWhole);
  return limited(lines, isWhole);
}

// Lines that replace each other stand together, cut around the place where they part.
function pushBlock(
  lines: DiffLine[],
  removed: readonly string[],
  added: readonly string[],
  isWhole: boolean,
): void {
  for (let i = 0; i < Math.max(removed.length, added.length); i++) {
    const [left, right] = isWhole ? [removed[i], added[i]] : contrasted(removed[i], added[i]);
    if (left !== undefined) lines.push({ sign: "-", text: left });
    if (right !== undefined) lines.push({ sign: "+", text: right });
  }
}

type Side = string | undefined;

function contrasted(left: Side, right: Side): [Side, Side] {
  if (left === undefined || right === undefined) {
    return [left && shortened(left, TEXT_MAX), right && shortened(right, TEXT_MAX)];
  }
  if (Math.max(left.length, right.length) <= TEXT_MAX) return [left, right];
  let common = 0;
  while (common < left.length && left[common] === right[common]) common += 1;
  const path = left.slice(0, left.indexOf(" ") + 1);
  const from = Math.max(path.length, common - CONTEXT);
  const cut = (text: string): string => {
    const start = from > path.length ? `${path}… ` : path;
    return start + shortened(text.slice(from), TEXT_MAX - path.length);
  };
  return [cut(left), cut(right)];
}

/** The differing fields one by one, for what is no answer (states, operations). @public */
export function fieldDiff(fields: readonly FieldDifference[], isWhole: boolean): DiffLine[] {
  const lines = fields.flatMap(({ path, base, candidate }): DiffLine[] => {
    const [left, right] = visiblyDifferent(base, candidate).map(
      (text) => `${visible(path)} ${text}`,
    );
    const shown = isWhole ? [left, right] : contrasted(left, right);
    return [
      { sign: "-", text: shown[0] ?? "" },
      { sign: "+", text: shown[1] ?? "" },
    ];
  });
  return limited(lines, isWhole);
}

/** Paths on which both answers agree, the shortest that say it. @public */
export function agreeingFields(base: Answer | null, candidate: Answer | null): string[] {
  if (base === null || candidate === null) return [];
  const others = new Map(answerLeaves(candidate).map(({ path, text }) => [path, text]));
  const agreeing = new Map<string, boolean>();
  for (const { path, text } of answerLeaves(base)) {
    if (path === "fx") continue;
    const name = path.split(".").at(-1) ?? path;
    agreeing.set(name, (agreeing.get(name) ?? true) && others.get(path) === text);
  }
  return [...agreeing].filter(([, isSame]) => isSame).map(([name]) => name);
}

/** Two values as text that differs, as the values do. @public */
export function visiblyDifferent(base: unknown, candidate: unknown): [string, string] {
  const left = valueText(base);
  const right = valueText(candidate);
  if (left !== right) return [left, right];
  const json = (value: unknown): string =>
    value === undefined ? "nothing" : visible(JSON.stringify(value));
  return [json(base), json(candidate)];
}

/** Two long texts, each cut around the place where they part, so that what is left differs. @public */
export function contrastedTexts(left: string, right: string, most: number): [string, string] {
  if (Math.max(left.length, right.length) <= most) return [left, right];
  let common = 0;
  while (common < left.length && left[common] === right[common]) common += 1;
  const isEarly = common < most - CONTEXT;
  const from = isEarly ? 0 : common - CONTEXT;
  const cut = (text: string): string =>
    `${isEarly ? "" : "… "}${shortened(text.slice(from), most)}`;
  return [cut(left), cut(right)];
}

function leafLine({ path, text }: Leaf): string {
  return `${path} ${text}`;
}

function limited(lines: readonly DiffLine[], isWhole: boolean): DiffLine[] {
  if (isWhole) return [...lines];
  const shown = lines.slice(0, LINES_MAX);
  const left = lines.length - shown.length;
  if (left > 0) shown.push({ sign: " ", text: `… ${left} more lines differ; --verbose shows all` });
  return shown;
}
