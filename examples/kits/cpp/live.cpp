// A program that uses the example heap and records itself when UNIFIED_TRACE names a file:
//
//   UNIFIED_TRACE=live.jsonl build/kits/live
//   unified-trace compare --trace live.jsonl --candidate cmd:build/kits/adapter
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "first_fit.hpp"
#include "unified_trace_kit.hpp"

namespace ut = unified_trace;

constexpr std::int64_t arena_bytes = 64 * 1024;

// The program's own allocator, each entry point with one recorded call around what it always did.
class Allocator {
 public:
  std::optional<std::int64_t> allocate(std::int64_t size_bytes) {
    ut::LiveCall call = live_.alloc(static_cast<std::size_t>(size_bytes));
    const auto address = heap_.allocate(size_bytes);
    if (address) call.granted_at(static_cast<std::uintptr_t>(*address));
    else call.refused("refused_capacity", {{"limit", "bytes"}});
    return address;
  }

  std::int64_t resize(std::int64_t address, std::int64_t size_bytes) {
    ut::LiveCall call =
        live_.realloc(static_cast<std::uintptr_t>(address), static_cast<std::size_t>(size_bytes));
    const auto moved = heap_.resize(address, size_bytes);
    if (moved) call.granted_at(static_cast<std::uintptr_t>(*moved));
    else call.refused("refused_capacity", {{"limit", "bytes"}});
    return moved.value_or(address);
  }

  void free(std::int64_t address) {
    ut::LiveCall call = live_.free(static_cast<std::uintptr_t>(address));
    heap_.free(address);
    call.granted();
  }

  [[noreturn]] void crash(std::int64_t size_bytes) {
    ut::LiveCall call = live_.alloc(static_cast<std::size_t>(size_bytes));
    std::abort();  // inside the allocator
  }

 private:
  FirstFit heap_{arena_bytes};
  ut::LiveRecorder live_{"first-fit", "1", ut::object({{"arena_bytes", arena_bytes}})};
};

// Allocates, resizes and frees by a fixed rule; addresses come up again and again.
static void work(int steps, int crash_at) {
  Allocator allocator;
  std::vector<std::int64_t> held;
  const auto take_out = [&held](std::int64_t number) {
    const auto at = held.begin() + number % static_cast<std::int64_t>(held.size());
    const std::int64_t address = *at;
    held.erase(at);
    return address;
  };
  std::int64_t number = 1;
  for (int step = 0; step < steps; ++step) {
    number = (number * 1103515245 + 12345) % 2147483648;
    const std::int64_t choice = number / 65536 % 8, size = 16 + number / 8192 % 6000;
    if (step == crash_at) allocator.crash(size);
    if (choice < 4 || held.empty()) {
      if (const auto address = allocator.allocate(size)) held.push_back(*address);
    } else if (choice < 5) {
      held.push_back(allocator.resize(take_out(number), size));
    } else {
      allocator.free(take_out(number));
    }
  }
  for (const std::int64_t address : held) allocator.free(address);
}

int main(int argc, char** argv) {
  work(argc > 1 ? std::atoi(argv[1]) : 200, argc > 2 ? std::atoi(argv[2]) : -1);
  return 0;
}
