// Text over several lines of limited width.

/** The parts with `separator` and a blank between them, in lines of at most `columns`; later lines begin with `indent` blanks. A part that is
 * longer than a line stands alone. @public */
export function wrapped(
  head: string,
  parts: readonly string[],
  columns: number,
  indent: number = head.length,
  separator = ",",
): string[] {
  const lines: string[] = [];
  let line = head;
  let isEmpty = true;
  for (const [index, part] of parts.entries()) {
    const text = index === parts.length - 1 ? part : `${part}${separator}`;
    const joined = isEmpty ? `${line}${text}` : `${line} ${text}`;
    if (joined.length <= columns || isEmpty) {
      line = joined;
      isEmpty = false;
      continue;
    }
    lines.push(line);
    line = `${" ".repeat(indent)}${text}`;
  }
  return [...lines, line].map((each) => each.trimEnd());
}
