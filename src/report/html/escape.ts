// Text of others inside a page: never markup, never script.
import { visible } from "../words.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML, between tags or inside a quoted attribute; control characters are written out. @internal */
export function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (unit) => ENTITIES[unit] ?? "");
}
