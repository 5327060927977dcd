// What the verbs do to the bytes and tables. One object a thread; each touches the store through relaxed accesses only.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "faults.hpp"
#include "store.hpp"
#include "ut/verbs.hpp"

namespace ut::host {

void sleep_us(std::uint32_t delay_us);

// SCHEDULE: pages, bindings, rows, expectations.
class ScheduleWork {
public:
  explicit ScheduleWork(const Store &store) : store_(store) {}
  void operator()(const ZeroVerb &verb);
  void operator()(const MoveVerb &verb);
  void operator()(const BindVerb &verb);
  void operator()(const RowVerb &verb);
  void operator()(const ExpectVerb &verb);
  void operator()(const StampVerb &verb);
  void operator()(const DelayVerb &verb) { sleep_us(verb.delay_us); }
  template <class Other> void operator()(const Other &) {} // of other streams

private:
  const Store &store_;
};

// FORWARD. `metadata_done` is called between a forward's two phases.
class ForwardWork {
public:
  ForwardWork(const Store &store, FaultLog &faults) : store_(store), faults_(faults) {}
  std::function<void()> metadata_done;
  void operator()(const ResetVerb &verb);
  void operator()(const ForwardVerb &verb);
  void operator()(const DelayVerb &verb) { sleep_us(verb.delay_us); }
  template <class Other> void operator()(const Other &) {}

private:
  struct ReadPage {
    std::uint32_t band, id, page;
    std::uint64_t first_expected; // of as many as the band has units
  };
  void read_metadata(const ForwardVerb &verb);
  void read_id(std::uint32_t band, std::uint32_t id);
  void place_writes(const ForwardVerb &verb);
  void check_reads(const ForwardVerb &verb);
  void write_units(const ForwardVerb &verb);

  const Store &store_;
  FaultLog &faults_;
  // Of the forward under way; kept for their memory.
  std::vector<ReadPage> reads_;
  std::vector<std::uint32_t> expected_;
  std::vector<std::uint32_t> places_; // a write's page
};

// OUT and IN.
class CopyWork {
public:
  explicit CopyWork(const Store &store) : store_(store) {}
  void operator()(const HostCopyVerb &verb);
  void operator()(const FillVerb &verb);
  void operator()(const DelayVerb &verb) { sleep_us(verb.delay_us); }
  template <class Other> void operator()(const Other &) {}

private:
  const Store &store_;
};

// The engine, whose delays are its own.
class TransferWork {
public:
  TransferWork(const Store &store, FaultLog &faults) : store_(store), faults_(faults) {}
  void operator()(const SendVerb &verb);
  void operator()(const ReceiveVerb &verb);
  template <class Other> void operator()(const Other &) {}

private:
  const Store &store_;
  FaultLog &faults_;
};

} // namespace ut::host
