// Times of work on a stream, and the table they are printed in.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "pause.cuh"
#include "status.hpp"

namespace ut::bench {

inline int wrong_results = 0;
inline int missed_targets = 0;

inline void must(cuda::Status status) {
  if (status == UT_OK) return;
  std::printf("FAILED: %s\n", cuda::error_text());
  std::exit(1);
}
inline void expect(bool holds, const std::string &what) {
  if (holds) return;
  wrong_results++;
  std::printf("WRONG RESULT: %s\n", what.c_str());
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Times {
  double single_us; // median of one launch between two events
  double queued_us; // one of several that stand behind each other, the gaps between launches hidden
};

class Clock {
public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    for (cudaEvent_t &event : events_) must(UT_CUDA(cudaEventCreate(&event)));
  }
  Clock(const Clock &) = delete;
  Clock &operator=(const Clock &) = delete;
  ~Clock() {
    for (cudaEvent_t event : events_) (void)cudaEventDestroy(event);
  }

  // work(i) queues the i-th piece of work; each i should meet other memory. The stream is held back while the host
  // queues, so that the host's time is not measured. Work that is not measured goes ahead, kLeadUs of it, so that short
  // work meets a busy device, as long copies do by themselves. also_queued: else queued_us is single_us.
  template <typename Work> Times time(uint32_t repeats, Work &&work, bool also_queued = true) {
    constexpr uint32_t together = 8;
    repeats = std::min(repeats, kPairs);
    uint32_t next = 0;
    must(UT_CUDA(work(next++)));
    must(UT_CUDA(cudaEventRecord(events_[0], stream_)));
    must(UT_CUDA(work(next++)));
    must(UT_CUDA(cudaEventRecord(events_[1], stream_)));
    must(UT_CUDA(cudaStreamSynchronize(stream_)));
    const auto ahead = static_cast<uint32_t>(std::max(1.0, std::min(48.0, kLeadUs / std::max(elapsed_us(0), 1.0))));
    const auto lead = [&](uint32_t calls) {
      must(UT_CUDA(cuda::launch_delay(100 + 10 * (ahead + calls), stream_)));
      for (uint32_t i = 0; i < ahead; i++) must(UT_CUDA(work(next++)));
    };
    lead(repeats);
    for (uint32_t i = 0; i < repeats; i++) {
      must(UT_CUDA(cudaEventRecord(events_[2 * i], stream_)));
      must(UT_CUDA(work(next++)));
      must(UT_CUDA(cudaEventRecord(events_[2 * i + 1], stream_)));
    }
    must(UT_CUDA(cudaStreamSynchronize(stream_)));
    std::vector<double> single;
    for (uint32_t i = 0; i < repeats; i++) single.push_back(elapsed_us(2 * i));
    const double one = median(single);
    if (one > 500 || !also_queued) return {one, one};
    lead(together * 3);
    std::vector<double> queued;
    for (uint32_t group = 0; group < 3; group++) {
      must(UT_CUDA(cudaEventRecord(events_[2 * group], stream_)));
      for (uint32_t i = 0; i < together; i++) must(UT_CUDA(work(next++)));
      must(UT_CUDA(cudaEventRecord(events_[2 * group + 1], stream_)));
    }
    must(UT_CUDA(cudaStreamSynchronize(stream_)));
    for (uint32_t group = 0; group < 3; group++) queued.push_back(elapsed_us(2 * group) / together);
    return {one, median(queued)};
  }

private:
  static constexpr uint32_t kPairs = 32;
  static constexpr double kLeadUs = 400;
  double elapsed_us(uint32_t first) {
    float ms = 0;
    must(UT_CUDA(cudaEventElapsedTime(&ms, events_[first], events_[first + 1])));
    return static_cast<double>(ms) * 1000;
  }
  cudaStream_t stream_;
  cudaEvent_t events_[2 * kPairs];
};

// Median host time of one call in microseconds; `settle` runs after every `burst` calls, outside the time.
template <typename Call, typename Settle>
double host_us(uint32_t bursts, uint32_t burst, Call &&call, Settle &&settle) {
  std::vector<double> each;
  for (uint32_t b = 0; b < bursts; b++) {
    for (uint32_t i = 0; i < burst; i++) {
      const auto start = std::chrono::steady_clock::now();
      call();
      each.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    settle();
  }
  return median(each);
}

inline std::string size_word(uint64_t bytes) {
  char text[32];
  if (bytes % (1 << 20) == 0)
    std::snprintf(text, sizeof text, "%llu MiB", static_cast<unsigned long long>(bytes >> 20));
  else
    std::snprintf(text, sizeof text, "%llu KiB", static_cast<unsigned long long>(bytes >> 10));
  return text;
}

// bytes: moved, reads and writes counted. target_percent: of the ceiling, 0 for none.
inline void print_rate(const std::string &what, const Times &times, double bytes, double ceiling,
                       double target_percent) {
  const double rate = bytes / times.single_us / 1e3;
  const double percent = 100 * rate / ceiling;
  const bool is_met = target_percent == 0 || percent >= target_percent;
  if (!is_met) missed_targets++;
  std::printf("%-30s %9.1f us %6.0f GB/s %5.1f %%  queued %6.0f GB/s", what.c_str(), times.single_us, rate, percent,
              bytes / times.queued_us / 1e3);
  if (target_percent != 0) std::printf("  want %.0f %% %s", target_percent, is_met ? "met" : "MISSED");
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace ut::bench
