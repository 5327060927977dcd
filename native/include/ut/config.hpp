// What every backend demands of a ut_config, in one place. C++17, header only, no exceptions, no allocation.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ut/backend.h"

namespace ut {

// One line of text that says why something was refused.
struct Reason {
  char text[256] = "";

  // Always false, so that a check can end with it.
#if defined(__GNUC__)
  __attribute__((format(printf, 2, 3)))
#endif
  bool fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return false;
  }
};

constexpr uint32_t bands_max = 64;
constexpr uint32_t count_limit = 0x80000000u; // pages, ids, rows and the like stay below it

// Bytes of one unit: a multiple of 4, at least 4 in a band that was checked.
inline uint64_t unit_bytes(const ut_band &band) { return band.page_bytes / band.units / 4 * 4; }

// Words of a mask over a page's units.
inline uint32_t mask_words(const ut_band &band) { return band.units / 32 + (band.units % 32 != 0 ? 1 : 0); }

inline bool is_state(const ut_band &band) { return (band.flags & UT_BAND_STATE) != 0; }

inline bool check_band(const ut_band &band, uint32_t index, uint64_t arena_bytes, Reason &reason) {
  if (band.page_bytes == 0 || band.page_bytes % 4 != 0) {
    return reason.fail("band %u: a page of %llu bytes is no multiple of 4", index,
                       static_cast<unsigned long long>(band.page_bytes));
  }
  if (band.pages >= count_limit || band.ids >= count_limit || band.host_pages >= count_limit) {
    return reason.fail("band %u: pages, ids and host pages must be below 2^31", index);
  }
  if (band.pages > arena_bytes / band.page_bytes) {
    return reason.fail("band %u: %u pages of %llu bytes exceed the arena of %llu bytes", index, band.pages,
                       static_cast<unsigned long long>(band.page_bytes),
                       static_cast<unsigned long long>(arena_bytes));
  }
  if (band.first_page == 0 || band.first_page > band.pages) {
    return reason.fail("band %u: first page %u is outside 1..%u", index, band.first_page, band.pages);
  }
  if (band.units == 0 || band.units >= count_limit || band.units > band.page_bytes / 4) {
    return reason.fail("band %u: %u units do not fit a page of %llu bytes", index, band.units,
                       static_cast<unsigned long long>(band.page_bytes));
  }
  if (band.ids == 0) return reason.fail("band %u: it has no ids; id 0 alone makes 1", index);
  if ((band.flags & ~UT_BAND_STATE) != 0) return reason.fail("band %u: unknown flags 0x%x", index, band.flags);
  return true;
}

// Whether a backend may open this. The device's number is the backend's own matter.
inline bool check_config(const ut_config *config, Reason &reason) {
  if (config == nullptr) return reason.fail("no configuration");
  if (config->band_count == 0 || config->band_count > bands_max || config->bands == nullptr) {
    return reason.fail("%u bands: there must be 1 to %u", config->band_count, bands_max);
  }
  if (config->rows >= count_limit || config->row_pages >= count_limit) {
    return reason.fail("rows and cells a row must be below 2^31");
  }
  if ((config->flags & ~(UT_FILL_POISON | UT_CHECK_READS)) != 0) {
    return reason.fail("unknown flags 0x%x", config->flags);
  }
  if (config->reserved != 0) return reason.fail("the reserved word is %u, not 0", config->reserved);
  for (uint32_t i = 0; i < config->band_count; i++) {
    if (!check_band(config->bands[i], i, config->arena_bytes, reason)) return false;
  }
  return true;
}

} // namespace ut
