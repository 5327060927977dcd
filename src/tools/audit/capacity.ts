// Answers about capacity against what follows: with nothing in between, what fits is granted and what does not is refused.
import { canonicalJson } from "../../base/canonical-json.js";
import type { Answer, Demand, KvOperation } from "../../base/operations.js";
import { isQuestion } from "../laws.js";
import type { Books } from "./books.js";
import { countsDecide, holds, indexShortage, vacatedMost } from "./room.js";

/** Remembers answers about demands until something changes. @internal */
export class CapacityBook {
  readonly #fits = new Map<string, boolean>();

  follow(books: Books, operation: KvOperation, answer: Answer): void {
    const demand = demandOf(books, operation);
    const outcome = outcomeOf(operation, answer);
    if (demand !== null && outcome !== null) {
      const name = canonicalJson(nonZero(demand));
      const before = this.#fits.get(name);
      if (before !== undefined && before !== outcome)
        books.report(
          "capacity.truth",
          `${operation.op} of ${name} ${outcome ? "fits" : "does not fit"}, the answer before it was ${before ? "yes" : "no"}`,
          { component: "chain" },
        );
      this.#fits.set(name, outcome);
    }
    checkCounts(books, operation, answer, demand, outcome);
    if (answer.ok !== undefined && !isQuestion(operation.op)) this.#fits.clear();
  }
}

/** What packed bands hold, by counts of pages, is granted, and nothing else. */
function checkCounts(
  books: Books,
  { op }: KvOperation,
  { err }: Answer,
  asked: Demand | null,
  outcome: boolean | null,
): void {
  const isRefused = err?.code === "refused_capacity";
  const demand = isRefused ? (err.demand ?? null) : asked;
  if (demand === null) return;
  const wanted = books.bands.map(({ name }) => demand[name] ?? 0);
  const about = { component: "chain" };
  const what = `${op} of ${canonicalJson(nonZero(demand))}`;
  if (isRefused) checkLimit(books, what, wanted, err.limit ?? "");
  if (outcome === true && !holds(books, wanted, []))
    books.report("capacity.truth", `${what} is granted, no layout holds it`, about);
  const isDenied = isRefused || (outcome === false && isQuestion(op));
  if (!isDenied || !countsDecide(books)) return;
  if (indexShortage(books, wanted, vacatedMost(books)) >= 0) return;
  if (holds(books, wanted, []))
    books.report("capacity.truth", `${what} is refused, packed bands hold it`, about);
}

/** A refusal names the first band whose grid has no room left, or bytes. */
function checkLimit(books: Books, what: string, wanted: readonly number[], limit: string): void {
  const surely = books.bands[indexShortage(books, wanted)]?.name ?? "bytes";
  const perhaps = books.bands[indexShortage(books, wanted, vacatedMost(books))]?.name ?? "bytes";
  if (limit === surely || limit === perhaps || surely !== perhaps) return;
  books.report("refusal.reason", `${what} is refused for ${limit}, short is ${surely}`, {
    component: "chain",
  });
}

function nonZero(demand: Demand): Demand {
  return Object.fromEntries(Object.entries(demand).filter(([, count]) => count > 0));
}

const CAPACITY_CODES: readonly string[] = [
  "refused_ids",
  "refused_state",
  "refused_capacity",
  "deadline",
];

/** Whether the demand fits by this answer; null where it does not tell. */
function outcomeOf(operation: KvOperation, answer: Answer): boolean | null {
  if (
    operation.op === "ask.fits" ||
    operation.op === "ask.plan" ||
    operation.op === "ask.prealloc"
  ) {
    const ok = answer.ok as { readonly fits?: boolean; readonly step?: string } | undefined; // of those
    return ok === undefined ? null : (ok.fits ?? ok.step !== "none");
  }
  if (answer.ok !== undefined) return true;
  return CAPACITY_CODES.includes(answer.err?.code ?? "") ? false : null;
}

/** Pages a band that an operation demands; null where that is not a plain take. */
function demandOf(books: Books, operation: KvOperation): Demand | null {
  const { op, args } = operation;
  if (op === "ask.prealloc") return sumOf(args.demand, args.held);
  if (op === "ask.fits" || op === "ask.plan" || op === "chain.relieve") return args.demand;
  const state = books.stateBand?.name;
  if (op === "state.alloc") return state === undefined ? null : { [state]: args.count };
  if (op !== "tokens.extend" && op !== "tokens.decode") return null;
  const demand: Record<string, number> = {};
  const batch =
    op === "tokens.extend"
      ? args.batch
      : args.batch.map(({ len }) => ({ from: len - 1, to: len, tail: undefined }));
  for (const { from, to, tail } of batch) {
    const [first, end] = [books.pagesOf(from), books.pagesOf(to)];
    const windowFrom =
      tail === undefined ? first : Math.max(first, Math.floor((to - tail) / books.pageSize));
    for (const band of books.tokenBands)
      demand[band.name] =
        (demand[band.name] ?? 0) + Math.max(0, end - (band.isWindow ? windowFrom : first));
  }
  return demand;
}

function sumOf(left: Demand, right: Demand): Demand {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.fromEntries(
    [...names].map((name) => [name, (left[name] ?? 0) + (right[name] ?? 0)]),
  );
}
