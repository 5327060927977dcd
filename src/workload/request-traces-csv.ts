// Reader of request traces in any CSV: a map says which column holds what, and in which unit.
import { UsageError } from "../base/errors.js";
import { shown, suggestion } from "../trace/messages.js";
import { CsvTable } from "./csv-line.js";
import type { CsvRow, LinePlace } from "./csv-line.js";
import { checkCover, checkOrder, wrongField } from "./request-fields.js";
import type { RequestReader } from "./request-rows.js";
import { runsOf } from "./request-trace.js";
import type { BlockRun } from "./request-trace.js";
import { FRESH_BLOCKS } from "./request-traces-azure.js";

const KEYS = ["arrival", "input", "output", "blocks"] as const;
type Key = (typeof KEYS)[number];
/** Digits behind the point that a unit keeps: times are counted in nanoseconds, so that none is lost. */
const UNIT_DIGITS = { s: 9, ms: 6, us: 3, ns: 0 } as const;
type Unit = keyof typeof UNIT_DIGITS;
const NS_A_MS = 1_000_000n;

/** Which column holds what. @internal */
export interface ColumnMap {
  readonly arrival: string;
  readonly unit: Unit;
  readonly input: string;
  readonly output: string;
  readonly blocks: string | null; // null: the file has no block ids
  readonly blockTokens: number; // 0 without ids
}

/** @internal */
export const COLUMNS_FORM =
  "arrival=COLUMN:s|ms|us|ns,input=COLUMN,output=COLUMN[,blocks=COLUMN:TOKENS]";
/** What is read where no map is given. @internal */
export const DEFAULT_COLUMNS = "arrival=arrival:ms,input=input,output=output";

/** Reads `COLUMNS_FORM`. Throws `UsageError` for anything else. @internal */
export function parseColumns(text: string): ColumnMap {
  const entries = new Map<Key, string>();
  for (const part of text.split(",")) {
    const [word = "", ...rest] = part.split("=");
    const key = KEYS.find((known) => known === word.trim());
    const column = rest.join("=").trim();
    if (key === undefined) throw wrongMap(`unknown column ${shown(word)}${suggestion(word, KEYS)}`);
    if (column === "") throw wrongMap(`${key} names no column`);
    if (entries.has(key)) throw wrongMap(`${key} stands twice`);
    entries.set(key, column);
  }
  const needed = (key: Key): string => {
    const column = entries.get(key);
    if (column === undefined) throw wrongMap(`${key} is missing`);
    return column;
  };
  const [arrival, unit] = suffixed("arrival", needed("arrival"));
  if (!isUnit(unit)) throw wrongMap(`arrival needs its unit (s, ms, us or ns), not ${shown(unit)}`);
  const blocks = entries.get("blocks");
  const [ids, tokens] = blocks === undefined ? [null, "0"] : suffixed("blocks", blocks);
  const blockTokens = Number(tokens);
  if (
    ids !== null &&
    !(/^\d+$/.test(tokens) && blockTokens > 0 && Number.isSafeInteger(blockTokens))
  )
    throw wrongMap(`blocks needs the tokens of a block, not ${shown(tokens)}`);
  return {
    arrival,
    unit,
    input: needed("input"),
    output: needed("output"),
    blocks: ids,
    blockTokens,
  };
}

function wrongMap(message: string): UsageError {
  return new UsageError(`--columns: ${message}; expected ${COLUMNS_FORM}`, COLUMNS_FORM);
}

/** `COLUMN:SUFFIX` taken apart at its last colon. */
function suffixed(key: Key, text: string): [column: string, suffix: string] {
  const colon = text.lastIndexOf(":");
  if (colon <= 0) throw wrongMap(`${key}=${text} names no ${key === "arrival" ? "unit" : "size"}`);
  return [text.slice(0, colon), text.slice(colon + 1)];
}

function isUnit(word: string): word is Unit {
  return Object.hasOwn(UNIT_DIGITS, word);
}

/** The format of a CSV with these columns. @internal */
export function csvRequests(map: ColumnMap): RequestReader {
  const { blockTokens, blocks: ids } = map;
  return {
    name: "csv",
    about: "any CSV with a header line; --columns says which column holds what",
    blockTokens,
    open() {
      let table: CsvTable | null = null;
      let first: bigint | null = null; // ns
      let latest = 0;
      return {
        take(line, place) {
          if (table === null) {
            table = new CsvTable(line, place);
            for (const name of [map.arrival, map.input, map.output]) table.indexOf(name, place);
            if (ids !== null) table.indexOf(ids, place);
            return null;
          }
          const row = table.row(line, place);
          const time = nanoseconds(row, map);
          first ??= time;
          const passed = Number(time - first);
          checkOrder(`${map.arrival} (in ns from the first)`, passed, latest, place);
          latest = passed;
          const input = row.count(map.input);
          const output = row.count(map.output);
          const blocks = ids === null ? [] : blocksOf(row, ids, place);
          if (ids !== null) {
            const keys = { ids, input: map.input };
            checkCover({ input, blocks }, blockTokens, true, keys, place);
          }
          return { arrival: Number((time - first) / NS_A_MS), input, output, blocks };
        },
        account: () => (ids === null ? { invented: { prefix_identity: FRESH_BLOCKS } } : {}),
      };
    },
  };
}

function nanoseconds(row: CsvRow, { arrival, unit }: ColumnMap): bigint {
  const [, whole, point = ""] = /^(\d{1,19})(?:\.(\d{1,12}))?$/.exec(row.text(arrival)) ?? [];
  if (whole === undefined) return row.wrong(arrival, `a time of at least 0 in ${unit}`);
  const digits = UNIT_DIGITS[unit];
  return BigInt(whole + point.slice(0, digits).padEnd(digits, "0"));
}

/** Ids between blanks, semicolons or bars, brackets around them or none. */
function blocksOf(row: CsvRow, column: string, place: LinePlace): BlockRun[] {
  const text = row
    .text(column)
    .replace(/^\[|\]$/g, "")
    .trim();
  if (text === "") return [];
  const ids = text.split(/[\s;|,]+/).map((word) => (/^\d{1,16}$/.test(word) ? Number(word) : -1));
  if (ids.every((id) => Number.isSafeInteger(id) && id >= 0)) return runsOf(ids);
  const expected = "whole numbers with blanks, semicolons or bars between them";
  return wrongField(place, column, expected, `${column} must be ${expected}`);
}
