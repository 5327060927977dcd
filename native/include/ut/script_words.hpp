// The single words of a script: what a page, an id, a row or a handle may be in one geometry. Base of ScriptChecker (script.hpp).
// C++17, header only, no exceptions.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "ut/backend.h"
#include "ut/config.hpp"

namespace ut {

constexpr uint32_t handle_limit = 65536;
constexpr int32_t delay_max_us = 10000000;

// What a handle stands for.
enum class HandleKind : uint8_t { none, forward, recorded_forward, host_copy, transfer };

class WordChecker {
public:
  WordChecker() = default;
  WordChecker(const WordChecker &) = delete;
  WordChecker &operator=(const WordChecker &) = delete;
  ~WordChecker() {
    free(marks_);
    free(handles_);
  }

  // Takes a geometry that check_config accepted. Once an object. False: no memory for it.
  bool prepare(const ut_config &config) {
    rows_ = config.rows;
    row_pages_ = config.row_pages;
    band_count_ = config.band_count;
    uint64_t marked = 1;
    for (uint32_t i = 0; i < band_count_; i++) {
      const ut_band &band = bands_[i] = config.bands[i];
      if (band.pages > marked) marked = band.pages;
      if (band.ids > marked) marked = band.ids;
      if (!is_state(band) && band.ids > row_ids_) row_ids_ = band.ids;
    }
    if (row_ids_ == 0) row_ids_ = count_limit; // no band reads the rows
    marks_ = static_cast<uint64_t *>(calloc(marked / 64 + 1, sizeof(uint64_t)));
    handles_ = static_cast<Handles *>(calloc(1, sizeof(Handles)));
    return marks_ != nullptr && handles_ != nullptr;
  }

  // Why the last check failed: one line.
  const char *reason() const { return reason_.text; }

  // After the scripts that were accepted. `handle` of any value.
  HandleKind kind_of(uint32_t handle) const {
    return handle < handle_limit ? handles_->kinds[handle] : HandleKind::none;
  }

  const ut_band &band(uint32_t index) const { return bands_[index]; }

protected:
  // --- words ---

  bool named(const char *name) {
    name_ = name;
    return true;
  }

  bool has_length(const int32_t *v, uint32_t size, uint64_t wanted) {
    if (size == wanted) return true;
    return fail(v + 1, "a length of %u, its arguments make %llu", size, static_cast<unsigned long long>(wanted));
  }

  // `head` words and then as many entries of `stride` words as word `counter` says.
  bool has_entries(const int32_t *v, uint32_t size, uint32_t head, uint32_t counter, uint64_t stride) {
    if (size < head) return fail(v + 1, "%u words are too few", size);
    if (v[counter] < 0) return fail(v + counter, "a count of %d", v[counter]);
    const uint64_t entries = static_cast<uint32_t>(v[counter]);
    if (entries > size) return fail(v + counter, "%d entries in %u words", v[counter], size); // and no overflow below
    return has_length(v, size, head + entries * stride);
  }

  bool is_band(const int32_t *w) {
    return static_cast<uint32_t>(*w) < band_count_ || fail(w, "band %d is outside 0..%u", *w, band_count_ - 1);
  }
  const ut_band &band_at(const int32_t *w) const { return bands_[*w]; } // after is_band

  bool is_page(const ut_band &band, const int32_t *w) {
    if (*w >= 0 && static_cast<uint32_t>(*w) - band.first_page < band.pages - band.first_page) return true;
    return fail(w, "page %d is outside %u..%lld", *w, band.first_page, static_cast<long long>(band.pages) - 1);
  }

  bool is_id(const ut_band &band, const int32_t *w) {
    if (*w > 0 && static_cast<uint32_t>(*w) < band.ids) return true;
    return fail(w, "id %d is outside 1..%lld", *w, static_cast<long long>(band.ids) - 1);
  }

  bool is_row(const int32_t *w) {
    return (*w > 0 && static_cast<uint32_t>(*w) <= rows_) || fail(w, "row %d is outside 1..%u", *w, rows_);
  }

  bool are_units(const ut_band &band, const int32_t *w) {
    if (w[0] >= 0 && w[0] <= w[1] && static_cast<uint32_t>(w[1]) <= band.units) return true;
    return fail(w, "units %d to %d of a page that has %u", w[0], w[1], band.units);
  }

  bool is_flag(const int32_t *w) { return *w == 0 || *w == 1 || fail(w, "%d where 0 or 1 stands", *w); }

  bool is_delay(const int32_t *w) {
    return (*w >= 0 && *w <= delay_max_us) || fail(w, "a delay of %d us is outside 0..%d", *w, delay_max_us);
  }

  // One bit a number: set on the way there, cleared on the way back. The numbers were checked before.
  bool are_distinct(const int32_t *from, const int32_t *to, uint32_t stride, const char *what) {
    const int32_t *w = from;
    for (; w < to; w += stride) {
      uint64_t &cell = marks_[*w >> 6];
      const uint64_t bit = uint64_t{1} << (*w & 63);
      if ((cell & bit) != 0) break;
      cell |= bit;
    }
    for (const int32_t *back = from; back < w; back += stride) {
      marks_[*back >> 6] &= ~(uint64_t{1} << (*back & 63));
    }
    return w >= to || fail(w, "%s %d is named twice", what, *w);
  }

  // --- handles ---

  bool is_handle(const int32_t *w) {
    return (*w > 0 && static_cast<uint32_t>(*w) < handle_limit) ||
           fail(w, "handle %d is outside 1..%u", *w, handle_limit - 1);
  }
  bool is_fresh(const int32_t *w) {
    if (!is_handle(w)) return false;
    return handles_->kinds[*w] == HandleKind::none || fail(w, "handle %d is in use", *w);
  }
  bool is_known(const int32_t *w) {
    if (!is_handle(w)) return false;
    return handles_->kinds[*w] != HandleKind::none || fail(w, "handle %d is unknown", *w);
  }
  bool is_forward(const int32_t *w) {
    if (!is_known(w)) return false;
    const HandleKind kind = handles_->kinds[*w];
    return kind == HandleKind::forward || kind == HandleKind::recorded_forward ||
           fail(w, "handle %d is no forward's", *w);
  }

  // Always true. What the handle was is kept until the whole script was checked.
  bool use_handle(int32_t handle, HandleKind kind) {
    if (!handles_->is_changed[handle]) {
      handles_->is_changed[handle] = true;
      handles_->before[handle] = handles_->kinds[handle];
      handles_->changed[handles_->changed_count++] = static_cast<uint16_t>(handle);
    }
    handles_->kinds[handle] = kind;
    return true;
  }

  void settle_handles(bool is_kept) {
    for (uint32_t i = 0; i < handles_->changed_count; i++) {
      const uint16_t handle = handles_->changed[i];
      handles_->is_changed[handle] = false;
      if (!is_kept) handles_->kinds[handle] = handles_->before[handle];
    }
    handles_->changed_count = 0;
  }

#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  bool fail(const int32_t *word, const char *format, ...) {
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return reason_.fail("verb %llu%s%s, word %llu: %s", static_cast<unsigned long long>(number_),
                        name_[0] == '\0' ? "" : " ", name_, static_cast<unsigned long long>(word - words_), what);
  }

  // Starts a check.
  void begin(const int32_t *words) {
    words_ = words;
    number_ = 0;
    name_ = "";
    reason_.text[0] = '\0';
  }

  ut_band bands_[bands_max] = {};
  uint32_t band_count_ = 0;
  uint32_t rows_ = 0;
  uint32_t row_pages_ = 0;
  uint32_t row_ids_ = 0;           // ids in row cells are below it
  const int32_t *words_ = nullptr; // of the script under check
  uint64_t number_ = 0;            // of the verb under check, from 1
  const char *name_ = "";

private:
  struct Handles {
    HandleKind kinds[handle_limit];
    HandleKind before[handle_limit]; // of those changed by the script under check
    bool is_changed[handle_limit];
    uint16_t changed[handle_limit];
    uint32_t changed_count;
  };

  uint64_t *marks_ = nullptr; // all clear between checks
  Handles *handles_ = nullptr;
  Reason reason_;
};

} // namespace ut
