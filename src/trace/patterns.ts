// The words of a trace as regular expressions.
import type { KeyKind, NameKind, TextRule } from "./fields.js";
import { NAME_LETTERS } from "./fields.js";

const NAME_REST = "[A-Za-z0-9_.:-]*$";
/** Lower-case words; `x_` is kept for extensions. */
const WORD = "^(?!x_)[a-z][a-z0-9_]*$";

/** The pattern of a name, without slashes. @public */
export function namePattern(kind: NameKind): string {
  const letter = NAME_LETTERS[kind];
  return letter === "" ? "^[A-Za-z0-9_.:-]+$" : `^${letter}${NAME_REST}`;
}

/** Patterns of texts; null where any text will do. @public */
export const TEXT_PATTERNS: Readonly<Record<TextRule, string | null>> = {
  any: null,
  word: WORD,
  hex64: "^[0-9a-f]{16}$",
  band: WORD,
  limit: WORD,
  holder: "^[A-Za-z0-9_.:-]+$",
  signal: `^[fct]${NAME_REST}`,
};

/** Patterns of a map's keys; null where any key will do. @public */
export const KEY_PATTERNS: Readonly<Record<KeyKind, string | null>> = {
  band: WORD,
  pages: WORD,
  request: namePattern("request"),
  component: WORD,
  purpose: "^(main|track|replace|cow)$",
  word: WORD,
  any: null,
};

const compiled = new Map<string, RegExp>();

/** Whether a text follows a pattern; null means any text. @internal */
export function matches(pattern: string | null, text: string): boolean {
  if (pattern === null) return true;
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern);
    compiled.set(pattern, expression);
  }
  return expression.test(text);
}
