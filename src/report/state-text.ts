// A full state as text: a line a field, ids as ranges.
import type { State } from "../base/state.js";
import type { MapOptions } from "./map-text.js";
import { valueText } from "./values.js";
import { grouped, shortened, visible } from "./words.js";
import { wrapped } from "./wrapped.js";

const TEXT_MAX = 1000;
const LIST_MAX = 40; // entries of one list

/** Extensions (`x_…`) and whole lists only where `verbose`. @public */
export function stateText(state: State, options: MapOptions): readonly string[] {
  return Object.entries(state).flatMap(([component, value]) => {
    const lines: string[] = [];
    collect(component, value, lines, options);
    return lines.length === 0
      ? wrapped("", [`${visible(component)} nothing`], options.columns)
      : lines;
  });
}

function collect(path: string, value: unknown, lines: string[], options: MapOptions): void {
  const { columns, verbose } = options;
  if (Array.isArray(value) && value.some((entry) => isFields(entry))) {
    const most = verbose ? Infinity : LIST_MAX;
    for (const [index, entry] of value.slice(0, most).entries())
      collect(`${path}.${String(index)}`, entry, lines, options);
    if (value.length > most)
      lines.push(`${visible(path)} ${grouped(value.length - most)} more (--verbose)`);
    return;
  }
  if (isFields(value)) {
    const entries = Object.entries(value).filter(([key]) => verbose || !key.startsWith("x_"));
    if (isFlat(entries)) {
      lines.push(
        ...leaf(
          path,
          entries.map(([key, part]) => `${visible(key)} ${leafText(key, part)}`),
          columns,
        ),
      );
      return;
    }
    for (const [key, part] of entries) collect(`${path}.${key}`, part, lines, options);
    return;
  }
  const key = path.slice(path.lastIndexOf(".") + 1);
  const text = shortened(leafText(key, value), verbose ? Infinity : TEXT_MAX);
  lines.push(...leaf(path, text.split(", "), columns));
}

/** Small things stand on one line. */
function isFlat(entries: readonly (readonly [string, unknown])[]): boolean {
  return entries.length > 0 && entries.every(([, part]) => !isFields(part) && !hasFields(part));
}

function hasFields(value: unknown): boolean {
  return Array.isArray(value) && value.some(isFields);
}

function leafText(key: string, value: unknown): string {
  if (key === "bindings" && Array.isArray(value)) return bindingsText(value);
  if (key === "span") return valueText([value]);
  return valueText(value, key);
}

/** `12..14 at 7..9`: ids and where they lie. */
function bindingsText(bindings: readonly unknown[]): string {
  const texts = bindings.map((entry) => {
    const [virtual = 0, physical = 0, count = 0] = entry as readonly number[];
    return `${valueText([[virtual, count]])} at ${valueText([[physical, count]])}`;
  });
  return texts.length === 0 ? "none" : texts.join(", ");
}

function leaf(path: string, parts: readonly string[], columns: number): string[] {
  return wrapped(`${visible(path)} `, parts, columns, 4);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
