#include "stream.hpp"

#include <utility>

namespace ut::host {

void Stream::start(Runner runner) {
  runner_ = std::move(runner);
  thread_ = std::thread([this] { run(); });
}

void Stream::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

Ticket Stream::push(Work work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  has_work_.notify_one();
  return ++last_;
}

void Stream::mark_metadata(Ticket ticket) {
  {
    const std::lock_guard lock(mutex_);
    metadata_done_ = ticket;
  }
  has_progress_.notify_all();
}

bool Stream::is_done(Ticket ticket, bool is_metadata) const {
  const std::lock_guard lock(mutex_);
  return (is_metadata ? metadata_done_ : done_) >= ticket;
}

void Stream::wait(Ticket ticket, bool is_metadata) const {
  std::unique_lock lock(mutex_);
  has_progress_.wait(lock, [&] { return (is_metadata ? metadata_done_ : done_) >= ticket; });
}

void Stream::run() {
  for (Ticket ticket = 1;; ticket++) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      has_work_.wait(lock, [&] { return is_ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    for (const Wait &wait : work.waits) {
      if (wait.stream != nullptr) wait.stream->wait(wait.ticket, wait.is_metadata);
    }
    if (work.verb != nullptr) runner_(work, ticket);
    {
      const std::lock_guard lock(mutex_);
      done_ = ticket;
      metadata_done_ = ticket;
    }
    has_progress_.notify_all();
    if (on_progress) on_progress();
  }
}

} // namespace ut::host
