// Every kernel of the CUDA backend beside its ceiling, from one run on one device. Needs no Node.
//   device_bench             the table                device_bench --sweep     also other ways to do it
//   device_bench --gib 12    a smaller arena
// Times are medians of device events; inputs rotate over more memory than the cache holds; results are checked in the
// run. Exit code 0: all results right (targets may be missed; the last line counts them).
#include <cstring>

#include "sections.hpp"

namespace ut::bench {

std::vector<int32_t> Bench::pages(uint32_t index, uint32_t n) {
  std::vector<bool> taken(band(index).pages);
  std::vector<int32_t> chosen;
  while (chosen.size() < n) {
    const auto page = static_cast<int32_t>(1 + random() % (band(index).pages - 1));
    if (taken[static_cast<size_t>(page)]) continue;
    taken[static_cast<size_t>(page)] = true;
    chosen.push_back(page);
  }
  return chosen;
}

int32_t *Bench::pinned(const std::vector<int32_t> &words) {
  if (lists_used + words.size() > kListWords) lists_used = 0; // what stood there was measured long ago
  int32_t *at = lists + lists_used;
  std::memcpy(at, words.data(), words.size() * sizeof(int32_t));
  lists_used += (words.size() + 3u) & ~3ull;
  return at;
}

cuda::List Bench::list(const std::vector<int32_t> &words) {
  const auto count = static_cast<uint32_t>(words.size());
  return {words.data(), count, count <= cuda::kLongWords ? nullptr : pinned(words)};
}

} // namespace ut::bench

namespace {

using namespace ut::bench;

ut_device *open_device(const ut_backend *backend, uint64_t gib) {
  const uint64_t bytes = gib << 30;
  std::vector<ut_band> bands;
  for (const uint64_t page_bytes : {16ull << 10, 64ull << 10, 256ull << 10, 1024ull << 10}) {
    const auto pages = static_cast<uint32_t>(bytes / page_bytes);
    bands.push_back({page_bytes, pages, 1, 16, pages, page_bytes == 256 << 10 ? 256u : 0u, 0});
  }
  const ut_config config{bytes, bands.data(), static_cast<uint32_t>(bands.size()), 512, 1024, UT_FILL_POISON, 0, 0};
  ut_device *device = nullptr;
  if (backend->open(&config, &device) != UT_OK) {
    std::printf("FAILED: open: %s\n", backend->last_error());
    std::exit(1);
  }
  return device;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t gib = 24;
  bool sweeps = false;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "--sweep") == 0) sweeps = true;
    if (std::strcmp(argv[i], "--gib") == 0 && i + 1 < argc) gib = std::strtoull(argv[++i], nullptr, 10);
  }
  const ut_backend *backend = ut_backend_open(UT_BACKEND_ABI);
  ut_capabilities capabilities{};
  if (backend->device_count() == 0 || backend->capabilities(0, &capabilities) != UT_OK) {
    std::printf("no CUDA device: nothing was measured %s\n", backend->last_error());
    return 3;
  }
  std::printf("%s, %.1f GiB free, arena of %llu GiB\n", capabilities.name,
              static_cast<double>(capabilities.memory_free_bytes) / (1 << 30), static_cast<unsigned long long>(gib));
  Bench bench{};
  bench.backend = backend;
  bench.device = open_device(backend, gib);
  must(UT_CUDA(cudaHostAlloc(&bench.lists, Bench::kListWords * sizeof(int32_t), cudaHostAllocMapped)));
  measure_ceilings(bench);
  measure_host_side(bench);
  measure_translate(bench, sweeps);
  measure_copies(bench);
  measure_zero(bench);
  measure_units(bench);
  measure_host_copies(bench);
  if (sweeps) {
    sweep_copies(bench);
    sweep_zero(bench);
  }
  backend->close(bench.device);
  std::printf("\n%d wrong results, %d targets missed\n", wrong_results, missed_targets);
  return wrong_results == 0 ? 0 : 1;
}
