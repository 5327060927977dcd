#include "hostcopy.cuh"

#include <algorithm>

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int kUnroll = 4;

template <typename Access> __device__ void copy_bytes(const uint8_t *from, uint8_t *to, uint32_t bytes) {
  const auto *source = reinterpret_cast<const Access *>(from);
  auto *target = reinterpret_cast<Access *>(to);
  const uint32_t all = bytes / sizeof(Access);
  for (uint32_t first = threadIdx.x; first < all; first += kThreads * kUnroll) {
    Access held[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; u++) {
      if (first + u * kThreads < all) held[u] = __ldcs(source + first + u * kThreads);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; u++) {
      if (first + u * kThreads < all) __stcs(target + first + u * kThreads, held[u]);
    }
  }
}

// Chunks are numbered as if all pages had parts_max parts; the surplus ones of shorter pages are empty.
__global__ void __launch_bounds__(kThreads) host_copy_kernel(View view, const int32_t *entries, uint32_t n,
                                                             bool is_load, uint32_t parts_max, uint32_t chunk_bytes) {
  const uint64_t all = static_cast<uint64_t>(n) * parts_max;
  for (uint64_t index = blockIdx.x; index < all; index += gridDim.x) {
    const auto item = static_cast<uint32_t>(index / parts_max);
    const int32_t *entry = entries + 3ull * item;
    const BandView &band = view.bands[entry[0]];
    const uint64_t offset = (index - static_cast<uint64_t>(item) * parts_max) * chunk_bytes;
    if (offset >= band.page_bytes) continue;
    const auto bytes = static_cast<uint32_t>(min(static_cast<uint64_t>(chunk_bytes), band.page_bytes - offset));
    uint8_t *page = view.arena + static_cast<uint32_t>(entry[1]) * band.page_bytes + offset;
    uint8_t *host = band.host_pool + static_cast<uint32_t>(entry[2]) * band.page_bytes + offset;
    const uint8_t *from = is_load ? host : page;
    uint8_t *to = is_load ? page : host;
    if (band.page_bytes % 16 == 0)
      copy_bytes<uint4>(from, to, bytes);
    else
      copy_bytes<uint32_t>(from, to, bytes);
  }
}

} // namespace

cudaError_t launch_host_copy(const View &view, const int32_t *entries, uint32_t n, bool is_load,
                             uint64_t page_bytes_max, const HostCopyPlan &plan, cudaStream_t stream) {
  const auto parts =
      static_cast<uint32_t>(std::max<uint64_t>(1, (page_bytes_max + plan.chunk_bytes - 1) / plan.chunk_bytes));
  const auto blocks =
      static_cast<uint32_t>(std::max<uint64_t>(1, std::min<uint64_t>(plan.blocks, static_cast<uint64_t>(n) * parts)));
  host_copy_kernel<<<blocks, kThreads, 0, stream>>>(view, entries, n, is_load, parts, plan.chunk_bytes);
  return cudaGetLastError();
}

cudaError_t prewarm_host_copy(const View &view, cudaStream_t stream) {
  return launch_host_copy(view, nullptr, 0, false, 0, kHostCopyPlan, stream);
}

} // namespace ut::cuda
