// What an operation changes on SCHEDULE apart from moves, in one launch: block 0 applies table verbs, the others zero pages.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"
#include "words.cuh"

namespace ut::cuda {

// Verbs as the script holds them, one behind the other: zero_words of UT_ZERO, then table_words of UT_BIND, UT_ROW and
// UT_EXPECT.
struct ScheduleList {
  List words;
  uint32_t zero_words;
  uint32_t table_words;
};

struct ZeroPlan {
  uint32_t chunk_bytes; // a multiple of 16, at most kZeroChunkMax
  uint32_t blocks_max;
};
constexpr uint32_t kZeroChunkMax = 16 << 10;

// bytes: of all pages together.
ZeroPlan choose_zero_plan(uint32_t multiprocessors, uint64_t bytes);

// chunks: of all pages together, pages cut into plan.chunk_bytes.
cudaError_t launch_schedule(const View &view, const ScheduleList &list, uint64_t chunks, const ZeroPlan &plan,
                            cudaStream_t stream);

// One table verb with many elements, by many blocks. `outside`: where kernels find its words.
cudaError_t launch_wide_verb(const View &view, const int32_t *outside, uint64_t elements, cudaStream_t stream);

// Cells that a verb writes; the measure for which of the two launches it gets.
uint64_t table_elements(const int32_t *verb, uint32_t units);

cudaError_t prewarm_schedule(const View &view, cudaStream_t stream);

} // namespace ut::cuda
