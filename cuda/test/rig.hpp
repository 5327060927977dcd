// A device beside its oracle: scripts go to both, and everything that can be read must agree.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "ut/backend.h"

namespace ut::test {

inline int failures = 0;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
inline void failed(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fputs("FAILED: ", stdout);
  std::vprintf(format, arguments);
  std::fputc('\n', stdout);
  va_end(arguments);
  std::fflush(stdout);
  if (++failures >= 20) std::exit(1);
}

// A small fast generator; a seed gives the same scripts everywhere.
class Chance {
public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint32_t word() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ * 0x2545f4914f6cdd1dull) >> 32);
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>((static_cast<uint64_t>(word()) * limit) >> 32); }
  uint32_t from_to(uint32_t from, uint32_t to) { return from + below(to - from + 1); }

private:
  uint64_t state_;
};

struct Script {
  std::vector<int32_t> words;

  void verb(int32_t number, std::initializer_list<int32_t> head, const std::vector<int32_t> &tail = {}) {
    words.push_back(number);
    words.push_back(static_cast<int32_t>(2 + head.size() + tail.size()));
    words.insert(words.end(), head.begin(), head.end());
    words.insert(words.end(), tail.begin(), tail.end());
  }
  // Entries of `each` words; their number is the head's last word.
  void list(int32_t number, std::vector<int32_t> head, const std::vector<int32_t> &entries, size_t each) {
    head.push_back(static_cast<int32_t>(entries.size() / each));
    head.insert(head.end(), entries.begin(), entries.end());
    verb(number, {}, head);
  }
};

class Rig {
public:
  Rig(const ut_backend *backend, uint64_t arena_bytes, std::vector<ut_band> bands, uint32_t rows, uint32_t row_pages,
      uint32_t flags)
      : backend_(backend), bands_(std::move(bands)),
        config_{arena_bytes, bands_.data(), static_cast<uint32_t>(bands_.size()), rows, row_pages, flags, 0, 0},
        oracle_(config_, bands_) {
    const int32_t code = backend_->open(&config_, &device_);
    if (code == UT_OK) return;
    failed("open: %d %s", code, backend_->last_error());
    std::exit(1);
  }
  Rig(const Rig &) = delete;
  Rig &operator=(const Rig &) = delete;
  ~Rig() { backend_->close(device_); }

  const std::vector<ut_band> &bands() const { return bands_; }
  const ut_config &config() const { return config_; }
  ut_device *device() { return device_; }
  const ut_backend *backend() const { return backend_; }
  Oracle &oracle() { return oracle_; }

  // To the device alone: for scripts whose order is wrong on purpose.
  void submit(const Script &script) {
    const int32_t code = backend_->submit(device_, script.words.data(), script.words.size());
    if (code != UT_OK) failed("submit: %d %s", code, backend_->last_error());
  }
  void run(const Script &script) {
    submit(script);
    oracle_.run(script.words);
  }

  bool resize(uint64_t arena_bytes, std::vector<ut_band> bands, uint32_t rows, uint32_t row_pages, uint32_t flags) {
    const ut_config wanted{
        arena_bytes, bands.data(), static_cast<uint32_t>(bands.size()), rows, row_pages, flags, 0, 0};
    const int32_t code = backend_->resize(device_, &wanted);
    if (code != UT_OK) return false;
    bands_ = std::move(bands);
    config_ = wanted;
    config_.bands = bands_.data();
    oracle_ = Oracle(config_, bands_);
    return true;
  }

  std::vector<ut_fault> faults() {
    std::vector<ut_fault> held(4096);
    uint32_t count = 0;
    check(backend_->faults(device_, held.data(), 4096, &count), "faults");
    held.resize(std::min<uint32_t>(count, 4096));
    return held;
  }
  std::vector<uint8_t> bytes() {
    std::vector<uint8_t> out(config_.arena_bytes, 0xee);
    check(backend_->read_bytes(device_, 0, out.size(), out.data()), "read_bytes");
    return out;
  }
  std::vector<int32_t> table(uint32_t table, uint32_t index, uint32_t count) {
    std::vector<int32_t> out(count, -1);
    check(backend_->read_table(device_, table, index, count, out.data()), "read_table");
    return out;
  }
  Oracle::Hash hash(uint32_t band, int32_t page) {
    const std::vector<uint32_t> mask(mask_words(bands_[band]), 0xffffffffu);
    uint32_t out[3] = {};
    check(backend_->hash_pages(device_, band, 1, &page, mask.data(), out), "hash_pages");
    return {out[0], out[1], out[2]};
  }

  // Everything that can be read, against the oracle.
  void compare(const std::string &where) {
    compare_faults(where);
    const std::vector<uint8_t> found = bytes();
    for (uint64_t i = 0; i < found.size(); i++) {
      if (found[i] == oracle_.arena()[i]) continue;
      failed("%s: byte %llu of the arena is %02x, not %02x", where.c_str(), static_cast<unsigned long long>(i),
             found[i], oracle_.arena()[i]);
      break;
    }
    for (uint32_t band = 0; band < bands_.size(); band++) {
      if (table(0, band, bands_[band].ids) != oracle_.v2p(band)) failed("%s: v2p of band %u", where.c_str(), band);
    }
    for (uint32_t row = 1; row <= config_.rows; row++) {
      if (table(1, row, config_.row_pages) != oracle_.row(row)) failed("%s: row %u", where.c_str(), row);
    }
    if (table(2, 0, config_.rows + 1) != oracle_.counters()) failed("%s: counters of forwards", where.c_str());
  }

  // Hashes of all pages of a band under random masks.
  void compare_hashes(const std::string &where, uint32_t band, Chance &chance) {
    const ut_band &shape = bands_[band];
    std::vector<int32_t> pages;
    for (uint32_t page = shape.first_page; page < shape.pages; page++) pages.push_back(static_cast<int32_t>(page));
    const uint32_t words = mask_words(shape);
    std::vector<uint32_t> masks(pages.size() * words);
    for (uint32_t &mask : masks) mask = chance.below(3) == 0 ? 0xffffffffu : chance.word();
    std::vector<uint32_t> out(pages.size() * 3, 0xeeeeeeeeu);
    check(backend_->hash_pages(device_, band, static_cast<uint32_t>(pages.size()), pages.data(), masks.data(),
                               out.data()),
          "hash_pages");
    for (size_t i = 0; i < pages.size(); i++) {
      const Oracle::Hash wanted = oracle_.hash(band, static_cast<uint32_t>(pages[i]), &masks[i * words]);
      if (out[3 * i] == wanted.a && out[3 * i + 1] == wanted.b && out[3 * i + 2] == wanted.torn) continue;
      failed("%s: hash of page %d of band %u: %08x %08x %u, not %08x %08x %u", where.c_str(), pages[i], band,
             out[3 * i], out[3 * i + 1], out[3 * i + 2], wanted.a, wanted.b, wanted.torn);
      return;
    }
  }

  void check(int32_t code, const char *what) {
    if (code != UT_OK) failed("%s: %d %s", what, code, backend_->last_error());
  }

private:
  void compare_faults(const std::string &where) {
    std::set<FaultKey> found; // how often the same is told is a device's own matter
    for (const ut_fault &fault : faults()) {
      const bool names_unit = fault.kind == 1;
      found.insert({fault.kind, fault.band, fault.id, fault.page, names_unit ? fault.unit : 0,
                    fault.kind == 3 ? 0 : fault.expected});
    }
    const std::set<FaultKey> wanted = oracle_.take_faults();
    if (wanted.size() <= 4096 && found != wanted)
      failed("%s: %zu faults, not the %zu expected", where.c_str(), found.size(), wanted.size());
  }

  const ut_backend *backend_;
  std::vector<ut_band> bands_;
  ut_config config_;
  Oracle oracle_;
  ut_device *device_ = nullptr;
};

} // namespace ut::test
