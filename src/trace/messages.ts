// Pieces of messages about values.
import { nearestWord } from "../base/nearest.js";

/** A value as it may stand in a message: JSON, cut. @internal */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const json = JSON.stringify(value);
  return json.length > 60 ? `${json.slice(0, 57)}...` : json;
}

/** `; did you mean "…"?` where a known word is near. @internal */
export function suggestion(word: string, known: Iterable<string>): string {
  const nearest = nearestWord(word, known);
  return nearest === null || nearest === word ? "" : `; did you mean "${nearest}"?`;
}

/** The path of a member, as a JSON pointer. @internal */
export function below(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** What stands where JSON should, for a line that is none. @internal */
export function notJson(line: string): string {
  if (/^\0+$/.test(line)) return "nothing but NUL bytes";
  if (line.includes("\0")) return "NUL bytes";
  if (line.startsWith("\uFEFF")) return "a byte order mark";
  if (line.trim() === "") {
    return line.includes("\r") ? "nothing but CR, where lines end in LF or CR LF" : "an empty line";
  }
  if (endsInReturns(line)) return "lines that end in CR alone, expected LF or CR LF";
  return shown(line.length > 40 ? `${line.slice(0, 40)}...` : line);
}

/** Whether a line is several, each an object, with nothing but CR between them. */
function endsInReturns(line: string): boolean {
  const first = line.indexOf("\r");
  if (first === -1 || !/^\s*\{/.test(line.slice(first + 1, first + 64))) return false;
  try {
    JSON.parse(line.slice(0, first));
    return true;
  } catch {
    return false;
  }
}

/** Whether a last line that is no JSON may be one that was cut: the beginning of an object, or NULs in its place. @internal */
export function isCutLine(line: string, number: number): boolean {
  if (endsInReturns(line)) return false;
  return /^\s*\{/.test(line.slice(0, 64)) || (number > 1 && /^\0+$/.test(line));
}
