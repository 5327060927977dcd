// Pages read whole: their hashes, and the reads of a transfer.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"

namespace ut::cuda {

// pages, masks: where kernels find them. out: 3 words a page, in device memory, zeros before: lane a, lane b, torn
// units.
cudaError_t launch_hash(const View &view, uint32_t band, uint32_t unit_bytes, uint32_t units, const int32_t *pages,
                        const uint32_t *masks, uint32_t n, uint32_t *out, uint32_t multiprocessors,
                        cudaStream_t stream);

// entries: (band, page, lane a, mask * mask_words) * n, where kernels find them. A page with another hash is a fault of
// kind 2.
cudaError_t launch_send(const View &view, const int32_t *entries, uint32_t n, uint32_t mask_words, uint32_t handle,
                        cudaStream_t stream);

cudaError_t prewarm_hash(const View &view, cudaStream_t stream);

} // namespace ut::cuda
