// Where in the text of a line the value of a JSON pointer stands. Only for messages: a line that is right is never searched.

/**
 * The 1-based column of the value at a pointer, or of its key; of its nearest parent where the text has no such value.
 * Columns count UTF-16 code units, as JSON parsers and most editors do.
 * @param text - valid JSON
 * @param of - `key`: of a member's name; of an item of a list its value all the same
 * @internal
 */
export function columnOf(text: string, pointer: string, of: "key" | "value" = "value"): number {
  const words = pointer
    .split("/")
    .slice(1)
    .map((word) => word.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at = pastSpace(text, 0);
  for (const [depth, word] of words.entries()) {
    const found = memberOf(text, at, word);
    if (found === null) break;
    at = of === "key" && depth === words.length - 1 ? found.key : found.value;
  }
  return at + 1;
}

interface Member {
  readonly key: number; // offset; of an item that of its value
  readonly value: number; // offset
}

/** A member of the object, or an item of the list, that begins at an offset. */
function memberOf(text: string, begin: number, word: string): Member | null {
  const isObject = text[begin] === "{";
  if (!isObject && text[begin] !== "[") return null;
  let at = pastSpace(text, begin + 1);
  for (let index = 0; at < text.length && text[at] !== "}" && text[at] !== "]"; index++) {
    const key = at;
    let name = String(index);
    if (isObject) {
      const end = endOfString(text, at);
      name = JSON.parse(text.slice(at, end)) as string; // a string of a text that has been parsed
      at = pastSpace(text, pastSpace(text, end) + 1); // behind the colon
    }
    if (name === word) return { key, value: at };
    at = pastSpace(text, endOfValue(text, at));
    if (text[at] === ",") at = pastSpace(text, at + 1);
  }
  return null;
}

function endOfValue(text: string, begin: number): number {
  let depth = 0;
  let at = begin;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      if (depth === 0) return at; // of what the value stands in
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (char === "," && depth === 0) return at;
    at += 1;
  }
  return at;
}

/** Behind the closing quote of the string that begins at an offset. @internal */
export function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** @internal */
export function pastSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r" || text[at] === "\n") at += 1;
  return at;
}
