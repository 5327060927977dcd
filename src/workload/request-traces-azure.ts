// Reader of the Azure LLM inference traces: CSV with the time of arrival and the numbers of tokens. The files tell no
// prefix identity, so no request shares anything with another: sharing is never made up.
import { CsvTable } from "./csv-line.js";
import type { CsvRow } from "./csv-line.js";
import { checkOrder } from "./request-fields.js";
import type { RequestReader } from "./request-rows.js";

const TIME = "TIMESTAMP";
const INPUT = "ContextTokens";
const OUTPUT = "GeneratedTokens";
const TICKS_A_MS = 10_000; // of 100 ns: the seventh digit of a second

/** What stands for the identities that a file does not tell. @internal */
export const FRESH_BLOCKS =
  "no prefix identity in the file: every request is fresh, none shares a prefix with another";

/** @internal */
export const AZURE_LLM: RequestReader = {
  name: "azure-llm",
  about: `Azure LLM inference: CSV ${TIME},${INPUT},${OUTPUT}; no prefix identity, every request fresh`,
  blockTokens: 0,
  open() {
    let table: CsvTable | null = null;
    let first: TickTime | null = null;
    let latest = 0; // ticks
    return {
      take(line, place) {
        if (table === null) {
          table = new CsvTable(line, place);
          for (const column of [TIME, INPUT, OUTPUT]) table.indexOf(column, place);
          return null;
        }
        const row = table.row(line, place);
        const time = timeOf(row);
        first ??= time;
        const ticks = (time.ms - first.ms) * TICKS_A_MS + (time.ticks - first.ticks);
        checkOrder(`${TIME} (in units of 100 ns from the first)`, ticks, latest, place);
        latest = ticks;
        const input = row.count(INPUT);
        const output = row.count(OUTPUT);
        return { arrival: Math.floor(ticks / TICKS_A_MS), input, output, blocks: [] };
      },
      account: () => ({ invented: { prefix_identity: FRESH_BLOCKS } }),
    };
  },
};

/** A time: whole seconds in milliseconds, and units of 100 ns beyond them. */
interface TickTime {
  readonly ms: number;
  readonly ticks: number;
}

const STAMP =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,7})\d{0,2})?(?:Z|\+00:00)?$/;

function timeOf(row: CsvRow): TickTime {
  const parts = STAMP.exec(row.text(TIME));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (parts ?? [])
    .slice(1, 7)
    .map(Number);
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  if (parts === null || !isDay || hour > 23 || minute > 59 || second > 59)
    return row.wrong(TIME, "a time such as 2023-11-16 18:17:03.9799600 (UTC)");
  const seconds = ((daysBefore(year, month) + day) * 24 + hour) * 3600 + minute * 60 + second;
  return { ms: seconds * 1000, ticks: Number((parts[7] ?? "").padEnd(7, "0")) };
}

function daysOf(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days from the year 0 to the first of a month. */
function daysBefore(year: number, month: number): number {
  const past = year - 1;
  let days = year * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  for (let before = 1; before < month; before++) days += daysOf(year, before);
  return days;
}
