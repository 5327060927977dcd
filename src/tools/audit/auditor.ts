// The auditor of one run: from the lines alone it rebuilds who owns which page, and holds every answer and effect against
// the rules. It knows no implementation.
import type {
  Answer,
  BootOk,
  DirectConfig,
  EndedTransfers,
  KvOperation,
} from "../../base/operations.js";
import type { BandState, State } from "../../base/state.js";
import type { Finding } from "../findings.js";
import { isQuestion } from "../laws.js";
import { Books } from "./books.js";
import { CapacityBook } from "./capacity.js";
import { checkBetween } from "./contract.js";
import { followAnswer } from "./dispatch.js";
import { followEffects } from "./effects.js";
import { releaseReady } from "./give-back.js";
import { reportLeaks } from "./leaks.js";
import { checkBoot } from "./operations-whole.js";
import { checkRefusal, DigestBook } from "./refusals.js";
import { liveOf } from "./room.js";

/** What could not be checked, and why. @public */
export interface UncheckedRules {
  readonly rules: string;
  readonly why: string;
  readonly isMost: boolean; // little is left
}

const HELD_MAX = 2 ** 24; // rows, pages of a band

/** Why the books of a run could not be held in memory; null: they can. @public */
export function unauditable(config: DirectConfig, { bands }: BootOk): string | null {
  const limit = `at most ${HELD_MAX} are held`;
  if (config.rows > HELD_MAX) return `it has ${config.rows} rows, ${limit}`;
  const large = Object.entries(bands).find(([, { pages }]) => pages > HELD_MAX);
  return large === undefined ? null : `its band ${large[0]} has ${large[1].pages} pages, ${limit}`;
}

/**
 * Audits one run that begins with its boot. What a line breaks comes back with that line; after the first finding of a run
 * later ones may follow from it. Memory follows the pages, rows and names in use, not the length of the run. @public
 */
export class RunAuditor {
  readonly #books: Books;
  readonly #digests = new DigestBook();
  readonly #capacity = new CapacityBook();
  readonly #leaks = new Set<string>();
  #hasDonated = false;
  #hasHidden = false;

  /** @param config - the direct form, of a model form the derived one */
  constructor(config: DirectConfig, boot: BootOk) {
    this.#books = new Books(config, boot);
    checkBoot(this.#books, config, boot, config.arena_bytes);
  }

  /** Rules that this trace is too thin to check, as far as it is read. */
  get unchecked(): readonly UncheckedRules[] {
    const unchecked: UncheckedRules[] = [];
    const note = (rules: string, why: string, isMost = false): void => {
      unchecked.push({ rules, why, isMost });
    };
    if (this.#books.lacksEffects)
      note("effects, moves, waits, zeroing, places", "the run has no effects", true);
    if (this.#digests.isEmpty)
      note("refusal.digest, question.digest, end.digest", "the run has no digests");
    if (this.#hasDonated)
      note("page.live, wait.*", "no answer names the page of a donation's replacement at once");
    if (this.#hasHidden)
      note("tree.match, tree.evict", "what an open group evicts shows at its end only");
    return unchecked;
  }

  /** Follows operation `n`; `boot` itself tells nothing but its digests. */
  line(n: number, operation: KvOperation, answer: Answer): readonly Finding[] {
    const books = this.#books;
    books.n = n;
    books.op = operation.op;
    this.#digests.follow(books, operation, answer);
    if (operation.op !== "boot") {
      this.#capacity.follow(books, operation, answer);
      if (answer.ok === undefined) checkRefusal(books, operation, answer);
      else this.#granted(operation, answer);
    }
    return this.#take();
  }

  #granted(operation: KvOperation, answer: Answer): void {
    const books = this.#books;
    if (!isQuestion(operation.op)) checkBetween(books, operation.op);
    const effects = isQuestion(operation.op) ? [] : (answer.fx ?? []);
    const shown = followEffects(books, operation, effects);
    followAnswer(books, operation, answer, shown);
    this.#hasDonated ||= operation.op === "state.donate" && books.unplaced.size > 0;
    this.#hasHidden ||= books.hidesEvictions;
    const { ended } = answer.ok as { readonly ended?: EndedTransfers }; // of the answers that may have it
    this.#settleEnded(ended);
    if (operation.op === "check.idle") reportLeaks(books, this.#leaks);
  }

  #settleEnded(ended: EndedTransfers | undefined): void {
    const books = this.#books;
    const own = books.endedNow;
    books.endedNow = [];
    const told = ended?.transfers ?? [];
    if (own.join() !== told.join())
      books.report(
        "transfer.end",
        `the operation ends ${own.join(", ") || "no transfer"}, the answer says ${told.join(", ") || "none"}`,
        { actors: own, component: "net" },
      );
    if (ended !== undefined || own.length > 0) releaseReady(books, ended?.freed ?? {});
  }

  /** Pages in use after the last line, by band in chain order. */
  livePages(): ReadonlyMap<string, number> {
    const books = this.#books;
    return new Map(books.bands.map((band) => [band.name, liveOf(books, band)]));
  }

  /** Holds a full state after operation `n` against what the operations bound. */
  state(n: number, state: State): readonly Finding[] {
    const books = this.#books;
    books.n = n;
    for (const band of books.bands) {
      const told = state[band.name] as BandState | undefined; // what stands under a band's name
      for (const [first, page, count] of told?.bindings ?? []) {
        for (let at = 0; at < count; at++) {
          const [id, place] = [first + at, page + at];
          if (band.placeOf(id) === place || books.unplaced.has(id)) continue;
          books.report(
            "state.line",
            `the state binds ${id} to ${band.name} page ${place}, the operations to ${band.placeOf(id)}`,
            { band, page: place },
          );
        }
      }
      if (told !== undefined && told.live !== liveOf(books, band))
        books.report(
          "state.line",
          `the state has ${told.live} live pages of ${band.name}, the operations left ${band.places.size}`,
          { band },
        );
    }
    return this.#take();
  }

  /** The run is over: what is live and nobody's has leaked. @param digest - that of the `end` line, if it has one */
  end(digest: string | null = null): readonly Finding[] {
    const books = this.#books;
    reportLeaks(books, this.#leaks);
    if (digest !== null && !this.#digests.isEmpty) {
      const fold = this.#digests.fold(books);
      if (fold !== digest)
        books.report("end.digest", `the end has ${digest}, the components fold to ${fold}`);
    }
    return this.#take();
  }

  #take(): readonly Finding[] {
    const { found } = this.#books;
    if (found.length > 0) this.#books.found = [];
    return found;
  }
}
