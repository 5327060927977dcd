// The verbs of a script as typed views over its words, and the walk that hands them to a visitor. Nothing is checked here: a
// script goes through ScriptChecker (script.hpp) first. C++17, header only, no exceptions, no allocation.
#pragma once
#include <stdint.h>

#include "ut/backend.h"

namespace ut {

// Views point into the script and live as long as it does. Counts are of entries, not of words.
struct ZeroVerb {
  uint32_t band, count;
  const int32_t *pages;
};
struct MoveVerb {
  uint32_t band, count;
  bool is_ordered;
  const int32_t *pairs; // (from, to)
};
struct BindVerb {
  uint32_t band, count;
  bool is_fresh;
  const int32_t *pairs; // (id, page)
};
struct RowVerb {
  uint32_t row, first, count;
  const int32_t *ids;
};
struct ExpectVerb {
  uint32_t band, count;
  const int32_t *entries; // (id, stamp * units of the band)
};
struct StampVerb {
  uint32_t band, count;
  const int32_t *entries; // (page, unit, stamp)
};
struct ResetVerb {
  uint32_t count;
  const int32_t *rows;
};
struct ForwardVerb {
  uint32_t handle, delay_us, reads, states, writes;
  const int32_t *read_entries;  // (row, pages)
  const int32_t *state_entries; // (band, id)
  const int32_t *write_entries; // (band, id, from, to, position, writer)
};
struct RecordVerb {
  uint32_t handle;
};
struct WaitVerb {
  uint32_t handle;
};
struct BarrierVerb {
  uint32_t handle;
};
struct HostCopyVerb {
  uint32_t handle;
  bool is_load; // host pages to pages
  uint32_t delay_us, count;
  const int32_t *entries; // (band, page, host page)
};
struct SendVerb {
  uint32_t handle, delay_us, mask_words, count;
  const int32_t *entries; // (band, page, lane a, mask * mask_words)
};
struct ReceiveVerb {
  uint32_t handle, delay_us, count;
  const int32_t *entries; // (band, page, from, to, position, writer)
};
struct FillVerb {
  uint32_t handle, delay_us, count;
  const int32_t *entries; // as of a receive
};
struct HostWaitVerb {
  uint32_t handle;
};
struct HostReadVerb {};
struct ForgetVerb {
  uint32_t handle;
};
struct DelayVerb {
  uint32_t stream, delay_us;
};
struct SynchronizeVerb {};

constexpr uint32_t forward_write_words = 6;
constexpr uint32_t send_head_words = 3; // before the mask
constexpr uint32_t receive_words = 6;

// Calls visitor(view) for the verb that starts at `v`.
template <class Visitor> void visit_verb(const int32_t *v, Visitor &visitor) {
  const auto word = [v](uint32_t i) { return static_cast<uint32_t>(v[i]); };
  switch (v[0]) {
  case UT_ZERO: visitor(ZeroVerb{word(2), word(3), v + 4}); break;
  case UT_MOVE: visitor(MoveVerb{word(2), word(4), word(3) != 0, v + 5}); break;
  case UT_BIND: visitor(BindVerb{word(2), word(4), word(3) != 0, v + 5}); break;
  case UT_ROW: visitor(RowVerb{word(2), word(3), word(4), v + 5}); break;
  case UT_EXPECT: visitor(ExpectVerb{word(2), word(3), v + 4}); break;
  case UT_STAMP: visitor(StampVerb{word(2), word(3), v + 4}); break;
  case UT_RESET: visitor(ResetVerb{word(2), v + 3}); break;
  case UT_FORWARD: {
    const int32_t *reads = v + 7;
    const int32_t *states = reads + 2 * static_cast<uint64_t>(word(4));
    const int32_t *writes = states + 2 * static_cast<uint64_t>(word(5));
    visitor(ForwardVerb{word(2), word(3), word(4), word(5), word(6), reads, states, writes});
    break;
  }
  case UT_RECORD: visitor(RecordVerb{word(2)}); break;
  case UT_WAIT: visitor(WaitVerb{word(2)}); break;
  case UT_BARRIER: visitor(BarrierVerb{word(2)}); break;
  case UT_HOSTCOPY: visitor(HostCopyVerb{word(2), word(3) != 0, word(4), word(5), v + 6}); break;
  case UT_SEND: visitor(SendVerb{word(2), word(3), word(4), word(5), v + 6}); break;
  case UT_RECEIVE: visitor(ReceiveVerb{word(2), word(3), word(4), v + 5}); break;
  case UT_FILL: visitor(FillVerb{word(2), word(3), word(4), v + 5}); break;
  case UT_HOSTWAIT: visitor(HostWaitVerb{word(2)}); break;
  case UT_HOSTREAD: visitor(HostReadVerb{}); break;
  case UT_FORGET: visitor(ForgetVerb{word(2)}); break;
  case UT_DELAY: visitor(DelayVerb{word(2), word(3)}); break;
  case UT_SYNCHRONIZE: visitor(SynchronizeVerb{}); break;
  default: break; // a checked script has no other
  }
}

// Calls the visitor for every verb of a checked script, in order.
template <class Visitor> void walk_script(const int32_t *words, uint64_t count, Visitor &visitor) {
  for (uint64_t at = 0; at < count; at += static_cast<uint32_t>(words[at + 1])) visit_verb(words + at, visitor);
}

} // namespace ut
