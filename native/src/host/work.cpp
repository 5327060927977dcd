#include "work.hpp"

#include <chrono>
#include <thread>

#include "pages.hpp"
#include "relaxed.hpp"
#include "ut/payload.h"

namespace ut::host {
namespace {

constexpr std::uint32_t forward_read = 1, send_read = 2, forward_unbound = 3; // kinds of ut_fault

std::uint32_t word(std::int32_t value) noexcept { return static_cast<std::uint32_t>(value); }

// Where the expectations of an id start.
std::uint32_t *expected_of(const BandStore &band, std::uint32_t id) noexcept {
  return band.expected.get() + std::uint64_t{id} * band.band.units;
}

// (from, to, position, writer) of a write into one page.
void write_range(const Store &store_of, const BandStore &band, std::uint32_t page, const std::int32_t *range) noexcept {
  for (std::uint32_t unit = word(range[0]); unit < word(range[1]); unit++) {
    write_unit(store_of, band, page, unit, ut_stamp_of(word(range[3]), word(range[2]) + unit));
  }
}

} // namespace

void sleep_us(std::uint32_t delay_us) {
  if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
}

// --- SCHEDULE ---

void ScheduleWork::operator()(const ZeroVerb &verb) {
  const BandStore &band = store_.bands[verb.band];
  for (std::uint32_t i = 0; i < verb.count; i++) {
    zero_words(store_.page(band, word(verb.pages[i])), band.page_words);
  }
}

// No page is named twice in a move that is not ordered, so one after the other is all at once.
void ScheduleWork::operator()(const MoveVerb &verb) {
  const BandStore &band = store_.bands[verb.band];
  for (std::uint64_t i = 0; i < verb.count; i++) {
    const std::uint32_t *const from = store_.page(band, word(verb.pairs[2 * i]));
    copy_words(store_.page(band, word(verb.pairs[2 * i + 1])), from, band.page_words);
  }
}

void ScheduleWork::operator()(const BindVerb &verb) {
  const BandStore &band = store_.bands[verb.band];
  for (std::uint64_t i = 0; i < verb.count; i++) {
    const std::uint32_t id = word(verb.pairs[2 * i]);
    store(band.v2p[id], verb.pairs[2 * i + 1]);
    if (verb.is_fresh && store_.checks_reads) zero_words(expected_of(band, id), band.band.units);
  }
}

void ScheduleWork::operator()(const RowVerb &verb) {
  std::int32_t *const cells = store_.row(verb.row) + verb.first;
  for (std::uint32_t i = 0; i < verb.count; i++) store(cells[i], verb.ids[i]);
}

void ScheduleWork::operator()(const ExpectVerb &verb) {
  if (!store_.checks_reads) return; // nobody asks
  const BandStore &band = store_.bands[verb.band];
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += std::uint64_t{band.band.units} + 1) {
    std::uint32_t *const expected = expected_of(band, word(entry[0]));
    for (std::uint32_t unit = 0; unit < band.band.units; unit++) store(expected[unit], word(entry[1 + unit]));
  }
}

void ScheduleWork::operator()(const StampVerb &verb) {
  const BandStore &band = store_.bands[verb.band];
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += 3) {
    write_unit(store_, band, word(entry[0]), word(entry[1]), word(entry[2]));
  }
}

// --- FORWARD ---

void ForwardWork::operator()(const ResetVerb &verb) {
  for (std::uint32_t i = 0; i < verb.count; i++) store(store_.forwards[word(verb.rows[i])], std::uint32_t{0});
}

void ForwardWork::operator()(const ForwardVerb &verb) {
  reads_.clear();
  expected_.clear();
  places_.clear();
  if (store_.checks_reads) read_metadata(verb);
  place_writes(verb);
  if (metadata_done) metadata_done();
  sleep_us(verb.delay_us);
  check_reads(verb);
  write_units(verb);
  for (std::uint64_t i = 0; i < verb.reads; i++) {
    std::uint32_t &counter = store_.forwards[word(verb.read_entries[2 * i])];
    store(counter, load(counter) + 1); // this stream alone writes it
  }
}

// Without checks nothing is done with what a forward reads, so nothing is read.
void ForwardWork::read_metadata(const ForwardVerb &verb) {
  for (std::uint64_t i = 0; i < verb.reads; i++) {
    const std::int32_t *const cells = store_.row(word(verb.read_entries[2 * i]));
    const std::uint32_t pages = word(verb.read_entries[2 * i + 1]);
    for (std::uint32_t cell = 0; cell < pages; cell++) {
      const std::uint32_t id = word(load(cells[cell]));
      for (std::uint32_t band = 0; band < store_.bands.size(); band++) {
        if (!is_state(store_.bands[band].band)) read_id(band, id);
      }
    }
  }
  for (std::uint64_t i = 0; i < verb.states; i++) {
    read_id(word(verb.state_entries[2 * i]), word(verb.state_entries[2 * i + 1]));
  }
}

void ForwardWork::read_id(std::uint32_t index, std::uint32_t id) {
  const BandStore &band = store_.bands[index];
  if (id == 0 || id >= band.band.ids) return;
  const std::uint32_t page = word(load(band.v2p[id]));
  if (page == 0) return;
  reads_.push_back({index, id, page, expected_.size()});
  const std::uint32_t *const expected = expected_of(band, id);
  for (std::uint32_t unit = 0; unit < band.band.units; unit++) expected_.push_back(load(expected[unit]));
}

void ForwardWork::place_writes(const ForwardVerb &verb) {
  const std::int32_t *entry = verb.write_entries;
  for (std::uint32_t i = 0; i < verb.writes; i++, entry += forward_write_words) {
    const BandStore &band = store_.bands[word(entry[0])];
    const std::uint32_t id = word(entry[1]);
    const std::uint32_t from = word(entry[2]), to = word(entry[3]), position = word(entry[4]), writer = word(entry[5]);
    const std::uint32_t page = word(load(band.v2p[id]));
    places_.push_back(page);
    if (page == 0 && from < to) {
      const std::uint32_t stamp = ut_stamp_of(writer, position + from);
      faults_.add({forward_unbound, verb.handle, word(entry[0]), id, 0, from, stamp, 0});
    }
    if (!store_.checks_reads) continue;
    std::uint32_t *const expected = expected_of(band, id);
    for (std::uint32_t unit = from; unit < to; unit++) store(expected[unit], ut_stamp_of(writer, position + unit));
  }
}

void ForwardWork::check_reads(const ForwardVerb &verb) {
  for (const ReadPage &read : reads_) {
    const BandStore &band = store_.bands[read.band];
    for (std::uint32_t unit = 0; unit < band.band.units; unit++) {
      const std::uint32_t expected = expected_[read.first_expected + unit];
      if (expected == 0) continue;
      bool is_torn = false;
      const std::uint32_t found = read_unit(store_, band, read.page, unit, is_torn);
      if (found == expected && !is_torn) continue;
      faults_.add({forward_read, verb.handle, read.band, read.id, read.page, unit, expected, found});
    }
  }
}

void ForwardWork::write_units(const ForwardVerb &verb) {
  const std::int32_t *entry = verb.write_entries;
  for (std::uint32_t i = 0; i < verb.writes; i++, entry += forward_write_words) {
    if (places_[i] != 0) write_range(store_, store_.bands[word(entry[0])], places_[i], entry + 2);
  }
}

// --- OUT, IN, engine ---

void CopyWork::operator()(const HostCopyVerb &verb) {
  sleep_us(verb.delay_us);
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += 3) {
    const BandStore &band = store_.bands[word(entry[0])];
    std::uint32_t *const page = store_.page(band, word(entry[1]));
    std::uint32_t *const host = band.host.get() + word(entry[2]) * band.page_words;
    if (verb.is_load) copy_words(page, host, band.page_words);
    else copy_words(host, page, band.page_words);
  }
}

void CopyWork::operator()(const FillVerb &verb) {
  sleep_us(verb.delay_us);
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += receive_words) {
    write_range(store_, store_.bands[word(entry[0])], word(entry[1]), entry + 2);
  }
}

void TransferWork::operator()(const SendVerb &verb) {
  if (!store_.checks_reads) return;
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += std::uint64_t{send_head_words} + verb.mask_words) {
    const std::uint32_t band = word(entry[0]), page = word(entry[1]), expected = word(entry[2]);
    // int32 and uint32 words may be read as each other
    const auto *const mask = reinterpret_cast<const std::uint32_t *>(entry + send_head_words);
    const std::uint32_t found = hash_page(store_, store_.bands[band], page, mask).a;
    if (found != expected) faults_.add({send_read, verb.handle, band, 0, page, 0, expected, found});
  }
}

void TransferWork::operator()(const ReceiveVerb &verb) {
  const std::int32_t *entry = verb.entries;
  for (std::uint32_t i = 0; i < verb.count; i++, entry += receive_words) {
    write_range(store_, store_.bands[word(entry[0])], word(entry[1]), entry + 2);
  }
}

} // namespace ut::host
