// What forwards and sends found wrong. Keeps the oldest ones up to a bound and counts all.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "ut/backend.h"

namespace ut::host {

class FaultLog {
public:
  static constexpr std::size_t kept_max = 4096;

  FaultLog() { kept_.reserve(kept_max); }

  void add(const ut_fault &fault) {
    const std::lock_guard lock(mutex_);
    if (count_ < std::numeric_limits<std::uint32_t>::max()) count_++;
    if (kept_.size() < kept_max) kept_.push_back(fault);
  }

  // The oldest `capacity` of those kept since the last call go to `out`; returns how many there were.
  std::uint32_t take(ut_fault *out, std::uint32_t capacity) {
    const std::lock_guard lock(mutex_);
    std::copy_n(kept_.begin(), std::min<std::size_t>(capacity, kept_.size()), out); // none: `out` may be null
    const std::uint32_t count = count_;
    kept_.clear();
    count_ = 0;
    return count;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
    count_ = 0;
  }

private:
  std::mutex mutex_;
  std::vector<ut_fault> kept_;
  std::uint32_t count_ = 0;
};

} // namespace ut::host
