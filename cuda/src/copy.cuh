// Pages over pages: one launch for a list of pairs of which no page is named twice.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "words.cuh"

namespace ut::cuda {

enum class CopyVariant : uint32_t { bulk, vector };

// How a launch is cut. Swept by the bench; the table behind choose_copy_plan is what it found best.
struct CopyPlan {
  CopyVariant variant;
  uint32_t chunk_bytes;    // a multiple of 16
  uint32_t stages;         // bulk: chunks in shared memory a block, stores_pending + 1 to kStagesMax
                           // vector: accesses in flight a thread, 4 or 8
  uint32_t stores_pending; // bulk: 1, 2 or 4 stores that may still read shared memory while the next chunk is asked for
  uint32_t blocks_per_sm;  // resident blocks
  bool evict_first;        // stream past the L2
  uint32_t run;            // see deal.cuh
};
constexpr uint32_t kStagesMax = 16;

struct CopyDevice {
  uint32_t multiprocessors;
  uint32_t shared_bytes_max; // a block may have after opting in
  bool has_bulk;             // sm_90 and later
};

// Shared memory, register and page-size limits are kept; pages that are no multiple of 16 bytes always go word by word.
CopyPlan choose_copy_plan(const CopyDevice &device, uint64_t page_bytes, uint32_t pairs);

// pairs: (from, to) * n. Queues one launch.
cudaError_t launch_copy(const CopyDevice &device, const CopyPlan &plan, uint8_t *arena, uint64_t page_bytes,
                        const List &pairs, uint32_t n, cudaStream_t stream);

// Raises the limits that the launches need and loads every variant; moves nothing.
cudaError_t prewarm_copy(const CopyDevice &device, uint8_t *arena, cudaStream_t stream);

} // namespace ut::cuda
