#include "stamp.cuh"

#include <algorithm>

#include "units.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlocksWanted = 512; // few entries are cut finer, so that they do not wait for a few multiprocessors
constexpr uint32_t kPartsMax = 32;

__global__ void __launch_bounds__(kThreads)
    stamp_kernel(View view, uint32_t band_index, const int32_t *entries, uint32_t n) {
  if (blockIdx.x >= n) return;
  const BandView &band = view.bands[band_index];
  const int32_t *entry = entries + 3ull * blockIdx.x;
  uint8_t *unit = unit_at(view, band, static_cast<uint32_t>(entry[0]), static_cast<uint32_t>(entry[1]));
  write_unit(unit, band.unit_bytes, static_cast<uint32_t>(entry[2]), blockIdx.y * kThreads + threadIdx.x,
             gridDim.y * kThreads);
}

// The units of one place stand side by side, so their accesses are numbered through.
template <typename Access> __device__ void write_place(const WritePlace &place, uint8_t *bytes, uint32_t unit_bytes) {
  const uint32_t each = unit_bytes / sizeof(Access);
  const uint64_t all = static_cast<uint64_t>(place.to - place.from) * each;
  auto *to = reinterpret_cast<Access *>(bytes);
  for (uint64_t i = blockIdx.y * kThreads + threadIdx.x; i < all; i += gridDim.y * kThreads) {
    const uint32_t unit = all <= 0xffffffffu ? static_cast<uint32_t>(i) / each : static_cast<uint32_t>(i / each);
    const uint32_t within = static_cast<uint32_t>(i - static_cast<uint64_t>(unit) * each);
    const uint32_t stamp = ut_stamp_of(place.writer, place.position + place.from + unit);
    if constexpr (sizeof(Access) == 16)
      to[i] = payload_words(stamp, within * 4);
    else
      to[i] = ut_payload_word(stamp, within);
  }
}

__global__ void __launch_bounds__(kThreads) write_units_kernel(View view, const WritePlace *places, uint32_t n) {
  if (blockIdx.x >= n) return;
  const WritePlace place = places[blockIdx.x];
  if (place.page == 0 || place.to <= place.from) return;
  const BandView &band = view.bands[place.band];
  uint8_t *bytes = unit_at(view, band, place.page, place.from);
  if (is_aligned16(bytes, band.unit_bytes))
    write_place<uint4>(place, bytes, band.unit_bytes);
  else
    write_place<uint32_t>(place, bytes, band.unit_bytes);
}

dim3 grid_for(uint32_t n) {
  const uint32_t parts = std::min(kPartsMax, std::max(1u, kBlocksWanted / std::max(1u, n)));
  return dim3(std::max(1u, n), parts);
}

} // namespace

cudaError_t launch_stamp(const View &view, uint32_t band, const int32_t *entries, uint32_t n, cudaStream_t stream) {
  stamp_kernel<<<grid_for(n), kThreads, 0, stream>>>(view, band, entries, n);
  return cudaGetLastError();
}

cudaError_t launch_write_units(const View &view, const WritePlace *places, uint32_t n, cudaStream_t stream) {
  write_units_kernel<<<grid_for(n), kThreads, 0, stream>>>(view, places, n);
  return cudaGetLastError();
}

cudaError_t prewarm_stamp(const View &view, cudaStream_t stream) {
  if (const auto error = launch_stamp(view, 0, nullptr, 0, stream); error != cudaSuccess) return error;
  return launch_write_units(view, nullptr, 0, stream);
}

} // namespace ut::cuda
