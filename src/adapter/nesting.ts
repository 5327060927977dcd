// How deep a line is nested, before anything recursive looks at what was parsed of it.

const QUOTE = 34;
const BACKSLASH = 92;
const OPENER = 0x7b; // `{`, and `[` with its bit 0x20 set
const CLOSER = 0x7d;

/** Most levels a line of the protocol may have; as many as a line of a trace. @internal */
export const DEPTH_MAX = 64;

/** Whether a line of JSON is nested deeper than `DEPTH_MAX`; of any other text it says nothing. @internal */
export function isTooDeep(line: string): boolean {
  let openers = 0;
  // brackets in strings count as well here; most lines have few
  for (let i = 0; i < line.length; i++) if ((line.charCodeAt(i) | 0x20) === OPENER) openers += 1;
  return openers > DEPTH_MAX && depthOf(line) > DEPTH_MAX;
}

function depthOf(line: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === QUOTE) i = endOfString(line, i);
    else if ((code | 0x20) === OPENER) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code | 0x20) === CLOSER) depth -= 1;
  }
  return deepest;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(line: string, start: number): number {
  let i = start + 1;
  while (i < line.length && line.charCodeAt(i) !== QUOTE) {
    i += line.charCodeAt(i) === BACKSLASH ? 2 : 1;
  }
  return i;
}
