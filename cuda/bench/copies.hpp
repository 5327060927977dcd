// Batches of pages that are copied or zeroed, and the checks of what came of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "schedule.cuh"
#include "sections.hpp"

namespace ut::bench {

constexpr uint32_t kCounts[] = {16, 256, 4096};
constexpr uint32_t kSets = 16; // of pages, so that no launch meets what the one before left in the cache

// Disjoint (from, to) pairs.
struct PairSets {
  PairSets(Bench &bench, uint32_t band, uint32_t n);
  std::vector<std::vector<int32_t>> pairs;
  std::vector<cuda::List> lists;
};

// UT_ZERO verbs of different pages.
struct ZeroSets {
  ZeroSets(Bench &bench, uint32_t band, uint32_t n);
  cudaError_t launch(const Bench &bench, const cuda::ZeroPlan &plan, uint32_t i) const;
  uint32_t band;
  uint32_t count;
  std::vector<std::vector<int32_t>> verbs;
  std::vector<cuda::List> lists;
};

// One launch by `plan` over a fresh pattern; all pages of the arena are looked at afterwards.
void check_copy(Bench &bench, uint32_t band, uint32_t n, const cuda::CopyPlan &plan, const std::string &what);
void check_zero(Bench &bench, const ZeroSets &sets, const cuda::ZeroPlan &plan, const std::string &what);

} // namespace ut::bench
