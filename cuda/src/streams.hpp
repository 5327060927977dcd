// The streams of a device and what each has seen of the others. A wait between streams is always queued, never a host
// wait.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "status.hpp"

namespace ut::cuda {

// The first four are ut_stream. The engine has two of its own, so that what is sent and what is received do not wait
// for each other.
enum StreamIndex : uint32_t { kSchedule, kForward, kOut, kIn, kEngineSend, kEngineReceive, kStreamCount };

class Streams {
public:
  Streams() = default;
  Streams(const Streams &) = delete;
  Streams &operator=(const Streams &) = delete;
  ~Streams();

  Status make();
  cudaStream_t of(uint32_t index) const { return streams_[index].stream; }

  // To be called with everything that is queued on a stream.
  void queued(uint32_t index) { streams_[index].queued++; }
  // Work queued on `target` from now on comes behind what `source` was given so far.
  Status follow(uint32_t target, uint32_t source);
  Status wait(uint32_t target, cudaEvent_t event);
  // The host waits for one stream, for all.
  Status settle(uint32_t index);
  Status settle_all();

private:
  struct State {
    cudaStream_t stream = nullptr;
    cudaEvent_t tip = nullptr; // recorded when `tip_at` pieces of work were queued
    uint64_t queued = 0;
    uint64_t tip_at = 0;
    uint64_t settled_at = 0;
    uint64_t seen[kStreamCount] = {}; // how much of each other stream this one is behind
  };
  State streams_[kStreamCount];
};

} // namespace ut::cuda
