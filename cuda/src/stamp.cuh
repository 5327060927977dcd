// Units written: single ones by stamp, and runs of units as a writer leaves them.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"

namespace ut::cuda {

// entries: (page, unit, stamp) * n, where kernels find them.
cudaError_t launch_stamp(const View &view, uint32_t band, const int32_t *entries, uint32_t n, cudaStream_t stream);

// places with page 0 are left out. A received list (band, page, from, to, position, writer) has this very layout.
cudaError_t launch_write_units(const View &view, const WritePlace *places, uint32_t n, cudaStream_t stream);

cudaError_t prewarm_stamp(const View &view, cudaStream_t stream);

} // namespace ut::cuda
