#include "device.hpp"

#include <new>
#include <utility>

namespace ut::host {

std::unique_ptr<Arena> Arena::make(const ut_config *config, std::int32_t &code, Reason &reason) {
  code = UT_INVALID;
  if (!check_config(config, reason)) return nullptr;
  if (config->device != 0) {
    code = UT_UNAVAILABLE;
    reason.fail("there is no device %u: the host is device 0", config->device);
    return nullptr;
  }
  code = UT_NO_MEMORY;
  auto made = std::make_unique<Arena>();
  made->store = Store::make(*config, reason);
  if (made->store == nullptr) return nullptr;
  if (!made->checker.prepare(*config)) {
    reason.fail("no host memory for the check of scripts");
    return nullptr;
  }
  code = UT_OK;
  return made;
}

Device::Device(std::unique_ptr<Arena> arena) : arena_(std::move(arena)), completions_(handle_limit) {
  if (completions_.get() == nullptr) throw std::bad_alloc();
  make_workers();
  start_threads();
}

Device::~Device() { synchronize(); }

// They keep their memory from forward to forward; threads find the current ones at each piece of work.
void Device::make_workers() {
  const Store &store = *arena_->store;
  schedule_work_.emplace(store);
  forward_work_.emplace(store, faults_);
  out_work_.emplace(store);
  in_work_.emplace(store);
  transfer_work_.emplace(store, faults_);
}

void Device::start_threads() {
  streams_[UT_STREAM_SCHEDULE].on_progress = [this] { engine_.poke(); };
  engine_.start([this](const Work &work) { run(*transfer_work_, work); });
  streams_[UT_STREAM_SCHEDULE].start([this](const Work &work, Ticket) { run(*schedule_work_, work); });
  streams_[UT_STREAM_FORWARD].start([this](const Work &work, Ticket ticket) {
    forward_work_->metadata_done = [this, ticket] { streams_[UT_STREAM_FORWARD].mark_metadata(ticket); };
    run(*forward_work_, work);
  });
  streams_[UT_STREAM_OUT].start([this](const Work &work, Ticket) { run(*out_work_, work); });
  streams_[UT_STREAM_IN].start([this](const Work &work, Ticket) { run(*in_work_, work); });
}

// A worker that gets no memory loses the device; the queues go on without effect, so that nobody waits for ever.
template <class Worker> void Device::run(Worker &worker, const Work &work) noexcept {
  if (is_lost_.load(std::memory_order_relaxed)) return;
  try {
    visit_verb(work.verb, worker);
  } catch (const std::bad_alloc &) {
    is_lost_.store(true, std::memory_order_relaxed);
  }
}

bool Device::is_lost(Reason &reason) const {
  if (!is_lost_.load(std::memory_order_relaxed)) return false;
  reason.fail("the device is lost: a stream ran out of host memory");
  return true;
}

// Gives the verbs of one accepted script to their streams.
class Device::Feeder {
public:
  Feeder(Device &device, Script script) : device_(device), script_(std::move(script)) {}

  void feed() {
    const std::vector<std::int32_t> &words = *script_;
    for (std::size_t at = 0; at < words.size(); at += static_cast<std::size_t>(words[at + 1])) {
      verb_ = words.data() + at;
      visit_verb(verb_, *this);
    }
  }

  void operator()(const ForwardVerb &verb) {
    keep(verb.handle, UT_STREAM_FORWARD, push(UT_STREAM_FORWARD, behind(UT_STREAM_SCHEDULE)));
  }
  void operator()(const ResetVerb &) { push(UT_STREAM_FORWARD); }
  void operator()(const RecordVerb &verb) {
    device_.completions_[verb.handle].recorded = stream(UT_STREAM_FORWARD).last();
  }
  void operator()(const WaitVerb &verb) {
    const Completion &completion = device_.completions_[verb.handle];
    const Ticket ticket = completion.recorded != 0 ? completion.recorded : completion.ticket;
    hold_schedule({completion.stream, ticket, false});
  }
  void operator()(const BarrierVerb &verb) {
    const Completion &completion = device_.completions_[verb.handle];
    hold_schedule({completion.stream, completion.ticket, true});
  }
  void operator()(const HostCopyVerb &verb) {
    const ut_stream on = verb.is_load ? UT_STREAM_IN : UT_STREAM_OUT;
    keep(verb.handle, on, push(on, behind(UT_STREAM_SCHEDULE), behind(UT_STREAM_FORWARD)));
  }
  void operator()(const FillVerb &verb) {
    keep(verb.handle, UT_STREAM_IN, push(UT_STREAM_IN, behind(UT_STREAM_SCHEDULE), behind(UT_STREAM_FORWARD)));
  }
  void operator()(const SendVerb &verb) { transfer(verb.handle, verb.delay_us, behind(UT_STREAM_SCHEDULE)); }
  void operator()(const ReceiveVerb &verb) { transfer(verb.handle, verb.delay_us, behind(UT_STREAM_SCHEDULE)); }
  void operator()(const HostWaitVerb &verb) {
    const Completion &completion = device_.completions_[verb.handle];
    if (completion.stream == nullptr) device_.engine_.wait(completion.ticket);
    else completion.stream->wait(device_.ticket_of_host_wait(completion));
  }
  void operator()(const HostReadVerb &) {
    const Stream &schedule = stream(UT_STREAM_SCHEDULE);
    schedule.wait(schedule.last());
  }
  void operator()(const ForgetVerb &) {} // the checker's matter
  void operator()(const DelayVerb &verb) { push(static_cast<ut_stream>(verb.stream)); }
  void operator()(const SynchronizeVerb &) { device_.synchronize(); }
  template <class OfSchedule> void operator()(const OfSchedule &) { push(UT_STREAM_SCHEDULE); }

private:
  Stream &stream(ut_stream which) { return device_.streams_[which]; }
  Wait behind(ut_stream which) { return {&stream(which), stream(which).last(), false}; }
  Ticket push(ut_stream which, Wait first = {}, Wait second = {}) {
    return stream(which).push({script_, verb_, {first, second}});
  }
  void hold_schedule(Wait wait) { stream(UT_STREAM_SCHEDULE).push({nullptr, nullptr, {wait, {}}}); }
  void keep(std::uint32_t handle, ut_stream which, Ticket ticket) {
    device_.completions_[handle] = {&stream(which), ticket, 0};
  }
  void transfer(std::uint32_t handle, std::uint32_t delay_us, Wait wait) {
    const Ticket ticket = device_.engine_.push({script_, verb_, {wait, {}}}, std::chrono::microseconds(delay_us));
    device_.completions_[handle] = {nullptr, ticket, 0};
  }

  Device &device_;
  const Script script_;
  const std::int32_t *verb_ = nullptr; // the one under way
};

std::int32_t Device::submit(const std::int32_t *words, std::uint64_t count, Reason &reason) {
  if (is_lost(reason)) return UT_LOST;
  if (words == nullptr && count > 0) {
    reason.fail("a script without words");
    return UT_INVALID;
  }
  if (!arena_->checker.check(words, count)) {
    reason = {};
    reason.fail("%s", arena_->checker.reason());
    return UT_INVALID;
  }
  try {
    Feeder(*this, std::make_shared<const std::vector<std::int32_t>>(words, words + count)).feed();
  } catch (const std::bad_alloc &) {
    is_lost_.store(true, std::memory_order_relaxed); // part of the script may be under way
  }
  return is_lost(reason) ? UT_LOST : UT_OK;
}

// The host waits for a forward that was never recorded by waiting for the whole stream.
Ticket Device::ticket_of_host_wait(const Completion &completion) const {
  const Stream &forward = streams_[UT_STREAM_FORWARD];
  if (completion.stream != &forward) return completion.ticket;
  return completion.recorded != 0 ? completion.recorded : forward.last();
}

void Device::synchronize() const {
  for (const Stream &stream : streams_) stream.wait(stream.last());
  engine_.wait_for_all();
}

void Device::replace(std::unique_ptr<Arena> arena) {
  synchronize();
  arena_ = std::move(arena);
  make_workers();
  faults_.clear();
}

std::optional<bool> Device::query(std::uint32_t handle) const {
  if (arena_->checker.kind_of(handle) == HandleKind::none) return std::nullopt;
  const Completion &completion = completions_[handle];
  if (completion.stream == nullptr) return engine_.is_done(completion.ticket);
  return completion.stream->is_done(completion.recorded != 0 ? completion.recorded : completion.ticket);
}

} // namespace ut::host
