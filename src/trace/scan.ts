// One pass over the bytes of a line, before it is parsed: how many keys, how deep, whether plain ASCII.

/** What the bytes of a line show. Reused: a scan overwrites it. @internal */
export class LineScan {
  keys = 0; // colons outside strings
  depth = 0; // deepest nesting
  isAscii = true;

  /** Reads `bytes[start, end)`. Counts only; whether it is JSON is the parser's business. */
  read(bytes: Uint8Array, start: number, end: number): void {
    let keys = 0;
    let depth = 0;
    let deepest = 0;
    let all = 0;
    let i = start;
    while (i < end) {
      // within bounds by the loop's condition
      const byte = bytes[i]!;
      i += 1;
      if (byte === 34) {
        // to the end of the string
        while (i < end) {
          const inner = bytes[i]!;
          i += 1;
          if (inner === 34) break;
          if (inner === 92) i += 1;
          all |= inner;
        }
      } else if (byte >= 58) {
        if (byte === 58) keys += 1;
        else if (byte === 91 || byte === 123) {
          depth += 1;
          if (depth > deepest) deepest = depth;
        } else if (byte === 93 || byte === 125) depth -= 1;
        all |= byte;
      }
    }
    this.keys = keys;
    this.depth = deepest;
    this.isAscii = all < 128;
  }
}

/** The first key that an object of this JSON text gives twice, or null. @internal */
export function findDuplicateKey(text: string): string | null {
  const open: (Set<string> | null)[] = []; // null: a list
  let i = 0;
  while (i < text.length) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      const keys = open.at(-1);
      if (keys instanceof Set && followedByColon(text, end)) {
        // a JSON string of a text that has been parsed
        const key = JSON.parse(text.slice(i, end)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      i = end;
    } else {
      if (char === "{") open.push(new Set());
      else if (char === "[") open.push(null);
      else if (char === "}" || char === "]") open.pop();
      i += 1;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i + 1;
}

function followedByColon(text: string, from: number): boolean {
  let i = from;
  while (text[i] === " " || text[i] === "\t" || text[i] === "\r" || text[i] === "\n") i += 1;
  return text[i] === ":";
}
