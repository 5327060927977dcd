#include "ring.hpp"

namespace ut::cuda {

ListRing::~ListRing() {
  for (auto &events : left_) {
    for (cudaEvent_t event : events) {
      if (event != nullptr) (void)cudaEventDestroy(event);
    }
  }
  (void)cudaGetLastError();
}

Status ListRing::make() {
  UT_TRY(room_.take(static_cast<uint64_t>(kSegments) * kSegmentWords * sizeof(int32_t)));
  for (auto &events : left_) {
    for (cudaEvent_t &event : events) UT_TRY(UT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)));
  }
  return UT_OK;
}

Status ListRing::reserve(Streams &streams, uint32_t stream, uint32_t count, int32_t *&host, const int32_t *&device) {
  const uint32_t rounded = (count + 3u) & ~3u; // every list starts at a multiple of 16 bytes
  if (rounded > kSegmentWords - used_) UT_TRY(next_segment(streams));
  const uint64_t at = static_cast<uint64_t>(segment_) * kSegmentWords + used_;
  host = reinterpret_cast<int32_t *>(room_.data()) + at;
  device = reinterpret_cast<const int32_t *>(room_.device()) + at;
  used_ += rounded;
  readers_[segment_] |= 1u << stream;
  return UT_OK;
}

Status ListRing::next_segment(Streams &streams) {
  for (uint32_t stream = 0; stream < kStreamCount; stream++) {
    if ((readers_[segment_] >> stream & 1u) != 0)
      UT_TRY(UT_CUDA(cudaEventRecord(left_[segment_][stream], streams.of(stream))));
  }
  segment_ = (segment_ + 1) % kSegments;
  used_ = 0;
  for (uint32_t stream = 0; stream < kStreamCount; stream++) {
    if ((readers_[segment_] >> stream & 1u) != 0) UT_TRY(UT_CUDA(cudaEventSynchronize(left_[segment_][stream])));
  }
  readers_[segment_] = 0;
  return UT_OK;
}

} // namespace ut::cuda
