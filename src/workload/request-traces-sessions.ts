// Reader of kv-cache-tester sessions: one session of a coding agent a line, its requests in turns that extend, rewind or
// leave the last one's prefix, and sub-agents with requests of their own. Ids of blocks mean something inside one session
// only, so each session gets a range of its own. The files tell no time of day: when a session starts is made up.
import { InputError } from "../base/errors.js";
import { shown, suggestion } from "../trace/messages.js";
import { eachLine } from "./line-stream.js";
import {
  asRow,
  blocksField,
  checkCover,
  rowObject,
  secondsField,
  wholeField,
  wordField,
  wrongField,
} from "./request-fields.js";
import type { Row, RowPlace } from "./request-fields.js";
import { plainAccount } from "./request-trace.js";
import type { BlockRun, RequestTrace, TracedRequest } from "./request-trace.js";
import { below } from "../trace/messages.js";

const SESSION_GAP_MS = 10_000; // from one session's start to the next one's: made up
const TYPES = ["n", "s", "subagent"] as const;

/** @internal */
export const KV_CACHE_TESTER = {
  name: "kv-cache-tester",
  about:
    "kv-cache-tester: one session of a coding agent a line, with sub-agents; block ids local to it",
} as const;

/** Reads the first `limit` requests by arrival. Throws `InputError` with file, line and field. @internal */
export async function readSessions(
  file: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RequestTrace> {
  const reader = new SessionsReader();
  const take = (line: string, number: number): boolean => {
    reader.session(line, { file, line: number });
    return true;
  };
  await eachLine(file, take, signal);
  if (reader.requests.length === 0)
    throw new InputError("input_format", "holds no request", { file });
  // sorting is stable: of equal arrivals the earlier line is first
  const requests = reader.requests
    .sort((left, right) => left.arrival - right.arrival)
    .slice(0, limit);
  const { facts, blockTokens } = reader;
  const start = `no time of day in the file: sessions start ${String(SESSION_GAP_MS / 1000)} s after one another`;
  const beyond = reader.requests.length - requests.length;
  const account = plainAccount(reader.requests.length, {
    invented: { session_start: start },
    dropped: beyond === 0 ? {} : { beyond_the_limit: beyond },
    facts,
  });
  return { name: KV_CACHE_TESTER.name, blockTokens, requests, seed: null, account };
}

/** What one conversation, a session's own or a sub-agent's, sums up to. */
interface Sums {
  input: number; // tokens
  output: number; // tokens
}

class SessionsReader {
  readonly requests: TracedRequest[] = [];
  readonly facts: Record<string, number> = {
    sessions: 0,
    subagents: 0,
    first_turns: 0,
    extended_turns: 0,
    repeated_turns: 0,
    rewound_turns: 0,
    unrelated_turns: 0,
  };
  blockTokens = 0;
  #scope: string | null = null;
  #base = 0; // added to the ids of the session under way
  #nextBase = 0;

  session(line: string, place: RowPlace): void {
    const session = rowObject(line, place, "a session");
    this.#checkHead(session, place);
    this.#base = this.#nextBase;
    const start = this.#count("sessions") * SESSION_GAP_MS;
    const own: Sums = { input: 0, output: 0 };
    const others: Sums = { input: 0, output: 0 };
    const subagents = this.facts["subagents"] ?? 0;
    this.#conversation(session, start, own, others, place);
    const spawned = (this.facts["subagents"] ?? 0) - subagents;
    if (Object.hasOwn(session, "totals"))
      checkTotals(asRow(session["totals"], place, "totals"), own, others, spawned, place);
  }

  #checkHead(session: Row, place: RowPlace): void {
    const tokens = wholeField(session, "block_size", place);
    if (tokens === 0 || (this.blockTokens > 0 && tokens !== this.blockTokens)) {
      const expected = this.blockTokens > 0 ? `${this.blockTokens} as above` : "at least 1";
      wrongField(place, "block_size", expected, `block_size ${tokens}, expected ${expected}`);
    }
    this.blockTokens = tokens;
    const scope = wordField(session, "hash_id_scope", place);
    if (scope !== "local" && scope !== "global") {
      const expected = '"local" or "global"';
      const message = `hash_id_scope must be ${expected}, found ${shown(scope)}`;
      wrongField(place, "hash_id_scope", expected, message);
    }
    if (this.#scope !== null && scope !== this.#scope) {
      const message = `hash_id_scope ${scope} after ${this.#scope}: ids of two scopes cannot be told apart`;
      wrongField(place, "hash_id_scope", this.#scope, message);
    }
    this.#scope = scope;
  }

  /** The requests of a session or of a sub-agent, from `start` (ms) on. */
  #conversation(of: Row, start: number, own: Sums, others: Sums, place: RowPlace): void {
    const list = Object.hasOwn(of, "requests") ? of["requests"] : undefined;
    if (!Array.isArray(list))
      wrongField(place, "requests", "a list", `requests must be a list, found ${shown(list)}`);
    let latest = 0;
    let last: readonly BlockRun[] | null = null;
    for (const [index, value] of list.entries()) {
      const path = below(below(place.path ?? "", "requests"), index);
      const at = { ...place, path };
      const row = asRow(value, at, "a request");
      const time = secondsField(row, "t", at);
      if (time < latest) {
        const message = `t ${shown(row["t"])} is before that of the request above`;
        wrongField(at, "t", "requests in the order of their time", message);
      }
      latest = time;
      if (this.#isSubagent(row, at)) {
        this.#count("subagents");
        this.#conversation(row, start + time, others, others, at);
      } else {
        const request = this.#request(row, start + time, at);
        own.input += request.input;
        own.output += request.output;
        this.#count(turnOf(request.blocks, last));
        last = request.blocks;
        this.requests.push(request);
      }
    }
  }

  #isSubagent(row: Row, place: RowPlace): boolean {
    const type = wordField(row, "type", place);
    if (TYPES.some((known) => known === type)) return type === "subagent";
    const expected = TYPES.map((word) => `"${word}"`).join(", ");
    const message = `unknown type ${shown(type)}, expected one of ${expected}${suggestion(type, TYPES)}`;
    return wrongField(place, "type", expected, message);
  }

  #request(row: Row, arrival: number, place: RowPlace): TracedRequest {
    const input = wholeField(row, "in", place);
    const output = wholeField(row, "out", place);
    const local = blocksField(row, "hash_ids", place);
    checkCover(
      { input, blocks: local },
      this.blockTokens,
      false,
      { ids: "hash_ids", input: "in" },
      place,
    );
    const blocks = this.#scope === "global" ? local : local.map((run) => this.#scoped(run, place));
    return { arrival, input, output, blocks };
  }

  #scoped([first, count]: BlockRun, place: RowPlace): BlockRun {
    const end = this.#base + first + count;
    if (!Number.isSafeInteger(end)) {
      const expected = "ids below 2^53 over all sessions";
      wrongField(place, "hash_ids", expected, `hash_ids: expected ${expected}`);
    }
    this.#nextBase = Math.max(this.#nextBase, end);
    return [this.#base + first, count];
  }

  /** Counts one more; how many there were before. */
  #count(what: string): number {
    const before = this.facts[what] ?? 0;
    this.facts[what] = before + 1;
    return before;
  }
}

/** How a turn's prefix stands to that of the turn before it. */
function turnOf(blocks: readonly BlockRun[], last: readonly BlockRun[] | null): string {
  if (last === null) return "first_turns";
  const shared = sharedBlocks(blocks, last);
  const [now, before] = [lengthOf(blocks), lengthOf(last)];
  if (shared === before) return now === before ? "repeated_turns" : "extended_turns";
  return shared === 0 ? "unrelated_turns" : "rewound_turns";
}

function lengthOf(runs: readonly BlockRun[]): number {
  return runs.reduce((sum, [, count]) => sum + count, 0);
}

/** How many leading blocks two lists share: runs are as long as can be, so they differ where their beginnings do. */
function sharedBlocks(left: readonly BlockRun[], right: readonly BlockRun[]): number {
  let shared = 0;
  for (const [index, [first, count]] of left.entries()) {
    const other = right[index];
    if (other === undefined || other[0] !== first) return shared;
    shared += Math.min(count, other[1]);
    if (count !== other[1]) return shared;
  }
  return shared;
}

/** The sums that the file itself tells must be those of its requests. */
function checkTotals(totals: Row, own: Sums, others: Sums, spawned: number, place: RowPlace): void {
  const expect = (of: Row, key: string, sum: number, path: string): void => {
    const told = wholeField(of, key, { ...place, path });
    if (told === sum) return;
    const message = `${path}/${key} says ${String(told)}, the requests sum up to ${String(sum)}`;
    wrongField({ ...place, path }, key, String(sum), message);
  };
  for (const [key, sums] of [
    ["parent_tokens", own],
    ["subagent_tokens", others],
  ] as const) {
    if (!Object.hasOwn(totals, key)) continue;
    const told = asRow(totals[key], place, key);
    expect(told, "input", sums.input, `/totals/${key}`);
    expect(told, "output", sums.output, `/totals/${key}`);
  }
  if (Object.hasOwn(totals, "subagent_count")) expect(totals, "subagent_count", spawned, "/totals");
}
