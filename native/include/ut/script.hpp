// Checks a whole script before any of it runs: lengths, bands, pages, ids, units, rows, cells, streams and handles. A refused
// script leaves no trace in the checker. Shared by all backends. C++17, header only, no exceptions; memory is taken in
// `prepare` alone, so a check allocates nothing.
#pragma once
#include <stdint.h>

#include "ut/backend.h"
#include "ut/script_words.hpp"
#include "ut/verbs.hpp"

namespace ut {

class ScriptChecker : public WordChecker {
public:
  // Whether all of it may run now. True: the handles count as used; the caller runs the script. False: nothing changed.
  bool check(const int32_t *words, uint64_t count) {
    begin(words);
    const bool holds = check_verbs(count);
    settle_handles(holds);
    return holds;
  }

private:
  // --- verbs ---

  bool check_verbs(uint64_t count) {
    for (uint64_t at = 0; at < count;) {
      number_++;
      const int32_t *v = words_ + at;
      name_ = "";
      if (count - at < 2) return fail(v, "a verb has at least two words");
      if (v[1] < 2 || static_cast<uint64_t>(v[1]) > count - at) {
        return fail(v + 1, "a length of %d where %llu words are left", v[1],
                    static_cast<unsigned long long>(count - at));
      }
      if (!check_verb(v, static_cast<uint32_t>(v[1]))) return false;
      at += static_cast<uint32_t>(v[1]);
    }
    return true;
  }

  bool check_verb(const int32_t *v, uint32_t size) {
    switch (v[0]) {
    case UT_ZERO: return named("ZERO") && check_zero(v, size);
    case UT_MOVE: return named("MOVE") && check_move(v, size);
    case UT_BIND: return named("BIND") && check_bind(v, size);
    case UT_ROW: return named("ROW") && check_row(v, size);
    case UT_EXPECT: return named("EXPECT") && check_expect(v, size);
    case UT_STAMP: return named("STAMP") && check_stamp(v, size);
    case UT_RESET: return named("RESET") && check_reset(v, size);
    case UT_FORWARD: return named("FORWARD") && check_forward(v, size);
    case UT_RECORD: return named("RECORD") && check_record(v, size);
    case UT_WAIT: return named("WAIT") && check_wait(v, size);
    case UT_BARRIER: return named("BARRIER") && check_barrier(v, size);
    case UT_HOSTCOPY: return named("HOSTCOPY") && check_host_copy(v, size);
    case UT_SEND: return named("SEND") && check_send(v, size);
    case UT_RECEIVE: return named("RECEIVE") && check_writes(v, size, HandleKind::transfer);
    case UT_FILL: return named("FILL") && check_writes(v, size, HandleKind::host_copy);
    case UT_HOSTWAIT: return named("HOSTWAIT") && has_length(v, size, 3) && is_known(v + 2);
    case UT_HOSTREAD: return named("HOSTREAD") && has_length(v, size, 2);
    case UT_FORGET: return named("FORGET") && check_forget(v, size);
    case UT_DELAY: return named("DELAY") && check_delay(v, size);
    case UT_SYNCHRONIZE: return named("SYNCHRONIZE") && has_length(v, size, 2);
    default: return fail(v, "there is no verb %d", v[0]);
    }
  }

  bool check_zero(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 4, 3, 1) || !is_band(v + 2)) return false;
    const ut_band &band = band_at(v + 2);
    for (const int32_t *w = v + 4; w < v + size; w++) {
      if (!is_page(band, w)) return false;
    }
    return true;
  }

  bool check_move(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 5, 4, 2) || !is_band(v + 2) || !is_flag(v + 3)) return false;
    const ut_band &band = band_at(v + 2);
    for (const int32_t *w = v + 5; w < v + size; w++) {
      if (!is_page(band, w)) return false;
    }
    return v[3] != 0 || are_distinct(v + 5, v + size, 1, "page");
  }

  bool check_bind(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 5, 4, 2) || !is_band(v + 2) || !is_flag(v + 3)) return false;
    const ut_band &band = band_at(v + 2);
    for (const int32_t *w = v + 5; w < v + size; w += 2) {
      if (!is_id(band, w)) return false;
      if (w[1] != 0 && !is_page(band, w + 1)) return false;
    }
    return are_distinct(v + 5, v + size, 2, "id");
  }

  bool check_row(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 5, 4, 1) || !is_row(v + 2)) return false;
    const uint64_t first = static_cast<uint32_t>(v[3]);
    if (v[3] < 0 || first + static_cast<uint32_t>(v[4]) > row_pages_) {
      return fail(v + 3, "cells %d .. of a row, %d of them: a row has %u", v[3], v[4], row_pages_);
    }
    for (const int32_t *w = v + 5; w < v + size; w++) {
      if (static_cast<uint32_t>(*w) >= row_ids_) return fail(w, "id %d of a row is outside 0..%u", *w, row_ids_ - 1);
    }
    return true;
  }

  bool check_expect(const int32_t *v, uint32_t size) {
    if (size < 4) return fail(v + 1, "%u words are too few", size);
    if (!is_band(v + 2)) return false;
    const ut_band &band = band_at(v + 2);
    const uint64_t stride = static_cast<uint64_t>(band.units) + 1;
    if (!has_entries(v, size, 4, 3, stride)) return false;
    for (const int32_t *w = v + 4; w < v + size; w += stride) {
      if (!is_id(band, w)) return false;
    }
    return true;
  }

  bool check_stamp(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 4, 3, 3) || !is_band(v + 2)) return false;
    const ut_band &band = band_at(v + 2);
    for (const int32_t *w = v + 4; w < v + size; w += 3) {
      if (!is_page(band, w)) return false;
      if (static_cast<uint32_t>(w[1]) >= band.units) {
        return fail(w + 1, "unit %d is outside 0..%u", w[1], band.units - 1);
      }
    }
    return true;
  }

  bool check_reset(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 3, 2, 1)) return false;
    for (const int32_t *w = v + 3; w < v + size; w++) {
      if (!is_row(w)) return false;
    }
    return true;
  }

  bool check_forward(const int32_t *v, uint32_t size) {
    if (size < 7) return fail(v + 1, "%u words are too few", size);
    for (uint32_t i = 4; i <= 6; i++) {
      if (v[i] < 0) return fail(v + i, "a count of %d", v[i]);
    }
    const uint64_t words = 7 + 2 * (static_cast<uint64_t>(static_cast<uint32_t>(v[4])) + static_cast<uint32_t>(v[5])) +
                           forward_write_words * static_cast<uint64_t>(static_cast<uint32_t>(v[6]));
    if (!has_length(v, size, words) || !is_fresh(v + 2) || !is_delay(v + 3)) return false;
    const int32_t *w = v + 7;
    for (int32_t i = 0; i < v[4]; i++, w += 2) {
      if (!is_row(w)) return false;
      if (static_cast<uint32_t>(w[1]) > row_pages_) {
        return fail(w + 1, "%d cells are read of a row that has %u", w[1], row_pages_);
      }
    }
    for (int32_t i = 0; i < v[5]; i++, w += 2) {
      if (!is_band(w) || !is_id(band_at(w), w + 1)) return false;
      if (!is_state(band_at(w))) return fail(w, "band %d holds no states", w[0]);
    }
    for (; w < v + size; w += forward_write_words) {
      if (!is_band(w) || !is_id(band_at(w), w + 1) || !are_units(band_at(w), w + 2)) return false;
    }
    return use_handle(v[2], HandleKind::forward);
  }

  bool check_record(const int32_t *v, uint32_t size) {
    return has_length(v, size, 3) && is_forward(v + 2) && use_handle(v[2], HandleKind::recorded_forward);
  }

  bool check_wait(const int32_t *v, uint32_t size) {
    if (!has_length(v, size, 3) || !is_known(v + 2)) return false;
    const HandleKind kind = kind_of(static_cast<uint32_t>(v[2]));
    if (kind == HandleKind::forward) return fail(v + 2, "forward %d was never recorded", v[2]);
    if (kind == HandleKind::transfer) return fail(v + 2, "no stream waits for a transfer, as %d is", v[2]);
    return true;
  }

  bool check_barrier(const int32_t *v, uint32_t size) { return has_length(v, size, 3) && is_forward(v + 2); }

  bool check_host_copy(const int32_t *v, uint32_t size) {
    if (!has_entries(v, size, 6, 5, 3) || !is_fresh(v + 2) || !is_flag(v + 3) || !is_delay(v + 4)) return false;
    for (const int32_t *w = v + 6; w < v + size; w += 3) {
      if (!is_band(w) || !is_page(band_at(w), w + 1)) return false;
      if (static_cast<uint32_t>(w[2]) >= band_at(w).host_pages) {
        return fail(w + 2, "host page %d is not below %u", w[2], band_at(w).host_pages);
      }
    }
    return use_handle(v[2], HandleKind::host_copy);
  }

  bool check_send(const int32_t *v, uint32_t size) {
    if (size < 6) return fail(v + 1, "%u words are too few", size);
    if (v[4] < 0) return fail(v + 4, "a mask of %d words", v[4]);
    const uint64_t stride = static_cast<uint64_t>(static_cast<uint32_t>(v[4])) + send_head_words;
    if (!has_entries(v, size, 6, 5, stride) || !is_fresh(v + 2) || !is_delay(v + 3)) return false;
    for (const int32_t *w = v + 6; w < v + size; w += stride) {
      if (!is_band(w) || !is_page(band_at(w), w + 1)) return false;
      if (mask_words(band_at(w)) > static_cast<uint32_t>(v[4])) {
        return fail(v + 4, "a mask of %d words is too short for band %d", v[4], w[0]);
      }
    }
    return use_handle(v[2], HandleKind::transfer);
  }

  // RECEIVE and FILL: units of pages.
  bool check_writes(const int32_t *v, uint32_t size, HandleKind kind) {
    if (!has_entries(v, size, 5, 4, receive_words) || !is_fresh(v + 2) || !is_delay(v + 3)) return false;
    for (const int32_t *w = v + 5; w < v + size; w += receive_words) {
      if (!is_band(w) || !is_page(band_at(w), w + 1) || !are_units(band_at(w), w + 2)) return false;
    }
    return use_handle(v[2], kind);
  }

  bool check_forget(const int32_t *v, uint32_t size) {
    return has_length(v, size, 3) && is_known(v + 2) && use_handle(v[2], HandleKind::none);
  }

  bool check_delay(const int32_t *v, uint32_t size) {
    if (!has_length(v, size, 4)) return false;
    if (static_cast<uint32_t>(v[2]) > UT_STREAM_IN) return fail(v + 2, "there is no stream %d", v[2]);
    return is_delay(v + 3);
  }
};

} // namespace ut
