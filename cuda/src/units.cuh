// Units as stamped bytes, for kernels: the words of payload.h written and checked by a group of threads.
#pragma once
#include <cstdint>

#include "ut/payload.h"
#include "view.cuh"

namespace ut::cuda {

constexpr uint32_t kTorn = 0xffffffffu; // stands for the stamp of a unit whose words do not belong together

__device__ __forceinline__ uint8_t *unit_at(const View &view, const BandView &band, uint32_t page, uint32_t unit) {
  return view.arena + page * band.page_bytes + static_cast<uint64_t>(unit) * band.unit_bytes;
}

__device__ __forceinline__ bool is_aligned16(const void *bytes, uint32_t length) {
  return ((reinterpret_cast<uint64_t>(bytes) | length) & 15) == 0;
}

__device__ __forceinline__ uint4 payload_words(uint32_t stamp, uint32_t first) {
  return make_uint4(ut_payload_word(stamp, first), ut_payload_word(stamp, first + 1), ut_payload_word(stamp, first + 2),
                    ut_payload_word(stamp, first + 3));
}

// `thread` of `threads` write the unit together.
__device__ __forceinline__ void write_unit(uint8_t *bytes, uint32_t unit_bytes, uint32_t stamp, uint32_t thread,
                                           uint32_t threads) {
  if (is_aligned16(bytes, unit_bytes)) {
    auto *quads = reinterpret_cast<uint4 *>(bytes);
    for (uint32_t i = thread; i < unit_bytes / 16; i += threads) quads[i] = payload_words(stamp, i * 4);
  } else {
    auto *words = reinterpret_cast<uint32_t *>(bytes);
    for (uint32_t i = thread; i < unit_bytes / 4; i += threads) words[i] = ut_payload_word(stamp, i);
  }
}

// Whether the words that fall to `thread` differ from what `stamp` asks for.
__device__ __forceinline__ bool differs_from(const uint8_t *bytes, uint32_t unit_bytes, uint32_t stamp, uint32_t thread,
                                             uint32_t threads) {
  bool differs = false;
  if (is_aligned16(bytes, unit_bytes)) {
    const auto *quads = reinterpret_cast<const uint4 *>(bytes);
#pragma unroll 4
    for (uint32_t i = thread; i < unit_bytes / 16; i += threads) {
      const uint4 found = __ldcs(quads + i);
      const uint4 wanted = payload_words(stamp, i * 4);
      differs |= ((found.x ^ wanted.x) | (found.y ^ wanted.y) | (found.z ^ wanted.z) | (found.w ^ wanted.w)) != 0;
    }
  } else {
    const auto *words = reinterpret_cast<const uint32_t *>(bytes);
#pragma unroll 4
    for (uint32_t i = thread; i < unit_bytes / 4; i += threads)
      differs |= __ldcs(words + i) != ut_payload_word(stamp, i);
  }
  return differs;
}

__device__ __forceinline__ void report_fault(const FaultRing &faults, const ut_fault &fault) {
  const uint32_t at = atomicAdd(faults.count, 1u);
  if (at < faults.capacity) faults.ring[at] = fault;
}

} // namespace ut::cuda
