// Many ways to copy and to zero, timed beside each other. The lines that are printed can stand in the tables of
// choose_copy_plan and choose_zero_plan as they are.
#include <algorithm>

#include "copies.hpp"
#include "deal.cuh"

namespace ut::bench {
namespace {

constexpr size_t kBest = 4;
constexpr uint32_t kCheckBand = 2, kCheckPages = 251; // no whole number of runs, whatever the plan
constexpr uint64_t kRunBytes[] = {0, 1, 64 << 10, 256 << 10}; // evenly; chunk by chunk; longer

// A run of at least so many bytes, 0 for evenly.
uint32_t run_of(uint64_t bytes, uint32_t chunk) {
  return bytes == 0 ? cuda::kEvenly : static_cast<uint32_t>(std::max<uint64_t>(1, bytes / chunk));
}

std::vector<cuda::CopyPlan> copy_plans(const cuda::CopyDevice &device) {
  std::vector<cuda::CopyPlan> plans;
  const auto add = [&](cuda::CopyPlan plan) {
    for (const uint64_t run : kRunBytes) {
      if (run > 1 && run <= plan.chunk_bytes) continue;
      plan.run = run_of(run, plan.chunk_bytes);
      for (const bool evict_first : {false, true}) {
        plan.evict_first = evict_first;
        plans.push_back(plan);
      }
    }
  };
  for (const uint32_t chunk : {16u << 10, 32u << 10}) {
    for (const uint32_t accesses : {4u, 8u}) {
      for (const uint32_t blocks : {2u, 3u, 5u}) {
        const bool finds_room = accesses == 4 || blocks <= 3;
        if (finds_room) add({cuda::CopyVariant::vector, chunk, accesses, 0, blocks, false, cuda::kEvenly});
      }
    }
  }
  if (!device.has_bulk) return plans;
  for (const uint32_t chunk : {2u << 10, 4u << 10, 8u << 10, 16u << 10, 32u << 10}) {
    for (const uint32_t stages : {4u, 6u, 12u}) {
      for (const uint32_t blocks : {1u, 2u, 4u, 8u}) {
        const uint64_t each = chunk * stages + 3072; // what a block takes for itself beside its chunks
        const bool fits = each * blocks <= device.shared_bytes_max;
        if (fits && chunk * stages * blocks >= (48u << 10))
          add({cuda::CopyVariant::bulk, chunk, stages, 2, blocks, false, cuda::kEvenly});
      }
    }
  }
  return plans;
}

std::vector<cuda::ZeroPlan> zero_plans(uint32_t multiprocessors) {
  std::vector<cuda::ZeroPlan> plans;
  for (const uint32_t chunk : {4u << 10, 16u << 10}) {
    for (const uint32_t blocks : {1u, 2u, 4u, 8u}) {
      for (const uint64_t run : kRunBytes) {
        for (const bool is_bulk : {false, true}) {
          for (const bool evict_first : {false, true})
            plans.push_back({chunk, multiprocessors * blocks, run_of(run, chunk), is_bulk, evict_first});
        }
      }
    }
  }
  return plans;
}

const char *word(bool value) { return value ? "true" : "false"; }
std::string word_of_run(uint32_t run) { return run == cuda::kEvenly ? "kEvenly" : std::to_string(run); }

std::string line_of(const cuda::CopyPlan &plan) {
  char text[128];
  std::snprintf(text, sizeof text, "{CopyVariant::%s, %u << 10, %u, %u, %u, %s, %s}",
                plan.variant == cuda::CopyVariant::bulk ? "bulk" : "vector", plan.chunk_bytes >> 10, plan.stages,
                plan.stores_pending, plan.blocks_per_sm, word(plan.evict_first), word_of_run(plan.run).c_str());
  return text;
}
std::string line_of(const cuda::ZeroPlan &plan, uint32_t multiprocessors) {
  char text[128];
  std::snprintf(text, sizeof text, "%u, {%u << 10, 0, %s, %s, %s}", plan.blocks_max / multiprocessors,
                plan.chunk_bytes >> 10, word_of_run(plan.run).c_str(), word(plan.is_bulk), word(plan.evict_first));
  return text;
}

template <typename Plan> struct Tried {
  Plan plan;
  double us;
};

// The best of `plans`, best first, and the backend's own as the last one. run(plan, repeats): microseconds.
template <typename Plan, typename Run>
std::vector<Tried<Plan>> best_of(const std::vector<Plan> &plans, const Plan &own, Run &&run) {
  std::vector<Tried<Plan>> tried;
  const auto faster = [](const Tried<Plan> &a, const Tried<Plan> &b) { return a.us < b.us; };
  for (const Plan &plan : plans) tried.push_back({plan, run(plan, 3)});
  std::sort(tried.begin(), tried.end(), faster);
  tried.resize(std::min<size_t>(tried.size(), 8));
  for (Tried<Plan> &one : tried) one.us = run(one.plan, 15); // the first order was rough
  std::sort(tried.begin(), tried.end(), faster);
  tried.resize(std::min(tried.size(), kBest));
  tried.push_back({own, run(own, 15)});
  return tried;
}

void print_line(const std::string &line, double us, double bytes, double ceiling, bool is_own) {
  std::printf("  %-56s %8.1f us, %4.0f GB/s, %5.1f %%%s\n", line.c_str(), us, bytes / us / 1e3,
              bytes / us / 1e1 / ceiling, is_own ? "  the backend's" : "");
}

} // namespace

void sweep_copies(Bench &bench) {
  Clock clock(bench.stream());
  const std::vector<cuda::CopyPlan> plans = copy_plans(bench.device->properties);
  std::printf("\nsweep of %zu ways to copy: the best, and the backend's\n", plans.size());
  for (const cuda::CopyPlan &plan : plans) check_copy(bench, kCheckBand, kCheckPages, plan, line_of(plan));
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      const PairSets sets(bench, band, n);
      const auto run = [&](const cuda::CopyPlan &plan, uint32_t repeats) {
        const auto launch = [&](uint32_t i) {
          return cuda::launch_copy(bench.device->properties, plan, bench.view().arena, page_bytes,
                                   sets.lists[i % kSets], n, bench.stream());
        };
        return clock.time(repeats, launch, false).single_us;
      };
      const auto best = best_of(plans, cuda::choose_copy_plan(bench.device->properties, page_bytes, n), run);
      std::printf("copy %u x %s\n", n, size_word(page_bytes).c_str());
      for (const auto &one : best)
        print_line(line_of(one.plan), one.us, 2.0 * n * static_cast<double>(page_bytes), bench.copy_ceiling,
                   &one == &best.back());
    }
  }
}

void sweep_zero(Bench &bench) {
  Clock clock(bench.stream());
  const uint32_t multiprocessors = bench.device->properties.multiprocessors;
  const std::vector<cuda::ZeroPlan> plans = zero_plans(multiprocessors);
  std::printf("\nsweep of %zu ways to zero: the best, and the backend's\n", plans.size());
  const ZeroSets checked(bench, kCheckBand, kCheckPages);
  for (const cuda::ZeroPlan &plan : plans) check_zero(bench, checked, plan, line_of(plan, multiprocessors));
  for (const uint32_t n : kCounts) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const uint64_t page_bytes = bench.band(band).page_bytes;
      const ZeroSets sets(bench, band, n);
      const auto run = [&](const cuda::ZeroPlan &plan, uint32_t repeats) {
        return clock.time(repeats, [&](uint32_t i) { return sets.launch(bench, plan, i); }, false).single_us;
      };
      const auto best = best_of(plans, cuda::choose_zero_plan(multiprocessors, page_bytes * n), run);
      std::printf("zero %u x %s\n", n, size_word(page_bytes).c_str());
      for (const auto &one : best)
        print_line(line_of(one.plan, multiprocessors), one.us, static_cast<double>(n) * static_cast<double>(page_bytes),
                   bench.zero_ceiling, &one == &best.back());
    }
  }
}

} // namespace ut::bench
