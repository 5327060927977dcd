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
