// Everything an opened host device keeps: the arena's bytes, the tables, the host pools. Streams touch it together; see relaxed.hpp.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "memory.hpp"
#include "ut/config.hpp"

namespace ut::host {

struct BandStore {
  ut_band band;
  std::uint64_t page_words;
  std::uint64_t unit_words;
  Block<std::int32_t> v2p;       // [ids] page, 0 = unbound
  Block<std::uint32_t> expected; // [ids][units] stamp, 0 = nothing; only with UT_CHECK_READS
  Block<std::uint32_t> host;     // [host_pages][page_words]
};

class Store {
public:
  // Takes a checked configuration. Null: no memory, with the reason.
  static std::unique_ptr<Store> make(const ut_config &config, Reason &reason);

  std::vector<BandStore> bands;
  std::uint64_t arena_bytes = 0;
  Block<std::uint32_t> arena;
  std::uint32_t rows = 0;
  std::uint32_t row_pages = 0;
  Block<std::int32_t> cells;     // [rows + 1][row_pages] ids
  Block<std::uint32_t> forwards; // [rows + 1] counters
  bool checks_reads = false;

  std::uint32_t *page(const BandStore &band, std::uint32_t index) const noexcept {
    return arena.get() + index * band.page_words;
  }
  std::int32_t *row(std::uint32_t index) const noexcept {
    return cells.get() + static_cast<std::uint64_t>(index) * row_pages;
  }

private:
  bool take(const ut_config &config);
};

// Larger arenas carry poison in their first GiB alone and zeros behind it: more would be written before anything runs.
constexpr std::uint64_t poison_max_bytes = std::uint64_t{1} << 30;

} // namespace ut::host
