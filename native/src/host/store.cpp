#include "store.hpp"

#include <algorithm>
#include <limits>

namespace ut::host {
namespace {

constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

// Sums that stay at their largest instead of wrapping.
void add_product(std::uint64_t &sum, std::uint64_t a, std::uint64_t b) noexcept {
  if (b != 0 && a > all / b) {
    sum = all;
    return;
  }
  sum = a * b > all - sum ? all : sum + a * b;
}

std::uint64_t needed_bytes(const ut_config &config) noexcept {
  std::uint64_t sum = config.arena_bytes;
  add_product(sum, (std::uint64_t{config.rows} + 1) * 4, config.row_pages);
  add_product(sum, std::uint64_t{config.rows} + 1, 4);
  for (std::uint32_t i = 0; i < config.band_count; i++) {
    const ut_band &band = config.bands[i];
    add_product(sum, band.ids, 4);
    if ((config.flags & UT_CHECK_READS) != 0) add_product(sum, band.ids * std::uint64_t{4}, band.units);
    add_product(sum, band.host_pages, band.page_bytes);
  }
  return sum;
}

// Whether `wanted` words are there; none wanted is no failure.
template <class Word> bool take_words(Block<Word> &block, std::uint64_t wanted) {
  block = Block<Word>(wanted);
  return wanted == 0 || block.get() != nullptr;
}

} // namespace

std::unique_ptr<Store> Store::make(const ut_config &config, Reason &reason) {
  // A system that promises more than it has would end the process later, so the limit is stated here.
  const std::uint64_t limit = machine_memory().total_bytes / 4 * 3;
  const std::uint64_t needed = needed_bytes(config);
  if (needed > limit) {
    reason.fail("arena, tables and host pages need %llu bytes; the limit is three quarters of this machine's memory, %llu bytes",
                static_cast<unsigned long long>(needed), static_cast<unsigned long long>(limit));
    return nullptr;
  }
  auto made = std::make_unique<Store>();
  if (!made->take(config)) {
    reason.fail("the system gave no %llu bytes for arena, tables and host pages",
                static_cast<unsigned long long>(needed));
    return nullptr;
  }
  return made;
}

bool Store::take(const ut_config &config) {
  arena_bytes = config.arena_bytes;
  rows = config.rows;
  row_pages = config.row_pages;
  checks_reads = (config.flags & UT_CHECK_READS) != 0;
  const std::uint64_t row_count = std::uint64_t{rows} + 1;
  bool is_taken = take_words(arena, arena_bytes / 4 + 1) && take_words(cells, row_count * row_pages) &&
                 take_words(forwards, row_count);
  bands.resize(config.band_count);
  for (std::uint32_t i = 0; i < config.band_count && is_taken; i++) {
    BandStore &band = bands[i];
    band.band = config.bands[i];
    band.page_words = band.band.page_bytes / 4;
    band.unit_words = unit_bytes(band.band) / 4;
    is_taken = take_words(band.v2p, band.band.ids) &&
              take_words(band.expected, checks_reads ? std::uint64_t{band.band.ids} * band.band.units : 0) &&
              take_words(band.host, band.band.host_pages * band.page_words);
  }
  if (is_taken && (config.flags & UT_FILL_POISON) != 0) {
    std::fill_n(arena.get(), std::min(arena_bytes, poison_max_bytes) / 4, std::uint32_t{0x7fc17fc1});
  }
  return is_taken;
}

} // namespace ut::host
