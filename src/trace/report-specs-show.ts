// Specs of the JSON documents of `show`: a list, one operation with the arena around it, a plan.
import type { AnySpec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  BYTES,
  COUNT,
  NULL,
  PAGES,
  RATIO,
  either,
  integer,
  list,
  map,
  nullable,
  openObject,
  optional,
  text,
  tuple,
  word,
} from "./fields.js";
import { ERROR_BODY, FAILURE } from "./report-parts.js";
import { PLAN_REPORT } from "./report-specs-tools.js";

const CLASS = word("live", "fixed", "hole", "pending", "vacated", "fenced", "free");
const HOLDER = openObject(
  {
    kind: word("request", "node", "load", "transfer", "group"),
    name: text(), // of a tree node its place in the state's list
    purpose: optional(text()), // of a state slot
  },
  ANYTHING,
);
const CELL = openObject(
  {
    first: PAGES,
    count: PAGES,
    class: CLASS,
    virtual: nullable(COUNT), // id of the first page, ascending with the page
    holders: list(HOLDER),
    waits: list(text()), // forwards, copies and transfers
  },
  ANYTHING,
);
const LANE = openObject(
  {
    band: text(),
    kind: word("full", "window", "state"),
    grow: word("up", "down", "float"),
    unit_bytes: BYTES,
    page_bytes: BYTES,
    pages: PAGES, // on the grid
    first_page: PAGES, // usable
    span: tuple(PAGES, PAGES), // first, count
    span_bytes: tuple(BYTES, BYTES), // half open
    live: PAGES,
    fixed: PAGES,
    holes: PAGES,
    pending: PAGES,
    vacated: PAGES,
    free_ids: nullable(COUNT), // null: takes the owner's
    capacity: PAGES, // if the others were packed
    occupancy: RATIO, // of the arena, 0 to 1
    fragmentation: RATIO, // of the span, 0 to 1
    cells: list(CELL),
  },
  ANYTHING,
);
/** The page map of an arena. @internal */
export const PAGE_MAP: AnySpec = openObject(
  {
    arena_bytes: BYTES,
    sink_bytes: BYTES,
    usable_bytes: BYTES,
    live_bytes: BYTES,
    span_bytes: BYTES,
    occupancy: RATIO,
    fragmentation: RATIO,
    move_epoch: COUNT,
    fences: list(openObject({ from: BYTES, to: BYTES, signals: list(text()) }, ANYTHING)),
    lanes: list(LANE), // low to high
  },
  ANYTHING,
);
const BLOCK = openObject({ id: text(), from: BYTES, bytes: BYTES }, ANYTHING);
const HEAP_MAP = openObject(
  {
    arena_bytes: nullable(BYTES),
    objects: COUNT,
    live_bytes: BYTES,
    lanes: list(
      openObject(
        {
          pool: text(), // "" where none is named
          blocks: list(BLOCK), // by address
          unplaced: COUNT, // objects whose address no answer told
          live_bytes: BYTES,
          end_bytes: BYTES,
          peak_bytes: BYTES,
          gap_bytes: BYTES,
          largest_gap_bytes: BYTES,
        },
        ANYTHING,
      ),
    ),
  },
  ANYTHING,
);
const MAP = nullable(either(PAGE_MAP, HEAP_MAP));

const USE = openObject({ class: CLASS, virtual: nullable(COUNT) }, ANYTHING);
const CHANGE = openObject({ first: PAGES, count: PAGES, before: USE, after: USE }, ANYTHING);

/** Where an implementation first answered otherwise than recorded. */
const PARTING = openObject(
  {
    n: COUNT,
    op: text(),
    what: word("answer", "digest", "failure"),
    message: nullable(text()),
  },
  ANYTHING,
);
const SOURCE = either(
  openObject({ from: word("trace") }, ANYTHING),
  openObject(
    {
      from: word("replay"),
      spec: text(),
      after: integer("", -1), // began behind this operation; -1: at the beginning
      operations: COUNT,
      digests_compared: BOOLEAN,
      parting: nullable(PARTING),
    },
    ANYTHING,
  ),
  openObject({ from: word("nowhere"), why: text() }, ANYTHING),
);
/** One side at one operation. @internal */
export const SHOWN_SIDE: AnySpec = openObject(
  {
    spec: nullable(text()), // null: the trace
    answer: nullable(ANYTHING), // as on a line: ok or err, fx, digest; null: none
    failure: nullable(FAILURE),
    source: SOURCE, // of the states
    before: MAP,
    after: MAP,
    changes: nullable(map("any", list(CHANGE))), // by band; null: not both maps are known
    state: optional(ANYTHING), // with `--state`
  },
  ANYTHING,
);

const LOOK = openObject(
  {
    command: word("show"),
    verdict: word("shown", "parted", "incomplete"),
    run: text(),
    domain: word("kv", "heap"),
    n: COUNT,
    op: text(),
    args: ANYTHING,
    base: SHOWN_SIDE,
    candidate: nullable(SHOWN_SIDE),
    parting: nullable(PARTING), // of the implementation that stands in for the trace
    operations: COUNT, // read
    replayed: COUNT,
    error: NULL,
  },
  ANYTHING,
);

const LISTED_RUN = openObject(
  {
    run: text(),
    domain: word("kv", "heap"),
    first: COUNT,
    operations: COUNT,
    refusals: COUNT,
    states: COUNT, // `state` lines
  },
  ANYTHING,
);
const LISTING = openObject(
  {
    command: word("show"),
    verdict: word("shown", "incomplete"),
    runs: list(LISTED_RUN),
    run_count: COUNT, // above the length of `runs` where there are very many
    lines: nullable(list(ANYTHING)), // operations as they stand in the trace; null: several runs are there to choose from
    omitted: COUNT, // operations of the asked range behind them
    operations: COUNT, // read
    error: nullable(ERROR_BODY), // what ended the reading
  },
  ANYTHING,
);

/** `show --json`: of `show FILE`, of `show FILE --op N`, of `show --plan`. @public */
export const SHOW_REPORT: AnySpec = either(LISTING, LOOK, PLAN_REPORT);
