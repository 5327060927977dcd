// A forward on the device. Metadata phase: snapshot (what the reads find and what is expected there), then notes (the
// places of the writes, and what they leave as expected). Payload phase: checks, then writes (stamp.cuh). The snapshot
// and the places live in one buffer each: all forwards share one stream, so the next one's metadata phase comes after
// this one's payload phase.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"

namespace ut::cuda {

struct ForwardReads {
  const int32_t *rows; // (row, pages) * row_count, where kernels find them
  uint32_t row_count;
  uint32_t pages_max;    // the largest `pages`
  const int32_t *states; // (band, id) * state_count
  uint32_t state_count;
};

// The rows' counters grow by one each. With `checks`, every id that is bound enters the snapshot once, however many
// rows hold it. `number`: of the forward, never 0, one higher with each that reads anything.
cudaError_t launch_snapshot(const View &view, const ForwardReads &reads, uint32_t number, bool checks,
                            cudaStream_t stream);

// writes: (band, id, from, to, position, writer) * n. An id that is not bound is a fault of kind 3 and leaves page 0.
cudaError_t launch_note_writes(const View &view, const int32_t *writes, uint32_t n, WritePlace *places, uint32_t handle,
                               cudaStream_t stream);

// Two words of every unit in the snapshot: the first, and one that the stamp and the forward choose.
cudaError_t launch_check_reads(const View &view, uint32_t number, uint32_t handle, uint32_t multiprocessors,
                               cudaStream_t stream);

// rows: row * n, whose counters become 0.
cudaError_t launch_reset(const View &view, const int32_t *rows, uint32_t n, cudaStream_t stream);

cudaError_t prewarm_forward(const View &view, cudaStream_t stream);

} // namespace ut::cuda
