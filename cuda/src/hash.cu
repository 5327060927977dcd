#include "hash.cuh"

#include <algorithm>

#include "units.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarpUnitBytes = 8 << 10; // longer units are read by a whole block

__device__ __forceinline__ bool is_masked(const uint32_t *mask, uint32_t unit) {
  return (mask[unit / 32] >> (unit % 32) & 1u) != 0;
}

struct UnitRead {
  uint32_t stamp; // that the unit enters with
  bool is_torn;
};

__device__ __forceinline__ UnitRead as_read(uint32_t stamp, bool is_torn) { return {is_torn ? kTorn : stamp, is_torn}; }

// Called by a whole warp.
__device__ __forceinline__ UnitRead read_unit_by_warp(const uint8_t *bytes, uint32_t unit_bytes, uint32_t lane) {
  const uint32_t stamp = *reinterpret_cast<const uint32_t *>(bytes);
  return as_read(stamp, __any_sync(0xffffffffu, differs_from(bytes, unit_bytes, stamp, lane, kWarp)) != 0);
}

// Called by a whole block.
__device__ __forceinline__ UnitRead read_unit_by_block(const uint8_t *bytes, uint32_t unit_bytes) {
  const uint32_t stamp = *reinterpret_cast<const uint32_t *>(bytes);
  return as_read(stamp, __syncthreads_or(differs_from(bytes, unit_bytes, stamp, threadIdx.x, kThreads)) != 0);
}

__device__ __forceinline__ void add_unit(uint32_t *out, uint32_t unit, const UnitRead &read) {
  if (read.stamp == 0) return;
  atomicAdd(out, ut_mix_a(UT_UNIT_FIELD, unit, read.stamp));
  atomicAdd(out + 1, ut_mix_b(UT_UNIT_FIELD, unit, read.stamp));
  if (read.is_torn) atomicAdd(out + 2, 1u);
}

// One warp or one block a unit, all units of all pages numbered through.
template <bool ByBlock>
__global__ void __launch_bounds__(kThreads) hash_kernel(View view, uint32_t band_index, const int32_t *pages,
                                                        const uint32_t *masks, uint32_t n, uint32_t *out) {
  if (n == 0) return;
  const BandView &band = view.bands[band_index];
  const uint32_t mask_words = (band.units + 31) / 32;
  const uint32_t lane = threadIdx.x % kWarp;
  const uint64_t all = static_cast<uint64_t>(n) * band.units;
  const uint64_t step = ByBlock ? gridDim.x : static_cast<uint64_t>(gridDim.x) * (kThreads / kWarp);
  uint64_t item = ByBlock ? blockIdx.x : static_cast<uint64_t>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
  for (; item < all; item += step) {
    const auto entry = static_cast<uint32_t>(item / band.units);
    const auto unit = static_cast<uint32_t>(item - static_cast<uint64_t>(entry) * band.units);
    if (!is_masked(masks + static_cast<uint64_t>(entry) * mask_words, unit)) continue;
    const uint8_t *bytes = unit_at(view, band, static_cast<uint32_t>(pages[entry]), unit);
    const UnitRead read =
        ByBlock ? read_unit_by_block(bytes, band.unit_bytes) : read_unit_by_warp(bytes, band.unit_bytes, lane);
    if ((ByBlock ? threadIdx.x : lane) == 0) add_unit(out + 3ull * entry, unit, read);
  }
}

// One block a page, so that the comparison needs no second launch.
__global__ void __launch_bounds__(kThreads)
    send_kernel(View view, const int32_t *entries, uint32_t n, uint32_t mask_words, uint32_t handle) {
  __shared__ uint32_t sum;
  if (blockIdx.x >= n) return;
  const int32_t *entry = entries + static_cast<uint64_t>(blockIdx.x) * (3 + mask_words);
  const BandView &band = view.bands[entry[0]];
  const auto page = static_cast<uint32_t>(entry[1]);
  const auto *mask = reinterpret_cast<const uint32_t *>(entry + 3);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const bool by_block = band.unit_bytes > kWarpUnitBytes;
  const uint32_t first = by_block ? 0 : threadIdx.x / kWarp, step = by_block ? 1 : kThreads / kWarp;
  for (uint32_t unit = first; unit < band.units; unit += step) {
    if (!is_masked(mask, unit)) continue;
    const uint8_t *bytes = unit_at(view, band, page, unit);
    const UnitRead read = by_block ? read_unit_by_block(bytes, band.unit_bytes)
                                   : read_unit_by_warp(bytes, band.unit_bytes, threadIdx.x % kWarp);
    const bool is_first = by_block ? threadIdx.x == 0 : threadIdx.x % kWarp == 0;
    if (is_first && read.stamp != 0) atomicAdd(&sum, ut_mix_a(UT_UNIT_FIELD, unit, read.stamp));
  }
  __syncthreads();
  const auto wanted = static_cast<uint32_t>(entry[2]);
  if (threadIdx.x == 0 && sum != wanted)
    report_fault(view.faults, {2, handle, static_cast<uint32_t>(entry[0]), 0, page, 0, wanted, sum});
}

} // namespace

cudaError_t launch_hash(const View &view, uint32_t band, uint32_t unit_bytes, uint32_t units, const int32_t *pages,
                        const uint32_t *masks, uint32_t n, uint32_t *out, uint32_t multiprocessors,
                        cudaStream_t stream) {
  const uint64_t all = static_cast<uint64_t>(n) * units;
  const bool by_block = unit_bytes > kWarpUnitBytes;
  const uint64_t wanted = by_block ? all : (all + kThreads / kWarp - 1) / (kThreads / kWarp);
  const auto blocks = static_cast<uint32_t>(std::max<uint64_t>(1, std::min<uint64_t>(wanted, multiprocessors * 16ull)));
  if (by_block)
    hash_kernel<true><<<blocks, kThreads, 0, stream>>>(view, band, pages, masks, n, out);
  else
    hash_kernel<false><<<blocks, kThreads, 0, stream>>>(view, band, pages, masks, n, out);
  return cudaGetLastError();
}

cudaError_t launch_send(const View &view, const int32_t *entries, uint32_t n, uint32_t mask_words, uint32_t handle,
                        cudaStream_t stream) {
  send_kernel<<<std::max(1u, n), kThreads, 0, stream>>>(view, entries, n, mask_words, handle);
  return cudaGetLastError();
}

cudaError_t prewarm_hash(const View &view, cudaStream_t stream) {
  for (const uint32_t unit_bytes : {4u, kWarpUnitBytes + 4}) {
    const auto error = launch_hash(view, 0, unit_bytes, 1, nullptr, nullptr, 0, nullptr, 1, stream);
    if (error != cudaSuccess) return error;
  }
  return launch_send(view, nullptr, 0, 0, 0, stream);
}

} // namespace ut::cuda
