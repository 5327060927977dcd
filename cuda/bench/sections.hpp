// The parts of the benchmark. All work on one opened device whose bands are grids of 16 KiB to 1 MiB pages over one
// arena.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "device.hpp"
#include "measure.hpp"

namespace ut::bench {

struct Bench {
  const ut_backend *backend;
  ut_device *device;
  std::mt19937_64 random{20240817};
  double copy_ceiling = 0;  // GB/s, read + written
  double zero_ceiling = 0;  // GB/s
  int32_t *lists = nullptr; // pinned host memory, kListWords words
  uint64_t lists_used = 0;

  static constexpr uint64_t kListWords = uint64_t{8} << 20;

  const cuda::Arena &arena() const { return device->geometry->arena; }
  const cuda::View &view() const { return arena().view; }
  const ut_band &band(uint32_t index) const { return arena().bands[index]; }
  uint32_t band_count() const { return arena().config.band_count; }
  cudaStream_t stream() const { return device->streams.of(cuda::kSchedule); }

  // Different pages of a band, never page 0.
  std::vector<int32_t> pages(uint32_t index, uint32_t n);
  // A list as launches take it: by value while short, else in pinned memory. `words` must live until the launch.
  cuda::List list(const std::vector<int32_t> &words);
  // The words in pinned memory, for some time.
  int32_t *pinned(const std::vector<int32_t> &words);
};

void measure_ceilings(Bench &bench);
void measure_copies(Bench &bench);
void sweep_copies(Bench &bench);
void measure_zero(Bench &bench);
void sweep_zero(Bench &bench);
void measure_units(Bench &bench);
void measure_translate(Bench &bench, bool sweeps);
void measure_host_copies(Bench &bench);
void measure_host_side(Bench &bench);

} // namespace ut::bench
