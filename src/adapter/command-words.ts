// Splits a command line into words without a shell: quotes and backslashes only. No variable, pattern, pipe or
// redirection means anything here.
import { UsageError } from "../base/errors.js";

/**
 * The words of a command line. Words are separated by spaces and tabs; `'…'` is taken as it stands; inside `"…"` a
 * backslash quotes `"` and `\`; outside of quotes it quotes a space, a tab, a quote or a backslash and stands for itself before anything else.
 * Quotes around the whole text are taken off first, so that `cmd:"node x.js"` also works where no shell took them.
 * Throws `UsageError` for an unclosed quote and for no word at all. @public
 */
export function splitCommandWords(text: string): string[] {
  const trimmed = text.trim();
  const inner = unwrapped(trimmed);
  const words = readWords(inner ?? trimmed);
  if (words.length === 0 || words[0] === "") {
    throw new UsageError(
      "no program is named: expected a command line such as cmd:node adapter.mjs",
    );
  }
  return words;
}

// The text inside when one pair of quotes encloses everything.
function unwrapped(text: string): string | null {
  const quote = text[0];
  if (text.length < 2 || (quote !== '"' && quote !== "'")) return null;
  return text.indexOf(quote, 1) === text.length - 1 ? text.slice(1, -1) : null;
}

function readWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null; // null between words, so that "" can be a word
  let at = 0;
  while (at < text.length) {
    const char = text[at]!; // at < length
    if (char === " " || char === "\t") {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else if (char === "'" || char === '"') {
      const [quoted, next] = readQuoted(text, at);
      word = (word ?? "") + quoted;
      at = next;
    } else if (char === "\\" && at + 1 < text.length && " \t'\"\\".includes(text[at + 1]!)) {
      word = (word ?? "") + text[at + 1]!;
      at += 2;
    } else {
      word = (word ?? "") + char;
      at += 1;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

// The text between the quote at `from` and its partner, and the place after it.
function readQuoted(text: string, from: number): readonly [quoted: string, next: number] {
  const quote = text[from];
  let quoted = "";
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at]!; // at < length
    if (char === quote) return [quoted, at + 1];
    const next = text[at + 1];
    if (quote === '"' && char === "\\" && (next === '"' || next === "\\")) {
      quoted += next;
      at += 1;
    } else {
      quoted += char;
    }
  }
  throw new UsageError(
    `the quote at character ${from + 1} of the command line is never closed: ${text}`,
  );
}
