// The shipped scenarios: each passes on the allocator, fails on something that only says yes, and ends drained.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Answer, KvOperation, RunConfig } from "../../src/base/operations.js";
import type { State } from "../../src/base/state.js";
import { PLAN_RULES } from "../../src/kv/plan/refusals.js";
import { KVStorage } from "../../src/kv/storage.js";
import {
  firstLedgerRecord,
  firstUnsettled,
  OpenThings,
} from "../../src/workload/scenario-drain.js";
import {
  checkFinally,
  differenceFromBoot,
  loadScenarios,
  matchExpectation,
  scenarioWorkload,
} from "../../src/workload/scenario.js";

const FOLDER = fileURLToPath(new URL("../../scenarios/", import.meta.url));
const SCENARIOS = loadScenarios([FOLDER]);
const RUNS = SCENARIOS.flatMap((scenario) =>
  scenario.configs.map(([name]) => ({ scenario, name })),
);

/** The first thing wrong with a run, as text; null where nothing is. */
function firstFault(
  { scenario, name }: (typeof RUNS)[number],
  answer: (operation: KvOperation) => Answer,
  state: () => State | null,
): string | null {
  const workload = scenarioWorkload(scenario, name);
  let last: Answer | null = null;
  let boot: State | null = null;
  for (let n = 0; ; n++) {
    const step = workload.next(last);
    if (step === null || workload.drainsFrom === n) {
      const now = state();
      const mismatch = now === null ? null : checkFinally(scenario, now);
      if (mismatch !== null && workload.drainsFrom === n)
        return `at the end: ${JSON.stringify(mismatch)}`;
    }
    if (step === null || !("operation" in step)) break;
    last = answer(step.operation as KvOperation);
    if (n === 0) boot = state();
    const mismatch = matchExpectation(workload.expectation(n), last, state());
    if (mismatch !== null)
      return `operation ${String(n)} ${step.operation.op}: ${JSON.stringify(mismatch)}`;
  }
  const drained = state();
  if (workload.drainsFrom === null || boot === null || drained === null) return null;
  const difference = differenceFromBoot(boot, drained);
  return difference === null ? null : `after the drain: ${JSON.stringify(difference)}`;
}

describe.each(RUNS)("$scenario.name on $name", (run) => {
  test("passes on the allocator", () => {
    const config = run.scenario.configs.find(([name]) => name === run.name)?.[1] as RunConfig;
    const storage = new KVStorage(config, { digestDepth: null });
    const fault = firstFault(
      run,
      (operation) => storage.apply(operation),
      () => (storage.direct === null ? null : storage.state()), // refused at boot: no state
    );
    expect(fault).toBeNull();
  });

  test("fails on an implementation that grants everything and tells nothing", () => {
    expect(
      firstFault(
        run,
        () => ({ ok: {} }),
        () => null,
      ),
    ).not.toBeNull();
  });
});

/** What boot is refused as, by a scenario that expects it to be; null where it boots. */
function refusedAtBoot({ ops }: (typeof SCENARIOS)[number]): string | null {
  const refusal = ops[0]?.expect?.err as { code: string; rule?: string } | undefined;
  return refusal === undefined ? null : (refusal.rule ?? refusal.code);
}

test("each refusal of plan, sizing and start-up has a scenario that states its rule", () => {
  const stated = new Set<unknown>(SCENARIOS.map(refusedAtBoot));
  for (const { ops } of SCENARIOS) {
    for (const { expect: expected } of ops) {
      const refusal = expected?.err as { code?: string; rule?: string } | undefined;
      stated.add(refusal?.rule ?? refusal?.code);
    }
  }
  for (const rule of [...PLAN_RULES, "refused_floor", "refused_backing"]) {
    expect(stated, rule).toContain(rule);
  }
});

test("which configurations each scenario runs on", () => {
  const booting = SCENARIOS.filter((scenario) => refusedAtBoot(scenario) === null);
  const table = booting.map(({ name, configs }) => [name, ...configs.map(([config]) => config)]);
  expect(table).toEqual([
    ["admission_on_a_tight_chain", null],
    ["arena_grows_and_shrinks", null],
    ["batch_of_ten_ends_one_by_one", null],
    ["boot_floor_met_exactly", null],
    ["broken_contracts_of_rows", null],
    ["byte_changes_sides", "full+state/p16"],
    ["bytes_fenced_by_two", null],
    ["cancelled_growth_gives_back", null],
    ["checkpoint_stalls_and_goes_on", null],
    ["checkpoint_takes_a_slot_that_waits", null],
    ["chunks_end_on_the_grid", null],
    ["contents_discarded_keys_gone", null],
    ["conversation_leaves_the_host_backwards", null],
    ["copy_slot_survives_a_refusal", null],
    ["deferred_free_keeps_order", "full+window/p1"],
    ["deferred_publication_reads_again", null],
    ["double_free_plain_and_grouped", "full+window/p1", "full+window/p4"],
    ["drafts_fork_a_state", null],
    ["duplicates_freed_rows_renamed", null],
    ["every_checkpoint_is_kept", null],
    ["evicting_many_spares_the_read", null],
    ["failed_send_releases_at_once", null],
    ["fill_to_the_last_page", null],
    ["finish_ends_what_nobody_was_told", null],
    ["first_of_two_stages", null],
    ["float_makes_room", "full+window+state/p2"],
    ["flush_comes_to_rest", null],
    ["flush_rests_beside_reservations", null],
    ["flush_rests_with_everything_fixed", null],
    ["forwards_in_order", null],
    ["frees_that_would_help", null],
    ["growth_fails_halfway", "full+state/p1"],
    ["growth_waits_for_old_readers", null],
    ["holes_behind_a_transfer", null],
    ["host_source_stays_while_read", null],
    ["ids_first_in_first_out", null],
    ["late_writer_keeps_its_pages", null],
    ["load_across_a_relief", null],
    ["load_grows_over_fenced_bytes", null],
    ["load_mints_at_the_owner", null],
    ["load_not_ready_for_a_forward", null],
    ["load_waits_for_a_send", null],
    ["move_cap_respected", null],
    ["moved_page_read_by_two", null],
    ["moved_pages_do_not_drift", null],
    ["neighbour_grows_into_fenced_bytes", null],
    ["no_transfers_beside_stages", null],
    ["numbers_of_a_failed_load", null],
    ["one_page_less_and_it_never_fits", null],
    ["overlapped_finish_of_one_request", null],
    ["page_of_two_transfers", "full+window/p1"],
    ["pending_counts_as_free", null],
    ["receive_before_and_after_it_is_told", null],
    ["receive_ends_with_its_last_writer", null],
    ["receive_waits_a_backup", null],
    ["receive_waits_before_it_tells", null],
    ["receive_waits_for_a_send", null],
    ["refused_load_takes_nothing", "full+state/p1"],
    ["refused_take_changes_nothing", "full+window/p1"],
    ["relief_around_a_reservation", null],
    ["relief_finds_room_in_what_waited", null],
    ["retention_floor_numbers", null],
    ["retention_keeps_a_page", null],
    ["retention_without_sharing", null],
    ["retired_ahead_of_its_row", null],
    ["retracted_request_comes_back", null],
    ["reuse_does_not_drift", null],
    ["row_reused_under_a_forward", null],
    ["second_of_two_stages", null],
    ["send_left_behind_a_frontier", null],
    ["sends_name_places", null],
    ["sent_rows_stay_in_every_band", null],
    ["settled_then_pending_again", null],
    ["shortened_row_retires_again", null],
    ["stage_load_binds_first", null],
    ["stages_must_agree", "full+state/p1"],
    ["state_copy_waits_for_a_backup", null],
    ["state_gets_bytes_of_full", null],
    ["state_moves_under_a_send", "full+window+state/p2"],
    ["state_slots_exhausted", "full+state/p1", "full+state/p16"],
    ["state_slots_ignore_the_page_size"].concat([
      "full+state/p1",
      "full+state/p4",
      "full+state/p16",
      "full+state/p64",
    ]),
    ["states_are_found_by_length", null],
    ["temporary_lock_takes_back_its_own", null],
    ["ten_receives_to_the_byte", null],
    ["tracked_beyond_a_freed_tail", null],
    ["transfer_ends_inside_a_group", null],
    ["two_requests_take_turns", null],
    ["vacated_page_becomes_a_fenced_hole", null],
    ["vacated_source_under_reader", null],
    ["what_never_fits_is_told_at_once", null],
    ["window_of_a_node_comes_back", null],
    ["window_retirement_numbers", null],
  ]);
});

test("each scenario has a story of its own and stands in the README", () => {
  const readme = readFileSync(`${FOLDER}README.md`, "utf8");
  for (const { name, story, file, invalid } of SCENARIOS) {
    expect(file.endsWith(`${name}.json`)).toBe(true);
    expect(story.length).toBeGreaterThan(60);
    expect(readme).toContain(`\`${name}\``);
    expect(invalid).toBeNull();
  }
  expect(SCENARIOS.length).toBe(
    readdirSync(FOLDER).filter((name) => name.endsWith(".json")).length - 1,
  );
});

describe("the drain", () => {
  const learn = (things: OpenThings, ...operations: KvOperation[]): void => {
    for (const operation of operations) things.learn(operation, { ok: {} });
  };
  const drained = (things: OpenThings): string[] => things.drainOperations().map(({ op }) => op);

  test("of nothing: flush twice, look for leaks", () => {
    expect(drained(new OpenThings())).toEqual(["chain.flush", "chain.flush", "check.idle"]);
  });

  test("ends what is open, in an order in which each step is legal", () => {
    const things = new OpenThings();
    learn(
      things,
      { op: "row.alloc", args: { reqs: ["r1", "r2"] } },
      { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 5 }] } },
      { op: "forward.launch", args: { step: "f1", batch: [], mode: "extend" } },
      { op: "forward.record", args: { step: "f1", writes: "known" } },
      { op: "group.begin", args: {} },
      { op: "forward.launch", args: { step: "f2", batch: [], mode: "decode" } },
      { op: "host.backup", args: { copy: "c1", key: [[1, 4]], len: 4 } },
      { op: "host.load_reserve", args: { load: "l1", demand: { full: 1 } } },
      { op: "net.send", args: { transfer: "t1", req: "r1", from: 0, to: 5 } },
      { op: "tree.lock", args: { key: [[1, 4]], len: 4, req: "r9" } },
      { op: "tree.insert", args: { req: "r1", key: [[1, 4]], len: 4 } },
    );
    expect(things.unsettled()).toEqual([
      "forward f1",
      "forward f2",
      "an open group",
      "copy c1",
      "load l1",
      "transfer t1",
    ]);
    expect(things.drainOperations()).toEqual([
      { op: "forward.record", args: { step: "f2", writes: "known" } },
      { op: "group.end", args: {} },
      { op: "host.load_cancel", args: { load: "l1" } },
      { op: "host.backup_done", args: { copy: "c1", outcome: "ok" } },
      { op: "net.end", args: { transfer: "t1", outcome: "timeout" } },
      { op: "forward.process", args: { step: "f1" } },
      { op: "forward.process", args: { step: "f2" } },
      { op: "tree.unlock", args: { key: [[1, 4]], len: 4, req: "r9" } },
      { op: "request.finish", args: { req: "r1", len: 5, insert: false } },
      { op: "request.finish", args: { req: "r2", len: 0, insert: false } },
      { op: "contents.discard", args: {} },
      { op: "chain.flush", args: {} },
      { op: "chain.flush", args: {} },
      { op: "check.idle", args: {} },
    ]);
  });

  test("transfers end with their writers, at a timeout, a send at its first failure, or by another operation", () => {
    const things = new OpenThings();
    const open = (transfer: string, op: "net.send" | "net.receive", writers?: string[]): void => {
      const range = { req: "r1", from: 0, to: 1 };
      learn(things, { op, args: { transfer, ...range, ...(writers ? { writers } : {}) } });
    };
    const end = (transfer: string, outcome: "ok" | "failed" | "timeout", writer?: string): void => {
      learn(things, {
        op: "net.end",
        args: { transfer, outcome, ...(writer === undefined ? {} : { writer }) },
      });
    };
    open("t1", "net.send");
    end("t1", "ok");
    open("t2", "net.send", ["w1", "w2"]);
    end("t2", "failed", "w1");
    open("t3", "net.receive", ["w1", "w2"]);
    end("t3", "failed", "w1");
    open("t4", "net.receive", ["w1", "w2"]);
    end("t4", "timeout");
    open("t5", "net.send");
    things.learn(
      { op: "chain.relieve", args: { demand: {} } },
      {
        ok: {
          spans: {},
          moves: {},
          step: "no_move",
          ended: { transfers: ["t5"], freed: {} },
        },
      },
    );
    expect(things.unsettled()).toEqual(["transfer t3"]);
    end("t3", "ok", "w2");
    expect(things.unsettled()).toEqual([]);
  });

  test("what was refused or has ended is not ended again", () => {
    const things = new OpenThings();
    things.learn({ op: "row.alloc", args: { reqs: ["r1"] } }, { err: { code: "refused_rows" } });
    learn(
      things,
      { op: "row.alloc", args: { reqs: ["r2", "r3"] } },
      { op: "row.free", args: { req: "r2" } },
      { op: "request.retract", args: { req: "r3" } },
      { op: "host.load_reserve", args: { load: "l1", demand: { full: 1 } } },
      { op: "host.load_submit", args: { load: "l1", copy: "c1" } },
      { op: "host.load_done", args: { copy: "c1", outcome: "ok" } },
      { op: "forward.launch", args: { step: "f1", batch: [], mode: "prebuilt" } },
      { op: "forward.process", args: { step: "f1" } },
      { op: "group.begin", args: {} },
      { op: "group.end", args: {} },
    );
    expect(drained(things)).toEqual(["chain.flush", "chain.flush", "check.idle"]);
  });
});

describe("states that are not at rest", () => {
  const config = SCENARIOS.find(({ name }) => name === "byte_changes_sides")!.configs[0]![1];
  const fresh = (): State => {
    const storage = new KVStorage(config, { digestDepth: null });
    storage.apply({ op: "boot", args: {} });
    // a copy that a test may spoil
    return JSON.parse(JSON.stringify(storage.state())) as State;
  };
  const band = (changes: object): State => ({
    ...fresh(),
    full: { ...(fresh()["full"] as object), ...changes },
  });

  test.each<[string, State, string]>([
    [
      "an unprocessed forward",
      { ...fresh(), forwards: { unprocessed: ["f1"], retired: null, open: null } },
      "/state/forwards/unprocessed",
    ],
    [
      "an open forward",
      { ...fresh(), forwards: { unprocessed: [], retired: null, open: "f1" } },
      "/state/forwards/open",
    ],
    ["pending pages", band({ pending: [{ key: "f1", pages: [[3, 1]] }] }), "/state/full/pending"],
    [
      "vacated pages",
      band({ vacated: [{ pages: [[3, 1]], readers: ["f1"] }] }),
      "/state/full/vacated",
    ],
  ])("%s", (_, state, path) => {
    expect(firstUnsettled(state)?.path).toBe(path);
  });

  test.each<[string, State, string]>([
    ["a span that is not back", band({ span: [9, 1] }), "/state/full/span"],
    ["a hole", band({ holes: [[9, 1]] }), "/state/full/holes"],
    ["a lost id", band({ free_ids: [[1, 3]] }), "/state/full/free_ids"],
    ["an open request", { ...fresh(), rows: { r1: {} as never } }, "/state/rows"],
    [
      "a ledger record",
      { ...fresh(), ledger: [{ use: "fixed", band: "full", pages: [[3, 1]], signal: "t1" }] },
      "/state/ledger",
    ],
  ])("%s", (_, state, path) => {
    expect(differenceFromBoot(fresh(), state)?.path).toBe(path);
  });

  test("a fresh state is at rest and is the boot state, whatever the order of its ids", () => {
    expect(firstUnsettled(fresh())).toBeNull();
    expect(firstLedgerRecord(fresh())).toBeNull();
    const [[first, count] = [0, 0]] = (fresh()["full"] as { free_ids: [number, number][] })
      .free_ids;
    const turned = band({
      free_ids: [
        [first + 1, count - 1],
        [first, 1],
      ],
    });
    expect(differenceFromBoot(fresh(), turned)).toBeNull();
  });
});
