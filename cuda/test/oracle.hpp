// What the verbs mean, done at once and one after the other in plain memory. A device may overlap what it likes: with
// all waits in place it must end like this.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ut/config.hpp"
#include "ut/payload.h"
#include "ut/verbs.hpp"

namespace ut::test {

// A fault without what was found and who asked: these say what is wrong, the others which word was looked at.
using FaultKey =
    std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>; // kind, band, id, page, unit, expected

class Oracle {
public:
  Oracle(const ut_config &config, const std::vector<ut_band> &bands) : config_(config), bands_(bands) {
    arena_.resize(config.arena_bytes);
    if ((config.flags & UT_FILL_POISON) != 0) {
      for (uint64_t i = 0; i < arena_.size(); i++) arena_[i] = i % 2 == 0 ? 0xc1 : 0x7f;
    }
    for (const ut_band &band : bands_) {
      v2p_.emplace_back(band.ids, 0);
      expected_.emplace_back(static_cast<size_t>(band.ids) * band.units, 0u);
      pools_.emplace_back(static_cast<size_t>(band.host_pages) * band.page_bytes, uint8_t{0});
    }
    rows_.resize((config.rows + 1ull) * config.row_pages);
    counters_.resize(config.rows + 1ull);
  }

  void run(const std::vector<int32_t> &words) { walk_script(words.data(), words.size(), *this); }

  const std::vector<uint8_t> &arena() const { return arena_; }
  const std::vector<int32_t> &v2p(uint32_t band) const { return v2p_[band]; }
  std::vector<int32_t> row(uint32_t row) const {
    const auto first = rows_.begin() + static_cast<int64_t>(row) * config_.row_pages;
    return {first, first + config_.row_pages};
  }
  const std::vector<int32_t> &counters() const { return counters_; }
  std::set<FaultKey> take_faults() { return std::exchange(faults_, {}); }

  uint32_t word_at(uint32_t band, uint32_t page, uint32_t unit) const { return word(unit_at(band, page, unit)); }

  struct Hash {
    uint32_t a, b, torn;
  };
  Hash hash(uint32_t index, uint32_t page, const uint32_t *mask) const {
    const ut_band &band = bands_[index];
    Hash hash{0, 0, 0};
    for (uint32_t unit = 0; unit < band.units; unit++) {
      if ((mask[unit / 32] >> unit % 32 & 1u) == 0) continue;
      const uint64_t at = unit_at(index, page, unit);
      const bool torn = is_torn(index, at);
      const uint32_t stamp = torn ? 0xffffffffu : word(at);
      if (stamp == 0) continue;
      hash.a += ut_mix_a(UT_UNIT_FIELD, unit, stamp);
      hash.b += ut_mix_b(UT_UNIT_FIELD, unit, stamp);
      hash.torn += torn ? 1 : 0;
    }
    return hash;
  }

  int64_t translate(uint32_t index, int64_t token) const {
    const ut_band &band = bands_[index];
    if (token <= 0 || token / band.units >= band.ids) return 0;
    const int64_t page = v2p_[index][static_cast<size_t>(token / band.units)];
    return page == 0 ? 0 : page * band.units + token % band.units;
  }

  // --- verbs ---

  void operator()(const ZeroVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++)
      std::memset(page_at(verb.band, verb.pages[i]), 0, bands_[verb.band].page_bytes);
  }
  void operator()(const MoveVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++) {
      std::memmove(page_at(verb.band, verb.pairs[2 * i + 1]), page_at(verb.band, verb.pairs[2 * i]),
                   bands_[verb.band].page_bytes);
    }
  }
  void operator()(const BindVerb &verb) {
    const uint32_t units = bands_[verb.band].units;
    for (uint32_t i = 0; i < verb.count; i++) {
      const auto id = static_cast<size_t>(verb.pairs[2 * i]);
      v2p_[verb.band][id] = verb.pairs[2 * i + 1];
      if (verb.is_fresh) std::fill_n(expected_[verb.band].begin() + static_cast<int64_t>(id * units), units, 0u);
    }
  }
  void operator()(const RowVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++)
      rows_[static_cast<size_t>(verb.row) * config_.row_pages + verb.first + i] = verb.ids[i];
  }
  void operator()(const ExpectVerb &verb) {
    const uint32_t units = bands_[verb.band].units;
    for (uint32_t i = 0; i < verb.count; i++) {
      const int32_t *entry = verb.entries + static_cast<uint64_t>(i) * (units + 1);
      for (uint32_t unit = 0; unit < units; unit++)
        expected_[verb.band][static_cast<size_t>(entry[0]) * units + unit] = static_cast<uint32_t>(entry[1 + unit]);
    }
  }
  void operator()(const StampVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++) {
      const int32_t *entry = verb.entries + 3ull * i;
      write(verb.band, static_cast<uint32_t>(entry[0]), static_cast<uint32_t>(entry[1]),
            static_cast<uint32_t>(entry[2]));
    }
  }
  void operator()(const ResetVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++) counters_[static_cast<size_t>(verb.rows[i])] = 0;
  }
  void operator()(const ForwardVerb &verb) {
    for (uint32_t i = 0; i < verb.reads; i++) counters_[static_cast<size_t>(verb.read_entries[2 * i])]++;
    if (checks()) check_reads(verb);
    for (uint32_t i = 0; i < verb.writes; i++) {
      const int32_t *w = verb.write_entries + 6ull * i;
      const auto band = static_cast<uint32_t>(w[0]), id = static_cast<uint32_t>(w[1]);
      const auto page = static_cast<uint32_t>(v2p_[band][id]);
      if (page == 0 && w[2] < w[3]) faults_.insert({3, band, id, 0, 0, 0});
      for (int32_t unit = w[2]; unit < w[3]; unit++) {
        const uint32_t stamp = ut_stamp_of(static_cast<uint32_t>(w[5]), static_cast<uint32_t>(w[4] + unit));
        expected_[band][static_cast<size_t>(id) * bands_[band].units + static_cast<size_t>(unit)] = stamp;
        if (page != 0) write(band, page, static_cast<uint32_t>(unit), stamp);
      }
    }
  }
  void operator()(const HostCopyVerb &verb) {
    for (uint32_t i = 0; i < verb.count; i++) {
      const int32_t *entry = verb.entries + 3ull * i;
      const uint64_t bytes = bands_[static_cast<size_t>(entry[0])].page_bytes;
      uint8_t *page = page_at(static_cast<uint32_t>(entry[0]), entry[1]);
      uint8_t *host = pools_[static_cast<size_t>(entry[0])].data() + static_cast<uint64_t>(entry[2]) * bytes;
      std::memcpy(verb.is_load ? page : host, verb.is_load ? host : page, bytes);
    }
  }
  void operator()(const SendVerb &verb) {
    for (uint32_t i = 0; checks() && i < verb.count; i++) {
      const int32_t *entry = verb.entries + static_cast<uint64_t>(i) * (3 + verb.mask_words);
      const auto band = static_cast<uint32_t>(entry[0]), page = static_cast<uint32_t>(entry[1]);
      const Hash found = hash(band, page, reinterpret_cast<const uint32_t *>(entry + 3));
      if (found.a != static_cast<uint32_t>(entry[2]))
        faults_.insert({2, band, 0, page, 0, static_cast<uint32_t>(entry[2])});
    }
  }
  void operator()(const ReceiveVerb &verb) { write_all(verb.entries, verb.count); }
  void operator()(const FillVerb &verb) { write_all(verb.entries, verb.count); }
  template <typename Wait> void operator()(const Wait &) {} // waits and delays: everything is over already

private:
  bool checks() const { return (config_.flags & UT_CHECK_READS) != 0; }
  uint8_t *page_at(uint32_t band, int32_t page) {
    return arena_.data() + static_cast<uint64_t>(page) * bands_[band].page_bytes;
  }
  uint64_t unit_at(uint32_t band, uint32_t page, uint32_t unit) const {
    return page * bands_[band].page_bytes + unit * unit_bytes(bands_[band]);
  }
  uint32_t word(uint64_t at) const {
    uint32_t word;
    std::memcpy(&word, arena_.data() + at, 4);
    return word;
  }
  bool is_torn(uint32_t band, uint64_t at) const {
    const uint32_t stamp = word(at);
    for (uint32_t i = 1; i < unit_bytes(bands_[band]) / 4; i++) {
      if (word(at + 4ull * i) != ut_payload_word(stamp, i)) return true;
    }
    return false;
  }
  void write(uint32_t band, uint32_t page, uint32_t unit, uint32_t stamp) {
    const uint64_t at = unit_at(band, page, unit);
    for (uint32_t i = 0; i < unit_bytes(bands_[band]) / 4; i++) {
      const uint32_t word = ut_payload_word(stamp, i);
      std::memcpy(arena_.data() + at + 4ull * i, &word, 4);
    }
  }
  void write_all(const int32_t *entries, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
      const int32_t *w = entries + 6ull * i;
      for (int32_t unit = w[2]; unit < w[3]; unit++)
        write(static_cast<uint32_t>(w[0]), static_cast<uint32_t>(w[1]), static_cast<uint32_t>(unit),
              ut_stamp_of(static_cast<uint32_t>(w[5]), static_cast<uint32_t>(w[4] + unit)));
    }
  }
  void check_reads(const ForwardVerb &verb) {
    std::set<std::pair<uint32_t, uint32_t>> ids; // (band, id): an id is looked at once a forward
    for (uint32_t i = 0; i < verb.reads; i++) {
      const int32_t *entry = verb.read_entries + 2ull * i;
      for (int32_t cell = 0; cell < entry[1]; cell++) {
        const auto id =
            static_cast<uint32_t>(rows_[static_cast<size_t>(entry[0]) * config_.row_pages + static_cast<size_t>(cell)]);
        for (uint32_t band = 0; band < bands_.size(); band++) {
          if (!is_state(bands_[band]) && id != 0 && id < bands_[band].ids) ids.insert({band, id});
        }
      }
    }
    for (uint32_t i = 0; i < verb.states; i++)
      ids.insert(
          {static_cast<uint32_t>(verb.state_entries[2 * i]), static_cast<uint32_t>(verb.state_entries[2 * i + 1])});
    for (const auto &[band, id] : ids) {
      const auto page = static_cast<uint32_t>(v2p_[band][id]);
      for (uint32_t unit = 0; page != 0 && unit < bands_[band].units; unit++) {
        const uint32_t stamp = expected_[band][static_cast<size_t>(id) * bands_[band].units + unit];
        const uint64_t at = unit_at(band, page, unit);
        if (stamp != 0 && (word(at) != stamp || is_torn(band, at))) faults_.insert({1, band, id, page, unit, stamp});
      }
    }
  }

  ut_config config_;
  std::vector<ut_band> bands_;
  std::vector<uint8_t> arena_;
  std::vector<std::vector<int32_t>> v2p_;
  std::vector<std::vector<uint32_t>> expected_;
  std::vector<std::vector<uint8_t>> pools_;
  std::vector<int32_t> rows_;
  std::vector<int32_t> counters_;
  std::set<FaultKey> faults_;
};

} // namespace ut::test
