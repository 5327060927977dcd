// The stand-in for a network engine: transfers outside every stream. Each starts once its wait is over, rests for its delay,
// and then touches the pages; delays of several transfers run side by side.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stream.hpp"

namespace ut::host {

class Engine {
public:
  using Runner = std::function<void(const Work &)>; // called on the engine's thread; must not throw

  Engine() = default;
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;
  ~Engine() { stop(); }

  void start(Runner runner);
  void stop(); // after all transfers have ended

  Ticket push(Work work, std::chrono::microseconds delay);
  bool is_done(Ticket ticket) const;
  void wait(Ticket ticket) const;
  void wait_for_all() const;
  // A stream that a transfer may wait for went on.
  void poke();

private:
  using Clock = std::chrono::steady_clock;
  struct Transfer {
    Work work;
    Ticket ticket;
    std::chrono::microseconds delay;
    bool is_started;
    Clock::time_point due;
  };

  void run();
  void begin_transfers();
  bool is_pending(Ticket ticket) const; // under the lock

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  mutable std::condition_variable has_progress_;
  std::vector<Transfer> transfers_; // not ended, in the order given
  Ticket last_ = 0;
  bool is_ending_ = false;
  Runner runner_;
  std::thread thread_;
};

} // namespace ut::host
