// Rows marked for reset: once each, in the order in which they were handed out, at a cost that does not grow with them.
import { expect, test, vi } from "vitest";
import { Prng } from "../../src/base/prng.js";
import type { Request } from "../../src/kv/requests.js";
import { RequestTable } from "../../src/kv/requests.js";

const copyOf = (request: Request): Request => ({ ...request });

test("marks are what a plain list would hold, over loaded tables too", () => {
  for (let seed = 0; seed < 60; seed++) {
    const prng = new Prng(seed, 41);
    let table = new RequestTable(1 + prng.below(12), true);
    let expected: number[] = [];
    for (let step = 0; step < 200; step++) {
      const open = [...table.open.values()];
      const choice = prng.below(10);
      if (choice < 5 && table.freeRows > 0) {
        const { row } = table.add(`r${step}`, 1);
        if (!expected.includes(row)) expected.push(row);
      } else if (choice < 7 && open.length > 0) {
        table.close(prng.pick(open)); // its mark stays
      } else if (choice === 7 && open.length > 0) {
        const request = prng.pick(open);
        table.clearMark(request);
        expected = expected.filter((row) => row !== request.row);
      } else if (choice === 8) {
        expect(table.takeMarks()).toEqual(expected);
        expected = [];
      } else {
        // as a loaded state fills a fresh table
        const fresh = new RequestTable(table.rows, true);
        for (const request of table.open.values()) fresh.restore(copyOf(request));
        for (const row of table.marks) fresh.marks.add(row);
        fresh.setFreeRows(table.freeRowList());
        table = fresh;
      }
      expect([...table.marks], `seed ${seed}, step ${step}`).toEqual(expected);
    }
  }
});

test("opening many requests looks through no list of them", () => {
  const rows = 20_000;
  const table = new RequestTable(rows, true);
  let looked = 0;
  const { includes, indexOf } = Array.prototype;
  vi.spyOn(Array.prototype, "includes").mockImplementation(function (this: unknown[], ...words) {
    looked += this.length;
    return includes.apply(this, words);
  });
  vi.spyOn(Array.prototype, "indexOf").mockImplementation(function (this: unknown[], ...words) {
    looked += this.length;
    return indexOf.apply(this, words);
  });
  try {
    for (let i = 0; i < rows; i++) table.add(`r${i}`, 1);
  } finally {
    vi.restoreAllMocks();
  }
  expect(table.marks.size).toBe(rows);
  expect(looked).toBeLessThan(rows);
});
