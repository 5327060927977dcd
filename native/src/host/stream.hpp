// A stream: a queue of work and the thread that does it in order. A ticket is the number of a piece of work on its stream, from 1;
// it is done once the stream has done that many. Tickets replace events: nothing has to be made, pooled or given back.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ut::host {

using Ticket = std::uint64_t;
using Script = std::shared_ptr<const std::vector<std::int32_t>>;

class Stream;

// Holds work back until `stream` has done `ticket`, or the metadata phase of it. Nothing where `stream` is null.
struct Wait {
  const Stream *stream = nullptr;
  Ticket ticket = 0;
  bool is_metadata = false;
};

struct Work {
  Script script;                      // keeps the words of `verb` alive
  const std::int32_t *verb = nullptr; // null: it only waits
  Wait waits[2];
};

class Stream {
public:
  // Called on the stream's thread, after the waits. Must not throw.
  using Runner = std::function<void(const Work &, Ticket)>;

  Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { stop(); }

  void start(Runner runner); // throws std::system_error when there is no thread to be had
  void stop();               // after all work is done

  // Used by the thread that owns the device.
  Ticket push(Work work);
  Ticket last() const noexcept { return last_; } // everything given so far

  void mark_metadata(Ticket ticket); // by the runner
  bool is_done(Ticket ticket, bool is_metadata = false) const;
  void wait(Ticket ticket, bool is_metadata = false) const;

  // Called on the stream's thread after each piece of work.
  std::function<void()> on_progress;

private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  mutable std::condition_variable has_progress_;
  std::deque<Work> queue_;
  Ticket done_ = 0;
  Ticket metadata_done_ = 0;
  bool is_ending_ = false;
  Ticket last_ = 0; // of the owner's thread alone
  Runner runner_;
  std::thread thread_;
};

} // namespace ut::host
