// Units and pages of a band in their words: writing a stamp, reading one back, hashing. The arithmetic is payload.h's.
#pragma once
#include <cstdint>

#include "store.hpp"

namespace ut::host {

constexpr std::uint32_t torn_stamp = 0xffffffffu;

struct PageHash {
  std::uint32_t a = 0, b = 0;
  std::uint32_t torn = 0; // units
};

void write_unit(const Store &store, const BandStore &band, std::uint32_t page, std::uint32_t unit,
                std::uint32_t stamp) noexcept;

// The stamp that a unit carries; `torn_stamp` and true in `is_torn` when its words do not belong together.
std::uint32_t read_unit(const Store &store, const BandStore &band, std::uint32_t page, std::uint32_t unit,
                        bool &is_torn) noexcept;

// Over the units whose bits are set in `mask`, of mask_words(band) words.
PageHash hash_page(const Store &store, const BandStore &band, std::uint32_t page, const std::uint32_t *mask) noexcept;

} // namespace ut::host
