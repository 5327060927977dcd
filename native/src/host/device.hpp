// An opened host device: four streams, the engine, and the scripts that feed them. Used by one thread at a time.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine.hpp"
#include "faults.hpp"
#include "store.hpp"
#include "stream.hpp"
#include "ut/script.hpp"
#include "work.hpp"

namespace ut::host {

// A geometry with everything that belongs to it; replaced as a whole by a resize.
struct Arena {
  std::unique_ptr<Store> store;
  ScriptChecker checker;

  // Null: the configuration is wrong or there is no memory, with code and reason.
  static std::unique_ptr<Arena> make(const ut_config *config, std::int32_t &code, Reason &reason);
};

class Device {
public:
  explicit Device(std::unique_ptr<Arena> arena); // throws std::system_error without a thread, std::bad_alloc
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  const Store &store() const noexcept { return *arena_->store; }
  FaultLog &faults() noexcept { return faults_; }

  // The first word of an answer is a ut_code; a reason stands in `reason` when it is not UT_OK.
  std::int32_t submit(const std::int32_t *words, std::uint64_t count, Reason &reason);
  void replace(std::unique_ptr<Arena> arena); // after all work
  void synchronize() const;
  std::optional<bool> query(std::uint32_t handle) const; // nothing: no such handle

  // Whether a worker ran out of memory; everything is refused from then on.
  bool is_lost(Reason &reason) const;

private:
  class Feeder;
  struct Completion {
    const Stream *stream = nullptr; // null: the engine
    Ticket ticket = 0;
    Ticket recorded = 0; // a forward's, once it is recorded; 0 before
  };

  void start_threads();
  void make_workers();
  template <class Worker> void run(Worker &worker, const Work &work) noexcept;
  Ticket ticket_of_host_wait(const Completion &completion) const;

  std::unique_ptr<Arena> arena_;
  FaultLog faults_;
  Block<Completion> completions_; // by handle; meaningful while the checker knows the handle
  std::atomic<bool> is_lost_ = false;

  std::optional<ScheduleWork> schedule_work_;
  std::optional<ForwardWork> forward_work_;
  std::optional<CopyWork> out_work_, in_work_;
  std::optional<TransferWork> transfer_work_;
  // Last, so that their threads end before what they use is gone; the engine first of them, for SCHEDULE pokes it.
  Engine engine_;
  Stream streams_[4]; // by ut_stream
};

} // namespace ut::host
