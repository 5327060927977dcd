// Waits between streams: with a wait in place two pieces of work come one after the other, without it the delay that
// stands in one of them shows as a fault or as other bytes.
#pragma once
#include <chrono>

#include "rig.hpp"

namespace ut::test {

constexpr int32_t kDelay = 20000; // us

struct WaitRig : Rig {
  explicit WaitRig(const ut_backend *backend)
      : Rig(backend, 1 << 20, {{4096, 256, 1, 16, 100, 8, 0}}, 2, 8, UT_FILL_POISON | UT_CHECK_READS) {
    Script script; // ids 1 to 4 at pages 11 to 14, row 1 holds them, all units written and expected
    script.list(UT_BIND, {0, 1}, {1, 11, 2, 12, 3, 13, 4, 14}, 2);
    script.list(UT_ZERO, {0}, {11, 12, 13, 14, 20, 21}, 1);
    script.list(UT_ROW, {1, 0}, {1, 2, 3, 4}, 1);
    script.verb(UT_FORWARD, {1, 0, 0, 0, 2}, {0, 1, 0, 16, 0, 5, 0, 2, 0, 16, 16, 5});
    script.verb(UT_RECORD, {1});
    script.verb(UT_WAIT, {1});
    script.verb(UT_FORGET, {1});
    script.verb(UT_SYNCHRONIZE, {});
    run(script);
    compare("before the waits");
  }
};

inline void expect_that(bool holds, const char *what, bool has_wait) {
  if (!holds) failed("%s, wait %s", what, has_wait ? "present" : "skipped");
}

// A delayed forward reads page 11 while SCHEDULE zeroes it.
inline void wait_of_reader(const ut_backend *backend, bool has_wait) {
  WaitRig rig(backend);
  Script script;
  script.verb(UT_FORWARD, {2, kDelay, 1, 0, 0}, {1, 4});
  script.verb(UT_RECORD, {2});
  if (has_wait) script.verb(UT_WAIT, {2});
  script.list(UT_ZERO, {0}, {11}, 1);
  rig.submit(script);
  const size_t faults = rig.faults().size();
  expect_that(has_wait ? faults == 0 : faults == 16, "a forward that reads what is zeroed", has_wait);
}

// A delayed forward writes page 13, which SCHEDULE gives to somebody else.
inline void wait_of_writer(const ut_backend *backend, bool has_wait) {
  WaitRig rig(backend);
  Script script;
  script.verb(UT_FORWARD, {2, kDelay, 0, 0, 1}, {0, 3, 0, 16, 0, 9});
  script.verb(UT_RECORD, {2});
  if (has_wait) script.verb(UT_WAIT, {2});
  script.list(UT_ZERO, {0}, {13}, 1);
  rig.submit(script);
  const bool is_zero = rig.hash(0, 13).a == 0;
  expect_that(is_zero == has_wait, "a forward that writes what is zeroed", has_wait);
}

// A forward that comes late finds ids bound elsewhere; behind a barrier it has read them.
inline void wait_of_metadata(const ut_backend *backend, bool has_wait, bool has_clock) {
  WaitRig rig(backend);
  Script script;
  script.verb(UT_DELAY, {UT_STREAM_FORWARD, kDelay});
  script.verb(UT_FORWARD, {2, kDelay, 0, 0, 1}, {0, 3, 0, 16, 0, 9});
  if (has_wait) script.verb(UT_BARRIER, {2});
  script.list(UT_BIND, {0, 1}, {3, 20}, 2);
  script.verb(UT_HOSTREAD, {});
  const auto start = std::chrono::steady_clock::now();
  rig.submit(script);
  const auto waited =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  const bool went_to_old = rig.hash(0, 13).a != 0, went_to_new = rig.hash(0, 20).a != 0;
  expect_that(went_to_old == has_wait && went_to_new != has_wait, "a bind before the metadata is read", has_wait);
  if (has_wait && has_clock) expect_that(waited < 2 * kDelay - 2000, "the barrier does not wait for the payload", true);
}

// A delayed copy to the host takes a page that SCHEDULE zeroes.
inline void wait_of_host_copy(const ut_backend *backend, bool has_wait) {
  WaitRig rig(backend);
  const uint32_t before = rig.hash(0, 11).a;
  Script script;
  script.verb(UT_HOSTCOPY, {2, 0, kDelay, 1}, {0, 11, 5});
  if (has_wait) script.verb(UT_WAIT, {2});
  script.list(UT_ZERO, {0}, {11}, 1);
  script.verb(UT_SYNCHRONIZE, {});
  script.verb(UT_HOSTCOPY, {3, 1, 0, 1}, {0, 21, 5});
  rig.submit(script);
  expect_that((rig.hash(0, 21).a == before) == has_wait, "a copy to the host of what is zeroed", has_wait);
}

// A delayed load lands on a page that SCHEDULE stamps.
inline void wait_of_load(const ut_backend *backend, bool has_wait) {
  WaitRig rig(backend);
  Script script;
  script.verb(UT_HOSTCOPY, {2, 1, kDelay, 1}, {0, 20, 0});
  if (has_wait) script.verb(UT_WAIT, {2});
  script.list(UT_STAMP, {0}, {20, 0, 4711}, 3);
  rig.submit(script);
  expect_that((rig.hash(0, 20).a != 0) == has_wait, "a load over what is stamped", has_wait);
}

inline void wait_of_send(const ut_backend *backend, bool has_wait) {
  WaitRig rig(backend);
  const auto lane = static_cast<int32_t>(rig.hash(0, 11).a);
  Script script;
  script.verb(UT_SEND, {2, kDelay, 1, 1}, {0, 11, lane, 0xffff});
  if (has_wait) script.verb(UT_HOSTWAIT, {2});
  script.list(UT_ZERO, {0}, {11}, 1);
  rig.submit(script);
  const std::vector<ut_fault> faults = rig.faults();
  expect_that(has_wait ? faults.empty() : faults.size() == 1 && faults[0].kind == 2 && faults[0].page == 11,
              "a send of what is zeroed", has_wait);
}

// What the streams wait for by themselves.
inline void own_waits(const ut_backend *backend, bool has_clock) {
  WaitRig rig(backend);
  Script script;
  script.verb(UT_DELAY, {UT_STREAM_SCHEDULE, kDelay});
  script.list(UT_ZERO, {0}, {12}, 1);
  script.list(UT_BIND, {0, 1}, {2, 12}, 2);
  script.verb(UT_FORWARD, {2, 0, 1, 0, 1}, {1, 4, 0, 2, 3, 9, 50, 60});
  script.verb(UT_DELAY, {UT_STREAM_FORWARD, kDelay});
  script.verb(UT_FORWARD, {3, 0, 1, 0, 1}, {1, 4, 0, 2, 9, 10, 50, 60});
  script.verb(UT_HOSTCOPY, {4, 0, 0, 1}, {0, 12, 7});
  script.verb(UT_RECORD, {3});
  script.verb(UT_WAIT, {3});
  script.verb(UT_WAIT, {4});
  script.verb(UT_DELAY, {UT_STREAM_SCHEDULE, kDelay});
  script.list(UT_STAMP, {0}, {20, 4, 44}, 3);
  script.verb(UT_RECEIVE, {5, 0, 1}, {0, 20, 4, 6, 70, 80});
  const auto start = std::chrono::steady_clock::now();
  rig.run(script);
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  if (has_clock && took > kDelay) failed("submit took %lld us where nothing in it waits", static_cast<long long>(took));
  if (has_clock && rig.backend()->query(rig.device(), 5) != 0) failed("a transfer behind a delay is over at once");
  Script rest;
  rest.verb(UT_HOSTWAIT, {5});
  rest.verb(UT_HOSTWAIT, {2});
  rest.verb(UT_HOSTCOPY, {6, 1, 0, 1}, {0, 21, 7});
  rig.run(rest);
  rig.compare("own waits");
  for (const int32_t handle : {2, 3, 4, 5, 6}) {
    if (rig.backend()->query(rig.device(), static_cast<uint32_t>(handle)) != 1) failed("handle %d is not over", handle);
  }
}

} // namespace ut::test
