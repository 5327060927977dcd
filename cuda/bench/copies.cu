// Pages over pages and pages of zeros, beside the device's own copy and fill.
#include <algorithm>

#include "pattern.cuh"
#include "schedule.cuh"
#include "sections.hpp"

namespace ut::bench {
namespace {

constexpr uint32_t kCounts[] = {16, 256, 4096};
constexpr uint64_t kLarge = 256 << 10;

// Some sets of disjoint pairs, so that no launch meets what the one before left in the cache.
struct PairSets {
  std::vector<std::vector<int32_t>> pairs;
  std::vector<cuda::List> lists;
};

PairSets pair_sets(Bench &bench, uint32_t band, uint32_t n, uint32_t sets) {
  PairSets made;
  for (uint32_t i = 0; i < sets; i++) made.pairs.push_back(bench.pages(band, 2 * n));
  for (const auto &pairs : made.pairs) made.lists.push_back(bench.list(pairs));
  return made;
}

// One move by `plan` over a fresh pattern; all pages of the arena are looked at afterwards.
void check_copy(Bench &bench, uint32_t band, uint32_t n, const cuda::CopyPlan &plan, const std::string &what) {
  const uint64_t page_bytes = bench.band(band).page_bytes;
  const auto seed = static_cast<uint32_t>(bench.random());
  const std::vector<int32_t> pairs = bench.pages(band, 2 * n);
  must(UT_CUDA(fill_pattern(bench.view().arena, bench.arena().config.arena_bytes, seed, bench.stream())));
  must(UT_CUDA(cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes, bench.list(pairs), n,
                                 bench.stream())));
  std::vector<int32_t> source(bench.band(band).pages);
  for (size_t page = 0; page < source.size(); page++) source[page] = static_cast<int32_t>(page);
  for (uint32_t i = 0; i < n; i++) source[static_cast<size_t>(pairs[2 * i + 1])] = pairs[2 * i];
  const uint64_t wrong = wrong_words(bench.view().arena, page_bytes, source, seed, bench.stream());
  expect(wrong == 0, what + ": " + std::to_string(wrong) + " words");
}

double want_of_copy(uint32_t n, uint64_t page_bytes) {
  if (page_bytes < kLarge) return 0;
  return n == 4096 ? 93 : n == 256 ? 85 : 0;
}

struct Tried {
  cuda::CopyPlan plan;
  Times times;
};

std::vector<cuda::CopyPlan> plans_to_try(const cuda::CopyDevice &device) {
  std::vector<cuda::CopyPlan> plans;
  for (const uint32_t chunk : {8u << 10, 16u << 10, 32u << 10}) {
    for (const uint32_t blocks : {4u, 8u}) plans.push_back({cuda::CopyVariant::vector, chunk, 0, 0, blocks, false});
  }
  if (!device.has_bulk) return plans;
  for (const uint32_t chunk : {2u << 10, 4u << 10, 8u << 10, 16u << 10, 32u << 10}) {
    for (const uint32_t stages : {4u, 6u, 8u, 12u, 16u}) {
      for (const uint32_t blocks : {1u, 2u, 4u, 8u}) {
        const uint64_t shared =
            static_cast<uint64_t>(blocks) * (chunk * stages + 3072); // what a block takes for itself
        const bool fits = shared <= device.shared_bytes_max && chunk * stages <= device.shared_bytes_max - 2048;
        if (!fits || chunk * stages * blocks < (16u << 10)) continue;
        for (const uint32_t pending : {1u, 2u, 4u}) {
          if (pending * 2 > stages) continue;
          for (const bool evict : {false, true})
            plans.push_back({cuda::CopyVariant::bulk, chunk, stages, pending, blocks, evict});
        }
      }
    }
  }
  return plans;
}

void print_plan(const Tried &tried, double bytes, double ceiling) {
  const cuda::CopyPlan &plan = tried.plan;
  std::printf("  %-6s chunk %2u KiB, %2u stages, %u pending, %u a multiprocessor%s: %.1f us, %.0f GB/s, %.1f %%\n",
              plan.variant == cuda::CopyVariant::bulk ? "bulk" : "vector", plan.chunk_bytes >> 10, plan.stages,
              plan.stores_pending, plan.blocks_per_sm, plan.evict_first ? ", evict first" : "", tried.times.single_us,
              bytes / tried.times.single_us / 1e3, bytes / tried.times.single_us / 1e1 / ceiling);
}

} // namespace

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
      const PairSets sets = pair_sets(bench, band, n, 16);
      const cuda::CopyPlan plan = cuda::choose_copy_plan(bench.device->properties, page_bytes, n);
      const std::string what = "copy " + std::to_string(n) + " x " + size_word(page_bytes);
      const Times times = clock.time(n == 4096 ? 11 : 21, [&](uint32_t i) {
        return cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes, sets.lists[i % 16], n,
                                 bench.stream());
      });
      print_rate(what, times, 2.0 * n * static_cast<double>(page_bytes), bench.copy_ceiling,
                 want_of_copy(n, page_bytes));
      check_copy(bench, band, n, plan, what);
    }
  }
  constexpr uint32_t n = 256;
  for (uint32_t band = 0; band < bench.band_count(); band++) {
    const uint64_t page_bytes = bench.band(band).page_bytes;
    const PairSets sets = pair_sets(bench, band, n, 16);
    const Times times = clock.time(7, [&](uint32_t i) {
      const std::vector<int32_t> &pairs = sets.pairs[i % 16];
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

void sweep_copies(Bench &bench) {
  Clock clock(bench.stream());
  const std::vector<cuda::CopyPlan> plans = plans_to_try(bench.device->properties);
  std::printf("\nsweep of %zu ways to copy; the best four and the backend's own\n", plans.size());
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      const double bytes = 2.0 * n * static_cast<double>(page_bytes);
      const PairSets sets = pair_sets(bench, band, n, 16);
      std::vector<Tried> tried;
      const auto run = [&](const cuda::CopyPlan &plan, uint32_t repeats) {
        return Tried{plan, clock.time(repeats, [&](uint32_t i) {
                       return cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes,
                                                sets.lists[i % 16], n, bench.stream());
                     })};
      };
      for (const cuda::CopyPlan &plan : plans) tried.push_back(run(plan, 3));
      const auto faster = [](const Tried &a, const Tried &b) { return a.times.single_us < b.times.single_us; };
      std::sort(tried.begin(), tried.end(), faster);
      tried.resize(10);
      for (Tried &one : tried) one = run(one.plan, 15); // the first order was rough
      std::sort(tried.begin(), tried.end(), faster);
      std::printf("%u x %s\n", n, size_word(page_bytes).c_str());
      for (size_t i = 0; i < 4; i++) print_plan(tried[i], bytes, bench.copy_ceiling);
      print_plan(run(cuda::choose_copy_plan(bench.device->properties, page_bytes, n), 15), bytes, bench.copy_ceiling);
      check_copy(bench, band, n, tried[0].plan, "the best of the sweep");
    }
  }
}

void measure_zero(Bench &bench) {
  Clock clock(bench.stream());
  const uint32_t multiprocessors = bench.device->properties.multiprocessors;
  std::printf("\nzero; %% of memset\n");
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      std::vector<std::vector<int32_t>> verbs;
      std::vector<cuda::List> lists;
      for (uint32_t i = 0; i < 16; i++) {
        verbs.push_back({UT_ZERO, static_cast<int32_t>(4 + n), static_cast<int32_t>(band), static_cast<int32_t>(n)});
        const std::vector<int32_t> pages = bench.pages(band, n);
        verbs.back().insert(verbs.back().end(), pages.begin(), pages.end());
      }
      for (const auto &verb : verbs) lists.push_back(bench.list(verb));
      const auto launch = [&](const cuda::ZeroPlan &plan, uint32_t i) {
        const uint64_t chunks = (page_bytes + plan.chunk_bytes - 1) / plan.chunk_bytes * n;
        return cuda::launch_schedule(bench.view(), {lists[i % 16], 4 + n, 0, 0}, chunks, false, plan, bench.stream());
      };
      const std::string what = "zero " + std::to_string(n) + " x " + size_word(page_bytes);
      const cuda::ZeroPlan chosen = cuda::choose_zero_plan(multiprocessors, page_bytes * n);
      const Times times = clock.time(15, [&](uint32_t i) { return launch(chosen, i); });
      print_rate(what, times, static_cast<double>(n) * static_cast<double>(page_bytes), bench.zero_ceiling,
                 n == 4096 && page_bytes >= kLarge ? 93 : 0);
      Tried best{};
      cuda::ZeroPlan best_plan{};
      for (const uint32_t chunk : {2u << 10, 4u << 10, 8u << 10, 16u << 10}) {
        for (const uint32_t blocks : {1u, 2u, 4u, 8u}) {
          const cuda::ZeroPlan plan{chunk, multiprocessors * blocks};
          const Times other = clock.time(7, [&](uint32_t i) { return launch(plan, i); });
          if (best_plan.chunk_bytes != 0 && other.single_us >= best.times.single_us) continue;
          best.times = other;
          best_plan = plan;
        }
      }
      std::printf("  best of the sweep: chunk %u KiB, %u a multiprocessor: %.1f us\n", best_plan.chunk_bytes >> 10,
                  best_plan.blocks_max / multiprocessors, best.times.single_us);
      const auto seed = static_cast<uint32_t>(bench.random());
      must(UT_CUDA(fill_pattern(bench.view().arena, bench.arena().config.arena_bytes, seed, bench.stream())));
      must(UT_CUDA(launch(chosen, 0)));
      std::vector<int32_t> source(bench.band(band).pages);
      for (size_t page = 0; page < source.size(); page++) source[page] = static_cast<int32_t>(page);
      for (uint32_t i = 0; i < n; i++) source[static_cast<size_t>(verbs[0][4 + i])] = kZeros;
      expect(wrong_words(bench.view().arena, page_bytes, source, seed, bench.stream()) == 0, what);
    }
  }
}

} // namespace ut::bench
