#include "engine.hpp"

#include <algorithm>
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
    transfers_.push_back({std::move(work), ticket, delay, false, {}});
  }
  has_work_.notify_one();
  return ticket;
}

bool Engine::is_pending(Ticket ticket) const {
  return std::any_of(transfers_.begin(), transfers_.end(),
                     [ticket](const Transfer &transfer) { return transfer.ticket == ticket; });
}

bool Engine::is_done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return !is_pending(ticket);
}

void Engine::wait(Ticket ticket) const {
  std::unique_lock lock(mutex_);
  has_progress_.wait(lock, [&] { return !is_pending(ticket); });
}

void Engine::wait_for_all() const {
  std::unique_lock lock(mutex_);
  has_progress_.wait(lock, [&] { return transfers_.empty(); });
}

void Engine::poke() {
  {
    const std::lock_guard lock(mutex_);
    if (transfers_.empty()) return;
  }
  has_work_.notify_one();
}

// The delay of a transfer counts from the moment its wait is over.
void Engine::begin_transfers() {
  for (Transfer &transfer : transfers_) {
    if (transfer.is_started) continue;
    const Wait &wait = transfer.work.waits[0];
    if (wait.stream != nullptr && !wait.stream->is_done(wait.ticket)) continue;
    transfer.is_started = true;
    transfer.due = Clock::now() + transfer.delay;
  }
}

void Engine::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_transfers();
    auto next = transfers_.end();
    for (auto it = transfers_.begin(); it != transfers_.end(); ++it) {
      if (it->is_started && (next == transfers_.end() || it->due < next->due)) next = it;
    }
    if (next == transfers_.end()) {
      if (is_ending_ && transfers_.empty()) return;
      has_work_.wait(lock);
      continue;
    }
    if (next->due > Clock::now()) {
      const Clock::time_point due = next->due; // a copy: the list may move while this waits
      has_work_.wait_until(lock, due);
      continue;
    }
    const Ticket ticket = next->ticket;
    const Work work = next->work; // the list may move meanwhile
    lock.unlock();
    runner_(work);
    lock.lock();
    std::erase_if(transfers_, [ticket](const Transfer &transfer) { return transfer.ticket == ticket; });
    has_progress_.notify_all();
  }
}

} // namespace ut::host
