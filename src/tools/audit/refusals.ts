// Refusals and questions: they change nothing, and what they say is so.
import type { Answer, Digests, KvOperation } from "../../base/operations.js";
import { foldDigests } from "../../base/digest.js";
import { FIXED_COMPONENTS } from "../../base/operations.js";
import { isQuestion } from "../laws.js";
import type { Books } from "./books.js";

/** Follows the digests of a run. @internal */
export class DigestBook {
  readonly #values = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** Checks what must not change, then takes the digests in. */
  follow(books: Books, operation: KvOperation, answer: Answer): void {
    const isRefused = answer.err !== undefined;
    if (isRefused || isQuestion(operation.op)) this.#checkUnchanged(books, answer, isRefused);
    this.takeIn(answer.digest);
  }
  takeIn(digest: Digests | undefined): void {
    for (const [component, value] of Object.entries(digest ?? {}))
      this.#values.set(component, value);
  }
  /** The fold of all components as they stand, in their order. */
  fold(books: Books): string {
    const names = [...books.bands.map(({ name }) => name), ...FIXED_COMPONENTS];
    return foldDigests(names.map((name) => this.#values.get(name) ?? "0000000000000000"));
  }

  #checkUnchanged(books: Books, answer: Answer, isRefused: boolean): void {
    const what = isRefused ? "a refusal" : "a question";
    const [effect] = answer.fx ?? [];
    if (effect !== undefined)
      books.report(
        isRefused ? "refusal.effects" : "question.effects",
        `${what} has a ${effect[0]} effect`,
      );
    for (const [component, value] of Object.entries(answer.digest ?? {})) {
      if (this.#values.get(component) === value) continue;
      books.report(
        isRefused ? "refusal.digest" : "question.digest",
        `${what} changes the digest of ${component}`,
        { component },
      );
    }
  }
}

/** Holds what a refusal counts and names against what is known. @internal */
export function checkRefusal(books: Books, operation: KvOperation, answer: Answer): void {
  const { err } = answer;
  if (err === undefined) return;
  const counts: Readonly<Partial<Record<string, number>>> = {
    refused_rows: books.freeRows.length,
    // With stages another one may have fewer ids.
    ...(books.staged
      ? {}
      : {
          refused_ids: books.owner.freeIds?.length ?? 0,
          refused_state: books.stateBand?.freeIds?.length ?? 0,
        }),
  };
  const free = counts[err.code];
  if (free !== undefined && err.free !== free)
    books.report(
      "refusal.reason",
      `${err.code} counts ${err.free ?? "no"} free, there are ${free}`,
    );
  if (free !== undefined && (err.need ?? 0) <= free)
    books.report("refusal.reason", `${err.code} needs ${err.need ?? 0}, and ${free} are free`);
  if (err.rule === "unknown_request" && err.req !== undefined && books.rows.has(err.req))
    books.report("refusal.reason", `${err.req} is unknown, and is open`, {
      actors: [err.req],
      component: "rows",
    });
  if (err.code === "deadline") {
    for (const name of err.transfers ?? []) {
      if (!books.uses.transfers.has(name))
        books.report(
          "refusal.reason",
          `${operation.op} would wait ${name}, which is no open transfer`,
          { actors: [name], component: "net" },
        );
    }
  }
}
