// Room in pinned host memory for lists that are too long for a launch's parameters; kernels read it there themselves.
// The room is used round and round in segments. Before a segment is used anew its readers must be done: events that
// were recorded when it was left say so, and in the ordinary case they are long over.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "memory.hpp"
#include "streams.hpp"

namespace ut::cuda {

class ListRing {
public:
  static constexpr uint32_t kSegments = 8;
  static constexpr uint32_t kSegmentWords = 256 << 10; // 1 MiB
  static constexpr uint32_t kListWordsMax = kSegmentWords;

  ListRing() = default;
  ListRing(const ListRing &) = delete;
  ListRing &operator=(const ListRing &) = delete;
  ~ListRing();

  Status make();
  // Room for `count` words, at most kListWordsMax, that kernels of one stream will read. Launch them before the next
  // call: a segment that is left counts what was queued until then.
  Status reserve(Streams &streams, uint32_t stream, uint32_t count, int32_t *&host, const int32_t *&device);

private:
  Status next_segment(Streams &streams);
  PinnedBytes room_;
  uint32_t segment_ = 0;
  uint32_t used_ = 0;                // words of the segment
  uint32_t readers_[kSegments] = {}; // streams with readers in the segment, one bit each
  cudaEvent_t left_[kSegments][kStreamCount] = {};
};

} // namespace ut::cuda
