// Token ids from logical to physical through a band's v2p table: one launch, `out` written in place.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ut::cuda {

struct Translation {
  const int32_t *v2p; // [ids], device memory
  uint32_t ids;
  uint32_t units; // a page
  uint64_t columns;
  uint64_t out_columns; // >= columns; lanes between become 0
  uint64_t first;       // of the out elements, row-major, that `out` begins with
  uint64_t count;       // out elements
  uint64_t first_id;    // of the id elements, row-major, that `in` begins with
};

// How the dense case is cut. Swept by the bench.
struct TranslatePlan {
  uint32_t packs;   // of 4 elements a thread: 1, 2 or 4
  uint32_t threads; // a block: a multiple of 32, at most 512
  bool skips_l1;    // the table is read past the L1
};
constexpr TranslatePlan kTranslatePlan{1, 256, false};

// Widths are 32 or 64 bits. `in` and `out` lie where kernels find them and do not meet.
cudaError_t launch_translate(const Translation &translation, const void *in, uint32_t in_bits, void *out,
                             uint32_t out_bits, cudaStream_t stream, const TranslatePlan &plan = kTranslatePlan);

cudaError_t prewarm_translate(cudaStream_t stream);

} // namespace ut::cuda
