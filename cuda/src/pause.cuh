// Kernels without a page: nothing for a while, a fill, a failure on purpose.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ut::cuda {

// The stream does nothing for about `delay_us`; long ones as several kernels, so that none runs for long.
cudaError_t launch_delay(uint32_t delay_us, cudaStream_t stream);

// words: a multiple of 4 of them, at a multiple of 16 bytes.
cudaError_t launch_fill(uint32_t *words, uint64_t count, uint32_t value, cudaStream_t stream);

// A kernel that stops the device, for tests of what comes after.
cudaError_t launch_trap(cudaStream_t stream);

cudaError_t prewarm_pause(cudaStream_t stream);

} // namespace ut::cuda
