// A small opened host device for tests: three bands over one arena, scripts as lists of words, and what stands in it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "check.hpp"
#include "ut/backend.h"
#include "ut/config.hpp"
#include "ut/host_backend.hpp"
#include "ut/payload.h"

namespace test {

using Words = std::vector<std::int32_t>;

// One verb, its length put in.
inline Words verb(std::int32_t which, const Words &arguments = {}) {
  Words words{which, static_cast<std::int32_t>(arguments.size()) + 2};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

inline Words script(std::initializer_list<Words> verbs) {
  Words words;
  for (const Words &one : verbs) words.insert(words.end(), one.begin(), one.end());
  return words;
}

inline std::int32_t bits(std::uint32_t word) { return static_cast<std::int32_t>(word); }

// Bands 0 and 1 hold pages of requests, band 2 holds states. Units of band 1 leave 8 bytes of a page over.
constexpr std::uint32_t band_count = 3;
constexpr ut_band bands[band_count] = {
    {256, 32, 1, 4, 20, 4, 0},
    {200, 40, 2, 3, 20, 2, 0},
    {512, 16, 1, 1, 6, 2, UT_BAND_STATE},
};

inline ut_config small_config(std::uint32_t flags = UT_CHECK_READS) {
  ut_config config = {};
  config.arena_bytes = 8192;
  config.bands = bands;
  config.band_count = band_count;
  config.rows = 4;
  config.row_pages = 8;
  config.flags = flags;
  return config;
}

struct Hash {
  std::uint32_t a, b, torn;
  bool operator==(const Hash &) const = default;
};

class Machine {
public:
  explicit Machine(const ut_config &config = small_config()) {
    CHECK(host->open(&config, &device) == UT_OK);
    arena_bytes = config.arena_bytes;
  }
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;
  ~Machine() { host->close(device); }

  const ut_backend *host = ut::host_backend();
  ut_device *device = nullptr;
  std::uint64_t arena_bytes = 0;

  std::int32_t submit(const Words &words) { return host->submit(device, words.data(), words.size()); }
  void run(std::initializer_list<Words> verbs) {
    const std::int32_t code = submit(script(verbs));
    if (code != UT_OK) std::fprintf(stderr, "submit: %s\n", host->last_error());
    CHECK(code == UT_OK);
  }
  std::string error() const { return host->last_error(); }

  std::vector<std::uint8_t> bytes() { return bytes(0, arena_bytes); }
  std::vector<std::uint8_t> bytes(std::uint64_t offset, std::uint64_t count) {
    std::vector<std::uint8_t> out(count);
    CHECK(host->read_bytes(device, offset, count, out.data()) == UT_OK);
    return out;
  }
  // Word `index` of a page.
  std::uint32_t word(std::uint32_t band, std::uint32_t page, std::uint32_t index) {
    const std::vector<std::uint8_t> four = bytes(page * bands[band].page_bytes + index * std::uint64_t{4}, 4);
    return four[0] | four[1] << 8 | four[2] << 16 | static_cast<std::uint32_t>(four[3]) << 24;
  }
  // Stamps of a page's units, each unit read word by word.
  std::vector<std::uint32_t> stamps(std::uint32_t band, std::uint32_t page) {
    std::vector<std::uint32_t> found;
    const auto words = static_cast<std::uint32_t>(ut::unit_bytes(bands[band]) / 4);
    for (std::uint32_t unit = 0; unit < bands[band].units; unit++) {
      const std::uint32_t stamp = word(band, page, unit * words);
      for (std::uint32_t i = 0; i < words; i++) {
        CHECK(word(band, page, unit * words + i) == ut_payload_word(stamp, i));
      }
      found.push_back(stamp);
    }
    return found;
  }
  Hash hash(std::uint32_t band, std::int32_t page, std::uint32_t mask = 0xffffffffu) {
    std::uint32_t out[3] = {};
    CHECK(host->hash_pages(device, band, 1, &page, &mask, out) == UT_OK);
    return {out[0], out[1], out[2]};
  }
  Words table(std::uint32_t which, std::uint32_t index, std::uint32_t count) {
    Words out(count);
    CHECK(host->read_table(device, which, index, count, out.data()) == UT_OK);
    return out;
  }
  std::vector<ut_fault> faults(std::uint32_t capacity = 64) {
    std::vector<ut_fault> out(capacity);
    fault_count = 0;
    CHECK(host->faults(device, out.data(), capacity, &fault_count) == UT_OK);
    out.resize(std::min(capacity, fault_count));
    return out;
  }
  std::uint32_t fault_count = 0; // of the last `faults`
  std::int32_t query(std::uint32_t handle) { return host->query(device, handle); }

  // Everything that a script can change, apart from handles.
  std::vector<Words> tables() {
    std::vector<Words> all;
    for (std::uint32_t band = 0; band < band_count; band++) all.push_back(table(0, band, bands[band].ids));
    for (std::uint32_t row = 1; row <= 4; row++) all.push_back(table(1, row, 8));
    all.push_back(table(2, 0, 5));
    return all;
  }
};

// Sum over the given stamps of a page, by the rule itself.
inline Hash hash_of(const std::vector<std::uint32_t> &stamps) {
  Hash hash{0, 0, 0};
  for (std::uint32_t unit = 0; unit < stamps.size(); unit++) {
    if (stamps[unit] == 0) continue;
    hash.a += ut_mix_a(UT_UNIT_FIELD, unit, stamps[unit]);
    hash.b += ut_mix_b(UT_UNIT_FIELD, unit, stamps[unit]);
  }
  return hash;
}

} // namespace test
