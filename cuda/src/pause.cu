#include "pause.cuh"

#include <algorithm>

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kSpinMicrosecondsMax = 50000;

__device__ __forceinline__ uint64_t now_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void delay_kernel(uint64_t ns) {
  const uint64_t start = now_ns();
  while (now_ns() - start < ns) __nanosleep(500);
}

__global__ void __launch_bounds__(kThreads) fill_kernel(uint4 *quads, uint64_t count, uint32_t value) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    quads[i] = make_uint4(value, value, value, value);
}

__global__ void trap_kernel(bool does_it) {
  if (does_it) asm volatile("trap;");
}

} // namespace

cudaError_t launch_delay(uint32_t delay_us, cudaStream_t stream) {
  while (delay_us > 0) {
    const uint32_t part = std::min(delay_us, kSpinMicrosecondsMax);
    delay_kernel<<<1, 1, 0, stream>>>(part * 1000ull);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
    delay_us -= part;
  }
  return cudaSuccess;
}

cudaError_t launch_fill(uint32_t *words, uint64_t count, uint32_t value, cudaStream_t stream) {
  const uint64_t blocks = std::min<uint64_t>(4096, (count / 4 + kThreads - 1) / kThreads);
  fill_kernel<<<static_cast<uint32_t>(std::max<uint64_t>(1, blocks)), kThreads, 0, stream>>>(
      reinterpret_cast<uint4 *>(words), count / 4, value);
  return cudaGetLastError();
}

cudaError_t launch_trap(cudaStream_t stream) {
  trap_kernel<<<1, 1, 0, stream>>>(true);
  return cudaGetLastError();
}

cudaError_t prewarm_pause(cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>(0);
  trap_kernel<<<1, 1, 0, stream>>>(false);
  return launch_fill(nullptr, 0, 0, stream);
}

} // namespace ut::cuda
