// Pages over pages and pages of zeros, beside the device's own copy and fill.
#include <algorithm>

#include "copies.hpp"
#include "pattern.cuh"

namespace ut::bench {
namespace {

constexpr uint64_t kLarge = 256 << 10;

double want_of_copy(uint32_t n, uint64_t page_bytes) {
  if (page_bytes < kLarge) return 0;
  return n == 4096 ? 93 : n == 256 ? 85 : 0;
}

std::vector<int32_t> every_page(const Bench &bench, uint32_t band) {
  std::vector<int32_t> pages(bench.band(band).pages);
  for (size_t page = 0; page < pages.size(); page++) pages[page] = static_cast<int32_t>(page);
  return pages;
}

uint32_t spoil(Bench &bench) {
  const auto seed = static_cast<uint32_t>(bench.random());
  must(UT_CUDA(fill_pattern(bench.view().arena, bench.arena().config.arena_bytes, seed, bench.stream())));
  return seed;
}

} // namespace

PairSets::PairSets(Bench &bench, uint32_t band, uint32_t n) {
  for (uint32_t i = 0; i < kSets; i++) pairs.push_back(bench.pages(band, 2 * n));
  for (const auto &each : pairs) lists.push_back(bench.list(each));
}

ZeroSets::ZeroSets(Bench &bench, uint32_t on, uint32_t n) : band(on), count(n) {
  for (uint32_t i = 0; i < kSets; i++) {
    verbs.push_back({UT_ZERO, static_cast<int32_t>(4 + n), static_cast<int32_t>(band), static_cast<int32_t>(n)});
    const std::vector<int32_t> pages = bench.pages(band, n);
    verbs.back().insert(verbs.back().end(), pages.begin(), pages.end());
  }
  for (const auto &verb : verbs) lists.push_back(bench.list(verb));
}

cudaError_t ZeroSets::launch(const Bench &bench, const cuda::ZeroPlan &plan, uint32_t i) const {
  const uint64_t chunks = (bench.band(band).page_bytes + plan.chunk_bytes - 1) / plan.chunk_bytes * count;
  return cuda::launch_schedule(bench.view(), {lists[i % kSets], 4 + count, 0, 0}, chunks, false, plan, bench.stream());
}

void check_copy(Bench &bench, uint32_t band, uint32_t n, const cuda::CopyPlan &plan, const std::string &what) {
  const uint64_t page_bytes = bench.band(band).page_bytes;
  const uint32_t seed = spoil(bench);
  const std::vector<int32_t> pairs = bench.pages(band, 2 * n);
  must(UT_CUDA(cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes, bench.list(pairs), n,
                                 bench.stream())));
  std::vector<int32_t> source = every_page(bench, band);
  for (uint32_t i = 0; i < n; i++) source[static_cast<size_t>(pairs[2 * i + 1])] = pairs[2 * i];
  const uint64_t wrong = wrong_words(bench.view().arena, page_bytes, source, seed, bench.stream());
  expect(wrong == 0, what + ": " + std::to_string(wrong) + " words");
}

void check_zero(Bench &bench, const ZeroSets &sets, const cuda::ZeroPlan &plan, const std::string &what) {
  const uint32_t seed = spoil(bench);
  must(UT_CUDA(sets.launch(bench, plan, 0)));
  std::vector<int32_t> source = every_page(bench, sets.band);
  for (uint32_t i = 0; i < sets.count; i++) source[static_cast<size_t>(sets.verbs[0][4 + i])] = kZeros;
  const uint64_t wrong =
      wrong_words(bench.view().arena, bench.band(sets.band).page_bytes, source, seed, bench.stream());
  expect(wrong == 0, what + ": " + std::to_string(wrong) + " words");
}

void measure_ceilings(Bench &bench) {
  Clock clock(bench.stream());
  uint8_t *arena = bench.view().arena;
  const uint64_t half = std::min<uint64_t>(uint64_t{8} << 30, bench.arena().config.arena_bytes / 2);
  const Times copy = clock.time(7, [&](uint32_t) {
    return cudaMemcpyAsync(arena + half, arena, half, cudaMemcpyDeviceToDevice, bench.stream());
  });
  const Times fill =
      clock.time(7, [&](uint32_t i) { return cudaMemsetAsync(arena, static_cast<int>(i), half, bench.stream()); });
  bench.copy_ceiling = 2.0 * static_cast<double>(half) / copy.single_us / 1e3;
  bench.zero_ceiling = static_cast<double>(half) / fill.single_us / 1e3;
  std::printf("ceilings: device-to-device copy of %.1f GiB %.0f GB/s (read + written), memset %.0f GB/s\n",
              static_cast<double>(half) / (1 << 30), bench.copy_ceiling, bench.zero_ceiling);
}

void measure_copies(Bench &bench) {
  Clock clock(bench.stream());
  std::printf("\ncopyPages, as the backend does it; %% of the copy\n");
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      const PairSets sets(bench, band, n);
      const cuda::CopyPlan plan = cuda::choose_copy_plan(bench.device->properties, page_bytes, n);
      const std::string what = "copy " + std::to_string(n) + " x " + size_word(page_bytes);
      const Times times = clock.time(n == 4096 ? 11 : 21, [&](uint32_t i) {
        return cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes,
                                 sets.lists[i % kSets], n, bench.stream());
      });
      print_rate(what, times, 2.0 * n * static_cast<double>(page_bytes), bench.copy_ceiling,
                 want_of_copy(n, page_bytes));
      check_copy(bench, band, n, plan, what);
    }
  }
  constexpr uint32_t n = 256;
  for (uint32_t band = 0; band < bench.band_count(); band++) {
    const uint64_t page_bytes = bench.band(band).page_bytes;
    const PairSets sets(bench, band, n);
    const Times times = clock.time(7, [&](uint32_t i) {
      const std::vector<int32_t> &pairs = sets.pairs[i % kSets];
      for (uint32_t k = 0; k < n; k++) {
        const cudaError_t error =
            cudaMemcpyAsync(bench.view().arena + static_cast<uint64_t>(pairs[2 * k + 1]) * page_bytes,
                            bench.view().arena + static_cast<uint64_t>(pairs[2 * k]) * page_bytes, page_bytes,
                            cudaMemcpyDeviceToDevice, bench.stream());
        if (error != cudaSuccess) return error;
      }
      return cudaSuccess;
    });
    print_rate("one memcpy a page, 256 x " + size_word(page_bytes), times, 2.0 * n * static_cast<double>(page_bytes),
               bench.copy_ceiling, 0);
  }
}

void measure_zero(Bench &bench) {
  Clock clock(bench.stream());
  const uint32_t multiprocessors = bench.device->properties.multiprocessors;
  std::printf("\nzero, as the backend does it; %% of memset\n");
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      const ZeroSets sets(bench, band, n);
      const std::string what = "zero " + std::to_string(n) + " x " + size_word(page_bytes);
      const cuda::ZeroPlan plan = cuda::choose_zero_plan(multiprocessors, page_bytes * n);
      const Times times = clock.time(15, [&](uint32_t i) { return sets.launch(bench, plan, i); });
      print_rate(what, times, static_cast<double>(n) * static_cast<double>(page_bytes), bench.zero_ceiling,
                 n == 4096 && page_bytes >= kLarge ? 93 : 0);
      check_zero(bench, sets, plan, what);
    }
  }
}

} // namespace ut::bench
