// A checked script becomes launches, event records and stream waits. Nothing is refused here: what fails from now on is
// the device.
#include <algorithm>
#include <cstring>

#include "device.hpp"
#include "forward.cuh"
#include "gather.hpp"
#include "hash.cuh"
#include "hostcopy.cuh"
#include "pause.cuh"
#include "stamp.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kListMax = ListRing::kListWordsMax;

class Submission {
public:
  explicit Submission(ut_device &device)
      : d_(device), arena_(device.geometry->arena), view_(arena_.view), gather_(device) {}

  template <typename Verb> void operator()(const Verb &verb) {
    if (status_ == UT_OK) status_ = run(verb);
  }
  Status finish() {
    if (status_ == UT_OK) status_ = flush();
    return status_;
  }

private:
  // --- lists ---

  // In the ring, for kernels of one stream.
  Status stage(uint32_t stream, const int32_t *words, uint32_t count, const int32_t *&staged) {
    int32_t *host = nullptr;
    UT_TRY(d_.ring.reserve(d_.streams, stream, count, host, staged));
    std::memcpy(host, words, count * sizeof(int32_t));
    return UT_OK;
  }

  // Calls launch(staged entries, how many, how many came before) for pieces that fit the ring.
  template <typename Launch>
  Status in_pieces(uint32_t stream, const int32_t *entries, uint32_t n, uint32_t words_each, Launch &&launch) {
    const uint32_t piece_max = kListMax / words_each;
    for (uint32_t done = 0; done < n;) {
      const uint32_t piece = std::min(n - done, piece_max);
      const int32_t *staged = nullptr;
      UT_TRY(stage(stream, entries + static_cast<uint64_t>(done) * words_each, piece * words_each, staged));
      UT_TRY(UT_CUDA(launch(staged, piece, done)));
      d_.streams.queued(stream);
      done += piece;
    }
    return UT_OK;
  }

  cudaStream_t stream(uint32_t index) const { return d_.streams.of(index); }

  // --- SCHEDULE: zero and tables, gathered ---

  Status run(const ZeroVerb &verb) { return gather_.add(verb); }
  Status run(const BindVerb &verb) { return gather_.add(verb); }
  Status run(const RowVerb &verb) { return gather_.add(verb); }
  Status run(const ExpectVerb &verb) { return gather_.add(verb); }
  Status flush() { return gather_.flush(); }

  // --- SCHEDULE: moves and stamps ---

  Status run(const MoveVerb &verb) {
    UT_TRY(flush());
    if (!verb.is_ordered) return move(verb.band, verb.pairs, verb.count);
    // Moves one after the other: those that have no page in common with a later one of their run go together. A page
    // that is only read may be read again.
    uint64_t *marks = d_.geometry->page_marks;
    uint32_t first = 0;
    uint64_t run = (d_.geometry->move_run += 2); // mark `run`: read, `run + 1`: written
    for (uint32_t i = 0; i < verb.count; i++) {
      const int32_t from = verb.pairs[2 * i], to = verb.pairs[2 * i + 1];
      if (marks[from] == run + 1 || marks[to] >= run) {
        UT_TRY(move(verb.band, verb.pairs + 2ull * first, i - first));
        first = i;
        run = (d_.geometry->move_run += 2);
      }
      marks[from] = run;
      marks[to] = run + 1;
    }
    return move(verb.band, verb.pairs + 2ull * first, verb.count - first);
  }

  Status move(uint32_t band, const int32_t *pairs, uint32_t n) {
    const uint64_t page_bytes = arena_.bands[band].page_bytes;
    constexpr uint32_t piece_max = kListMax / 2;
    for (uint32_t done = 0; done < n;) {
      const uint32_t piece = std::min(n - done, piece_max);
      List list{pairs + 2ull * done, 2 * piece, nullptr};
      if (list.count > kLongWords) UT_TRY(stage(kSchedule, list.words, list.count, list.outside));
      const CopyPlan plan = choose_copy_plan(d_.properties, page_bytes, piece);
      UT_TRY(UT_CUDA(launch_copy(d_.properties, plan, view_.arena, page_bytes, list, piece, stream(kSchedule))));
      d_.streams.queued(kSchedule);
      done += piece;
    }
    return UT_OK;
  }

  Status run(const StampVerb &verb) {
    UT_TRY(flush());
    return in_pieces(kSchedule, verb.entries, verb.count, 3, [&](const int32_t *staged, uint32_t n, uint32_t) {
      return launch_stamp(view_, verb.band, staged, n, stream(kSchedule));
    });
  }

  // --- FORWARD ---

  Status run(const ResetVerb &verb) {
    return in_pieces(kForward, verb.rows, verb.count, 1, [&](const int32_t *staged, uint32_t n, uint32_t) {
      return launch_reset(view_, staged, n, stream(kForward));
    });
  }

  Status run(const ForwardVerb &verb) {
    UT_TRY(flush());
    UT_TRY(d_.streams.follow(kForward, kSchedule));
    const bool reads_anything = verb.reads + verb.states != 0;
    if (reads_anything) UT_TRY(snapshot(verb));
    UT_TRY(in_pieces(kForward, verb.write_entries, verb.writes, forward_write_words,
                     [&](const int32_t *staged, uint32_t n, uint32_t before) {
                       return launch_note_writes(view_, staged, n, arena_.write_places + before, verb.handle,
                                                 stream(kForward));
                     }));
    HandleSlot &slot = d_.slots[verb.handle];
    UT_TRY(d_.events.take(slot.read_end));
    UT_TRY(UT_CUDA(cudaEventRecord(slot.read_end, stream(kForward))));
    UT_TRY(UT_CUDA(launch_delay(verb.delay_us, stream(kForward))));
    if (reads_anything && arena_.checks_reads())
      UT_TRY(UT_CUDA(
          launch_check_reads(view_, d_.forwards, verb.handle, d_.properties.multiprocessors, stream(kForward))));
    if (verb.writes != 0)
      UT_TRY(UT_CUDA(launch_write_units(view_, arena_.write_places, verb.writes, stream(kForward))));
    d_.streams.queued(kForward);
    return UT_OK;
  }

  Status snapshot(const ForwardVerb &verb) {
    if (++d_.forwards == 0) d_.forwards = 2; // 0 is no forward; the halves of the counts keep alternating
    uint32_t pages_max = 0;
    for (uint32_t i = 0; i < verb.reads; i++)
      pages_max = std::max(pages_max, static_cast<uint32_t>(verb.read_entries[2 * i + 1]));
    const auto launch = [&](const ForwardReads &reads) {
      return launch_snapshot(view_, reads, d_.forwards, arena_.checks_reads(), stream(kForward));
    };
    const uint64_t words = 2ull * verb.reads + 2ull * verb.states;
    if (words <= kListMax) { // states stand behind the rows in the verb too
      const int32_t *staged = nullptr;
      UT_TRY(stage(kForward, verb.read_entries, static_cast<uint32_t>(words), staged));
      UT_TRY(UT_CUDA(launch({staged, verb.reads, pages_max, staged + 2ull * verb.reads, verb.states})));
      d_.streams.queued(kForward);
      return UT_OK;
    }
    UT_TRY(in_pieces(kForward, verb.read_entries, verb.reads, 2, [&](const int32_t *staged, uint32_t n, uint32_t) {
      return launch({staged, n, pages_max, nullptr, 0});
    }));
    return in_pieces(kForward, verb.state_entries, verb.states, 2,
                     [&](const int32_t *staged, uint32_t n, uint32_t) { return launch({nullptr, 0, 0, staged, n}); });
  }

  Status run(const RecordVerb &verb) { return record_end(verb.handle, kForward); }

  Status record_end(uint32_t handle, uint32_t index) {
    HandleSlot &slot = d_.slots[handle];
    if (slot.end == nullptr) UT_TRY(d_.events.take(slot.end));
    return UT_CUDA(cudaEventRecord(slot.end, stream(index)));
  }

  // --- waits ---

  Status run(const WaitVerb &verb) {
    UT_TRY(flush());
    return d_.streams.wait(kSchedule, d_.slots[verb.handle].end);
  }
  Status run(const BarrierVerb &verb) {
    UT_TRY(flush());
    return d_.streams.wait(kSchedule, d_.slots[verb.handle].read_end);
  }
  Status run(const HostWaitVerb &verb) {
    UT_TRY(flush());
    const HandleSlot &slot = d_.slots[verb.handle];
    if (slot.end == nullptr) return d_.streams.settle(kForward);
    return UT_CUDA(cudaEventSynchronize(slot.end));
  }
  Status run(const HostReadVerb &) {
    UT_TRY(flush());
    return d_.streams.settle(kSchedule);
  }
  Status run(const SynchronizeVerb &) {
    UT_TRY(flush());
    return d_.streams.settle_all();
  }
  Status run(const ForgetVerb &verb) {
    HandleSlot &slot = d_.slots[verb.handle];
    d_.events.give(slot.end);
    d_.events.give(slot.read_end);
    slot = {};
    return UT_OK;
  }
  Status run(const DelayVerb &verb) {
    UT_TRY(flush());
    UT_TRY(UT_CUDA(launch_delay(verb.delay_us, stream(verb.stream))));
    d_.streams.queued(verb.stream);
    return UT_OK;
  }

  // --- host copies and the engine ---

  Status run(const HostCopyVerb &verb) {
    UT_TRY(flush());
    const uint32_t index = verb.is_load ? kIn : kOut;
    UT_TRY(d_.streams.follow(index, kSchedule));
    UT_TRY(d_.streams.follow(index, kForward));
    UT_TRY(UT_CUDA(launch_delay(verb.delay_us, stream(index))));
    uint64_t page_bytes_max = 0;
    for (uint32_t i = 0; i < verb.count; i++)
      page_bytes_max = std::max(page_bytes_max, arena_.bands[verb.entries[3ull * i]].page_bytes);
    UT_TRY(in_pieces(index, verb.entries, verb.count, 3, [&](const int32_t *staged, uint32_t n, uint32_t) {
      return launch_host_copy(view_, staged, n, verb.is_load, page_bytes_max, kHostCopyPlan, stream(index));
    }));
    d_.streams.queued(index);
    return record_end(verb.handle, index);
  }

  Status run(const SendVerb &verb) {
    UT_TRY(flush());
    UT_TRY(d_.streams.follow(kEngineSend, kSchedule));
    UT_TRY(UT_CUDA(launch_delay(verb.delay_us, stream(kEngineSend))));
    if (arena_.checks_reads()) {
      const uint32_t words_each = send_head_words + verb.mask_words;
      UT_TRY(in_pieces(kEngineSend, verb.entries, verb.count, words_each,
                       [&](const int32_t *staged, uint32_t n, uint32_t) {
                         return launch_send(view_, staged, n, verb.mask_words, verb.handle, stream(kEngineSend));
                       }));
    }
    d_.streams.queued(kEngineSend);
    return record_end(verb.handle, kEngineSend);
  }

  Status run(const ReceiveVerb &verb) {
    UT_TRY(flush());
    UT_TRY(d_.streams.follow(kEngineReceive, kSchedule));
    return write_units(verb, kEngineReceive);
  }
  Status run(const FillVerb &verb) {
    UT_TRY(flush());
    UT_TRY(d_.streams.follow(kIn, kSchedule));
    UT_TRY(d_.streams.follow(kIn, kForward));
    return write_units(verb, kIn);
  }

  template <typename Verb> Status write_units(const Verb &verb, uint32_t index) {
    static_assert(sizeof(WritePlace) == receive_words * sizeof(int32_t), "an entry is read as a place");
    UT_TRY(UT_CUDA(launch_delay(verb.delay_us, stream(index))));
    UT_TRY(in_pieces(index, verb.entries, verb.count, receive_words, [&](const int32_t *staged, uint32_t n, uint32_t) {
      return launch_write_units(view_, reinterpret_cast<const WritePlace *>(staged), n, stream(index));
    }));
    d_.streams.queued(index);
    return record_end(verb.handle, index);
  }

  ut_device &d_;
  Arena &arena_;
  const View &view_;
  Gather gather_;
  Status status_ = UT_OK;
};

// Whether its pieces can be held: an entry must fit a segment of the ring, the writes of a forward their buffer. Only a
// very long script needs a look; lengths are checked here because this comes before the checker.
bool is_too_long(const int32_t *words, uint64_t count) {
  if (count <= kListMax / 2) return false;
  for (uint64_t at = 0; count - at >= 2;) {
    const int32_t *verb = words + at;
    if (verb[1] < 2 || static_cast<uint64_t>(verb[1]) > count - at) return false; // the checker says what is wrong
    const auto size = static_cast<uint32_t>(verb[1]);
    if (verb[0] == UT_FORWARD && size >= 7 && verb[6] > static_cast<int32_t>(kWritesMax)) return true;
    if (verb[0] == UT_SEND && size >= 6 && verb[4] > static_cast<int32_t>(kListMax / 2)) return true;
    at += size;
  }
  return false;
}

} // namespace
} // namespace ut::cuda

ut::cuda::Status ut_device::submit(const int32_t *words, uint64_t count) {
  if (ut::cuda::is_too_long(words, count))
    return ut::cuda::refuse("a forward writes more than %u places, or a mask has more than %u words",
                            ut::cuda::kWritesMax, ut::cuda::kListMax / 2);
  if (!geometry->checker.check(words, count)) return ut::cuda::refuse("%s", geometry->checker.reason());
  ut::cuda::Submission submission(*this);
  ut::walk_script(words, count, submission);
  return submission.finish();
}
