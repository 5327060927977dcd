// An opened geometry: the arena, the tables behind it, the pools in host memory, and the view that kernels get.
#pragma once
#include <cstdint>

#include "memory.hpp"
#include "ut/config.hpp"
#include "view.cuh"

namespace ut::cuda {

constexpr uint32_t kFaultsMax = 4096;                 // held between two calls of `faults`; more are counted
constexpr uint32_t kWritesMax = 1u << 18;             // of one forward
constexpr uint32_t kUnitsMax = 16383;                 // a page; an id with all its expectations fits a list's piece
constexpr uint64_t kScratchBytes = uint64_t{4} << 20; // one half goes in, one comes out; calls with more go in parts

struct Arena {
  ut_config config{}; // `bands` points at the copy below
  ut_band bands[bands_max] = {};
  View view{};
  WritePlace *write_places = nullptr; // [kWritesMax], device memory
  uint8_t *scratch = nullptr;         // [kScratchBytes], device memory
  uint8_t *staging = nullptr;         // [kScratchBytes], pinned host memory
  uint8_t *staging_device = nullptr;  // the same, as kernels name it
  ut_fault *faults = nullptr;         // [kFaultsMax], pinned host memory

  const int32_t *v2p_of(uint32_t band) const { return views_[band].v2p; }
  bool checks_reads() const { return (config.flags & UT_CHECK_READS) != 0; }

  // Takes a configuration that check_config accepted. An arena that is large enough is lent by `reuse`, which may be
  // null; its bytes are touched by `fill` alone. On failure everything that was taken is given back with this object.
  Status take(const ut_config &wanted, const Arena *reuse);
  // After `take`: what was lent becomes this object's.
  void adopt(Arena &old);
  // Poison or zeros, as the configuration says; waits for it.
  Status fill(cudaStream_t stream);

private:
  Status take_tables();
  Status take_host();
  Status send_bands();

  DeviceBytes arena_;
  DeviceBytes tables_;
  PinnedBytes host_;
  BandView views_[bands_max] = {};
};

} // namespace ut::cuda
