#include "pages.hpp"

#include <algorithm>

#include "relaxed.hpp"
#include "ut/payload.h"

namespace ut::host {

void write_unit(const Store &store_of, const BandStore &band, std::uint32_t page, std::uint32_t unit,
                std::uint32_t stamp) noexcept {
  std::uint32_t *const words = store_of.page(band, page) + unit * band.unit_words;
  for (std::uint64_t i = 0; i < band.unit_words; i++) {
    store(words[i], ut_payload_word(stamp, static_cast<std::uint32_t>(i)));
  }
}

std::uint32_t read_unit(const Store &store_of, const BandStore &band, std::uint32_t page, std::uint32_t unit,
                        bool &is_torn) noexcept {
  const std::uint32_t *const words = store_of.page(band, page) + unit * band.unit_words;
  const std::uint32_t stamp = load(words[0]);
  // Atomic reads stand alone in the first loop, so that the arithmetic of the second can go eight words at a time.
  constexpr std::uint64_t chunk = 64;
  std::uint32_t found[chunk];
  std::uint32_t difference = 0;
  for (std::uint64_t at = 1; at < band.unit_words && difference == 0; at += chunk) {
    const std::uint64_t count = std::min(chunk, band.unit_words - at);
    for (std::uint64_t i = 0; i < count; i++) found[i] = load(words[at + i]);
    const auto first = static_cast<std::uint32_t>(at);
    for (std::uint32_t i = 0; i < count; i++) difference |= found[i] ^ ut_payload_word(stamp, first + i);
  }
  is_torn = difference != 0;
  return is_torn ? torn_stamp : stamp;
}

PageHash hash_page(const Store &store_of, const BandStore &band, std::uint32_t page,
                   const std::uint32_t *mask) noexcept {
  PageHash hash;
  for (std::uint32_t unit = 0; unit < band.band.units; unit++) {
    if ((mask[unit / 32] >> (unit % 32) & 1u) == 0) continue;
    bool is_torn = false;
    const std::uint32_t stamp = read_unit(store_of, band, page, unit, is_torn);
    if (is_torn) hash.torn++;
    if (stamp == 0) continue;
    hash.a += ut_mix_a(UT_UNIT_FIELD, unit, stamp);
    hash.b += ut_mix_b(UT_UNIT_FIELD, unit, stamp);
  }
  return hash;
}

} // namespace ut::host
