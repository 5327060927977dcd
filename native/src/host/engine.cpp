#include "engine.hpp"

#include <utility>

namespace ut::host {

void Engine::start(Runner runner) {
  runner_ = std::move(runner);
  thread_ = std::thread([this] { run(); });
}

void Engine::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

Ticket Engine::push(Work work, std::chrono::microseconds delay) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = ++last_;
    pending_.insert(ticket);
    const bool is_waiting = work.waits[0].stream != nullptr;
    Transfer transfer{std::move(work), ticket, delay};
    if (is_waiting) waiting_.push_back(std::move(transfer));
    else due_.emplace(Clock::now() + delay, std::move(transfer));
  }
  has_work_.notify_one();
  return ticket;
}

bool Engine::is_done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return !pending_.contains(ticket);
}

void Engine::wait(Ticket ticket) const {
  std::unique_lock lock(mutex_);
  has_progress_.wait(lock, [&] { return !pending_.contains(ticket); });
}

void Engine::wait_for_all() const {
  std::unique_lock lock(mutex_);
  has_progress_.wait(lock, [&] { return pending_.empty(); });
}

void Engine::poke() {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
  }
  has_work_.notify_one();
}

// The rest of a transfer counts from the moment its wait is over.
void Engine::begin_transfers() {
  while (!waiting_.empty()) {
    Transfer &first = waiting_.front();
    const Wait &wait = first.work.waits[0];
    if (!wait.stream->is_done(wait.ticket)) return;
    due_.emplace(Clock::now() + first.delay, std::move(first));
    waiting_.pop_front();
  }
}

void Engine::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_transfers();
    if (due_.empty()) {
      if (is_ending_ && pending_.empty()) return;
      has_work_.wait(lock);
      continue;
    }
    const auto next = due_.begin();
    const Clock::time_point due = next->first; // a copy: others may come first while this waits
    if (due > Clock::now()) {
      has_work_.wait_until(lock, due);
      continue;
    }
    const Transfer transfer = std::move(next->second);
    due_.erase(next);
    lock.unlock();
    runner_(transfer.work);
    lock.lock();
    pending_.erase(transfer.ticket);
    has_progress_.notify_all();
  }
}

} // namespace ut::host
