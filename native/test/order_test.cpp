// The order of streams: what waits, what does not, and that a missing wait shows in the bytes.
#include <chrono>
#include <functional>

#include "support/machine.hpp"

namespace {

using namespace test;
using Stamps = std::vector<std::uint32_t>;
using Clock = std::chrono::steady_clock;

// A test whose first verb must outlast the others: on a machine that stood still meanwhile it is tried again with a longer rest.
// `attempt` gets the rest in microseconds and says whether the order it needs came about.
void with_rest(const std::function<bool(std::int32_t)> &attempt) {
  for (std::int32_t rest_us = 50000; rest_us <= 3200000; rest_us *= 4) {
    if (attempt(rest_us)) return;
  }
  CHECK(!"the machine is too slow for this test");
}

const Words bind_and_row = script({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_ROW, {1, 0, 1, 4})});
// Forward 1 writes unit 0 of id 4, which lies in page 8, after a rest.
Words forward_after(std::int32_t rest_us) { return verb(UT_FORWARD, {1, rest_us, 0, 0, 1, 0, 4, 0, 1, 0, 7}); }
const Stamps written{ut_stamp_of(7, 0), 0, 0, 0};
const Stamps nothing{0, 0, 0, 0};

void a_wait_puts_the_later_write_last() {
  Machine machine;
  machine.run({bind_and_row, forward_after(50000), verb(UT_RECORD, {1}), verb(UT_WAIT, {1}), verb(UT_ZERO, {0, 1, 8})});
  CHECK(machine.stamps(0, 8) == nothing);
}

void without_a_wait_the_earlier_write_wins() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    machine.run({bind_and_row, forward_after(rest_us), verb(UT_RECORD, {1}), verb(UT_ZERO, {0, 1, 8}), verb(UT_HOSTREAD)});
    if (machine.query(1) == 1) return false;
    CHECK(machine.stamps(0, 8) == written);
    return true;
  });
}

void a_barrier_waits_for_metadata_alone() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    machine.run({bind_and_row, forward_after(rest_us), verb(UT_BARRIER, {1}), verb(UT_BIND, {0, 0, 1, 4, 9}),
                 verb(UT_ZERO, {0, 1, 8}), verb(UT_HOSTREAD)});
    if (machine.query(1) == 1) return false;
    CHECK(machine.stamps(0, 8) == written); // where the metadata phase found the id, after the zeros
    CHECK(machine.stamps(0, 9) == nothing);
    return true;
  });
}

void without_a_barrier_a_forward_finds_a_later_binding() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    // The forward waits on its own stream, so that its metadata phase is late.
    machine.run({bind_and_row, verb(UT_HOSTREAD), verb(UT_DELAY, {UT_STREAM_FORWARD, rest_us}), forward_after(0),
                 verb(UT_BIND, {0, 0, 1, 4, 9}), verb(UT_HOSTREAD)});
    if (machine.query(1) == 1) return false;
    CHECK(machine.stamps(0, 9) == written);
    CHECK(machine.stamps(0, 8) == nothing);
    return true;
  });
  Machine machine;
  machine.run({bind_and_row, verb(UT_DELAY, {UT_STREAM_FORWARD, 20000}), forward_after(0), verb(UT_BARRIER, {1}),
               verb(UT_BIND, {0, 0, 1, 4, 9})});
  CHECK(machine.stamps(0, 8) == written);
}

void forwards_stand_behind_the_schedule() {
  Machine machine;
  machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, 20000}), bind_and_row, forward_after(0), verb(UT_HOSTWAIT, {1})});
  CHECK(machine.stamps(0, 8) == written);
  CHECK(machine.faults().empty()); // it found the binding
}

void host_copies_stand_behind_schedule_and_forwards() {
  Machine machine;
  machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, 10000}), bind_and_row, verb(UT_STAMP, {0, 1, 8, 3, 44}),
               forward_after(20000), verb(UT_HOSTCOPY, {2, 0, 0, 1, 0, 8, 1}), verb(UT_WAIT, {2}), verb(UT_ZERO, {0, 1, 8}),
               verb(UT_HOSTCOPY, {3, 1, 0, 1, 0, 20, 1}), verb(UT_HOSTWAIT, {3})});
  CHECK((machine.stamps(0, 20) == Stamps{ut_stamp_of(7, 0), 0, 0, 44}));
  CHECK(machine.stamps(0, 8) == nothing);
}

void fills_stand_behind_schedule_and_forwards() {
  Machine machine;
  machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, 10000}), bind_and_row, verb(UT_STAMP, {0, 1, 8, 1, 44}),
               forward_after(20000), verb(UT_FILL, {2, 0, 1, 0, 8, 0, 2, 30, 9}), verb(UT_WAIT, {2}),
               verb(UT_MOVE, {0, 0, 1, 8, 20}), verb(UT_HOSTREAD)});
  CHECK(machine.query(2) == 1);
  const Stamps filled{ut_stamp_of(9, 30), ut_stamp_of(9, 31), 0, 0};
  CHECK(machine.stamps(0, 20) == filled);
  CHECK(machine.stamps(0, 8) == filled); // the forward wrote before
}

// OUT and IN go side by side: a load does not wait for a backup that was given before.
void out_and_in_are_two_streams() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    machine.run({verb(UT_STAMP, {0, 1, 8, 0, 5}), verb(UT_HOSTCOPY, {1, 0, rest_us, 1, 0, 8, 0}),
                 verb(UT_HOSTCOPY, {2, 1, 0, 1, 0, 9, 1}), verb(UT_HOSTWAIT, {2})});
    return machine.query(1) == 0;
  });
}

void a_wait_is_for_what_was_recorded() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    // The rest behind the record is not waited for.
    machine.run({bind_and_row, forward_after(0), verb(UT_RECORD, {1}), verb(UT_FORWARD, {2, rest_us, 0, 0, 0}),
                 verb(UT_WAIT, {1}), verb(UT_HOSTREAD)});
    if (machine.query(2) == 1) return false;
    CHECK(machine.query(1) == 1);
    return true;
  });
  // What stands before the record is, though another forward brought it.
  Machine machine;
  machine.run({forward_after(0), verb(UT_FORWARD, {2, 20000, 0, 0, 0}), verb(UT_RECORD, {1}), verb(UT_WAIT, {1}),
               verb(UT_HOSTREAD)});
  CHECK(machine.query(2) == 1);
}

void the_host_waits_for_an_unrecorded_forward_by_all_of_them() {
  Machine machine;
  machine.run({forward_after(0), verb(UT_FORWARD, {2, 20000, 0, 0, 0}), verb(UT_HOSTWAIT, {1})});
  CHECK(machine.query(2) == 1);
}

void a_submission_does_not_wait() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    const Clock::time_point start = Clock::now();
    machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, rest_us}), verb(UT_ZERO, {0, 1, 8}), forward_after(0),
                 verb(UT_HOSTCOPY, {2, 0, 0, 1, 0, 8, 0}), verb(UT_SEND, {3, rest_us, 1, 0}), verb(UT_RECEIVE, {4, 0, 0})});
    const bool is_quick = Clock::now() - start < std::chrono::microseconds(rest_us);
    if (!is_quick) return false;
    machine.run({verb(UT_SYNCHRONIZE)});
    CHECK(Clock::now() - start >= std::chrono::microseconds(rest_us)); // a rest is a real one
    for (const std::uint32_t handle : {1u, 2u, 3u, 4u}) CHECK(machine.query(handle) == 1);
    return true;
  });
}

// The engine waits for no forward and no copy, and its rests run side by side.
void sends_stand_beside_forwards() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    const std::int32_t lane_a = bits(hash_of({9, 0, 0, 0}).a);
    machine.run({verb(UT_STAMP, {0, 1, 8, 0, 9}), verb(UT_FORWARD, {5, rest_us, 0, 0, 0}),
                 verb(UT_SEND, {1, rest_us, 1, 0}), verb(UT_SEND, {2, 0, 1, 1, 0, 8, lane_a, 15}), verb(UT_HOSTWAIT, {2})});
    if (machine.query(5) == 1 || machine.query(1) == 1) return false;
    machine.run({verb(UT_HOSTWAIT, {1})});
    CHECK(machine.faults().empty());
    return true;
  });
}

void sends_stand_behind_the_schedule() {
  Machine machine;
  machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, 20000}), verb(UT_STAMP, {0, 1, 8, 0, 9}),
               verb(UT_SEND, {1, 0, 1, 1, 0, 8, bits(hash_of({9, 0, 0, 0}).a), 15}), verb(UT_HOSTWAIT, {1})});
  CHECK(machine.faults().empty());
}

void a_send_reads_what_is_written_under_it() {
  with_rest([](std::int32_t rest_us) {
    Machine machine;
    const std::int32_t lane_a = bits(hash_of({9, 0, 0, 0}).a);
    machine.run({verb(UT_STAMP, {0, 1, 8, 0, 9}), verb(UT_HOSTREAD), verb(UT_SEND, {1, rest_us, 1, 1, 0, 8, lane_a, 15}),
                 verb(UT_ZERO, {0, 1, 8}), verb(UT_HOSTREAD)});
    if (machine.query(1) == 1) return false;
    const std::vector<ut_fault> faults = machine.faults(); // waits for the send
    CHECK(faults.size() == 1 && faults[0].kind == 2 && faults[0].found == 0);
    return true;
  });
}

void receives_stand_behind_the_schedule() {
  Machine machine;
  machine.run({verb(UT_DELAY, {UT_STREAM_SCHEDULE, 20000}), verb(UT_ZERO, {0, 1, 8}),
               verb(UT_RECEIVE, {1, 0, 1, 0, 8, 0, 1, 0, 7}), verb(UT_HOSTWAIT, {1})});
  CHECK(machine.stamps(0, 8) == written);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      {
          {"a wait puts the later write last", a_wait_puts_the_later_write_last},
          {"without a wait the earlier write wins", without_a_wait_the_earlier_write_wins},
          {"a barrier waits for metadata alone", a_barrier_waits_for_metadata_alone},
          {"without a barrier a forward finds a later binding", without_a_barrier_a_forward_finds_a_later_binding},
          {"forwards stand behind the schedule", forwards_stand_behind_the_schedule},
          {"host copies stand behind schedule and forwards", host_copies_stand_behind_schedule_and_forwards},
          {"fills stand behind schedule and forwards", fills_stand_behind_schedule_and_forwards},
          {"out and in are two streams", out_and_in_are_two_streams},
          {"a wait is for what was recorded", a_wait_is_for_what_was_recorded},
          {"the host waits for an unrecorded forward by all of them",
           the_host_waits_for_an_unrecorded_forward_by_all_of_them},
          {"a submission does not wait", a_submission_does_not_wait},
          {"sends stand beside forwards", sends_stand_beside_forwards},
          {"sends stand behind the schedule", sends_stand_behind_the_schedule},
          {"a send reads what is written under it", a_send_reads_what_is_written_under_it},
          {"receives stand behind the schedule", receives_stand_behind_the_schedule},
      },
      count, arguments);
}
