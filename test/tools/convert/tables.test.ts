// CSV and Parquet hold every operation of a trace, exactly.
import { readFileSync } from "node:fs";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { freshPath, readLines, recorded } from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";
import { converted, heapTrace, mixedSeeds } from "./inputs.js";

const HOSTILE = 'a "run", with\r\nlines; =1+1';

/** Rows after RFC 4180; an unquoted empty field is null. */
function csvRows(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (let at = 0; at < text.length;) {
    let field: string | null;
    if (text[at] === '"') {
      field = "";
      for (at += 1; ; at += 1) {
        if (text[at] !== '"') field += text[at] ?? expect.fail("an open quote at the end");
        else if (text[at + 1] === '"') field += text[(at += 1)]!;
        else break;
      }
      at += 1;
    } else {
      const end = /[,\r\n]/g;
      end.lastIndex = at;
      const found = end.exec(text)?.index ?? expect.fail("the last line has no end");
      field = found === at ? null : text.slice(at, found);
      expect(field ?? "").not.toContain('"');
      at = found;
    }
    row.push(field);
    if (text[at] === ",") at += 1;
    else {
      expect(text.slice(at, at + 2)).toBe("\r\n");
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

interface Row {
  readonly [column: string]: string | number | null;
}
const NUMBERS = ["n", "effects", "moves", "moved_pages", "waits", "host_waits"].concat([
  "zeroed_pages",
  "copies",
  "at_us",
]);

async function csvOf(trace: string): Promise<Row[]> {
  const { path, result } = await converted([trace], "csv");
  const text = readFileSync(path, "utf8");
  expect(result.bytes).toBe(Buffer.byteLength(text));
  const [names, ...rows] = csvRows(text);
  return rows.map((cells) => {
    expect(cells).toHaveLength(names!.length);
    return Object.fromEntries(
      names!.map((name, index) => {
        const cell = cells[index] ?? null;
        const isNumber = NUMBERS.includes(name!) && cell !== null;
        if (isNumber) expect(String(Number(cell))).toBe(cell);
        return [name!, isNumber ? Number(cell) : cell];
      }),
    );
  });
}

async function parquetOf(trace: string): Promise<Row[]> {
  const { path } = await converted([trace], "parquet");
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const rows = await parquetReadObjects({ file });
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row as Record<string, unknown>).map(([name, cell]) => {
        if (NUMBERS.includes(name) && cell !== null) expect(typeof cell).toBe("bigint");
        return [name, typeof cell === "bigint" ? Number(cell) : (cell as string | null)];
      }),
    ),
  );
}

const pagesOf = (extents: [number, number][]): number =>
  extents.reduce((sum, [, count]) => sum + Math.abs(count), 0);

/** What a row must hold, from the line alone. */
function expected(run: string, line: Line): Row {
  const fx: Line[] = line.fx ?? [];
  const of = (...kinds: string[]): Line[] => fx.filter(([kind]: [string]) => kinds.includes(kind));
  return {
    run,
    n: line.n,
    op: line.op,
    outcome: line.err === undefined ? "ok" : "err",
    code: line.err?.code ?? null,
    rule: line.err?.rule ?? null,
    step: line.ok?.step ?? null,
    args: JSON.stringify(line.args),
    result: JSON.stringify(line.ok ?? line.err),
    effects: fx.length,
    moves: of("move").length,
    moved_pages: of("move").reduce((sum, [, , pairs]) => sum + pairs.length, 0),
    waits: of("wait").length,
    host_waits: of("hostwait").length,
    zeroed_pages: of("zero").reduce((sum, [, , pages]) => sum + pagesOf(pages), 0),
    copies: of("copy", "hostcopy", "net").length,
    fx: fx.length === 0 ? null : JSON.stringify(fx),
    digest: line.digest === undefined ? null : JSON.stringify(line.digest),
    message: line.message ?? null,
    site: line.site ?? null,
    at_us: line.at_us ?? null,
  };
}

function expectedRows(trace: string): Row[] {
  let run = "";
  return readLines(trace).flatMap((line) => {
    if (line.kind === "run") run = line.run;
    return line.kind === "op" ? [expected(run, line)] : [];
  });
}

describe.each([
  ["CSV", csvOf],
  ["Parquet", parquetOf],
])("%s", (_name, rowsOf) => {
  test("a row an operation, over seeds of all layouts and weights", async () => {
    const trace = await recorded(mixedSeeds(0, 12, 150));
    const rows = expectedRows(trace);
    expect(rows).toHaveLength(12 * 150);
    for (const column of ["moves", "waits", "copies", "zeroed_pages", "code", "rule", "step"])
      expect(rows.some((row) => row[column] !== 0 && row[column] !== null)).toBe(true);
    expect(await rowsOf(trace)).toEqual(rows);
  });

  test("quotes, line ends, numbers up to 2^53 - 1, texts that look like formulas", async () => {
    const trace = heapTrace(HOSTILE);
    expect(await rowsOf(trace)).toEqual(expectedRows(trace));
  });
});

test("Parquet: more rows than a group holds", async () => {
  const run = { kind: "run", run: "many", domain: "heap", config: {}, digest_depth: null };
  const [header] = readLines(heapTrace());
  const ops = Array.from({ length: 41_000 }, (_, n) => ({
    ...{ kind: "op", n, op: "heap.alloc" },
    ...{ args: { id: `h${n}`, size_bytes: n }, ok: {} },
  }));
  const { writeLines } = await import("../faulty-adapter.js");
  const trace = writeLines([
    header,
    { ...run, source: { type: "import", name: "t" } },
    ...ops,
    { kind: "end", run: "many", ops: ops.length },
  ]);
  expect(await parquetOf(trace)).toEqual(expectedRows(trace));
});

test("CSV packed is the same text packed", async () => {
  const { gunzipSync } = await import("node:zlib");
  const trace = heapTrace();
  const plain = await converted([trace], "csv");
  const packed = await converted([trace], "csv", { out: freshPath("x.csv.gz") });
  expect(gunzipSync(readFileSync(packed.path))).toEqual(readFileSync(plain.path));
});
