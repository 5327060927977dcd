// The stand-in for a network engine: transfers outside every stream. Each starts once its wait is over, rests for its delay,
// and then touches the pages; delays of several transfers run side by side.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

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

  // All transfers that wait at all wait for one and the same stream.
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
  };

  void run();
  void begin_transfers(); // under the lock

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  mutable std::condition_variable has_progress_;
  std::deque<Transfer> waiting_;                    // for one stream, so that they are let go in their order
  std::multimap<Clock::time_point, Transfer> due_; // resting, by the end of the rest
  std::set<Ticket> pending_;                        // not ended
  Ticket last_ = 0;
  bool is_ending_ = false;
  Runner runner_;
  std::thread thread_;
};

} // namespace ut::host
