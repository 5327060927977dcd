// Pages between the arena and the pools in pinned host memory: one launch for a list of any bands.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"

namespace ut::cuda {

// How many bytes one block takes at a time, and how many blocks share the work. Few blocks keep the link busy; more
// would only take multiprocessors away from the kernels beside it.
struct HostCopyPlan {
  uint32_t chunk_bytes; // a multiple of 16
  uint32_t blocks;
};
constexpr HostCopyPlan kHostCopyPlan{8 << 10, 32};

// entries: (band, page, host page) * n, where kernels find them. is_load: host pages to pages, else pages to host
// pages. page_bytes_max: of the bands named.
cudaError_t launch_host_copy(const View &view, const int32_t *entries, uint32_t n, bool is_load,
                             uint64_t page_bytes_max, const HostCopyPlan &plan, cudaStream_t stream);

cudaError_t prewarm_host_copy(const View &view, cudaStream_t stream);

} // namespace ut::cuda
