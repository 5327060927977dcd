// Scripts drawn from a seed. Every wait that is needed stands in them, so a device must end like the oracle; what may
// overlap is left to overlap (after a barrier tables change while the payload phase still runs). Bands share one arena
// in which their grids overlap, so each keeps to bytes of its own: half-written units would make faults depend on which
// word is looked at.
#pragma once
#include <algorithm>
#include <numeric>

#include "rig.hpp"

namespace ut::test {

class RandomScripts {
public:
  RandomScripts(Rig &rig, uint64_t seed) : rig_(rig), chance_(seed) {
    const uint64_t share = rig.config().arena_bytes / rig.bands().size();
    for (uint32_t b = 0; b < rig.bands().size(); b++) {
      const ut_band &band = rig.bands()[b];
      const auto from = static_cast<uint32_t>((b * share + band.page_bytes - 1) / band.page_bytes);
      const auto to = static_cast<uint32_t>((b + 1) * share / band.page_bytes);
      pages_.emplace_back();
      for (uint32_t page = std::max(from, band.first_page); page < std::min(to, band.pages); page++)
        pages_.back().push_back(static_cast<int32_t>(page));
    }
  }

  Script next() {
    script_ = {};
    const uint32_t steps = chance_.from_to(1, 12);
    for (uint32_t i = 0; i < steps; i++) step();
    return std::move(script_);
  }
  Chance &chance() { return chance_; }

private:
  uint32_t band() { return chance_.below(static_cast<uint32_t>(rig_.bands().size())); }
  int32_t page(uint32_t band) { return pages_[band][chance_.below(static_cast<uint32_t>(pages_[band].size()))]; }
  int32_t id(uint32_t band) { return static_cast<int32_t>(chance_.from_to(1, rig_.bands()[band].ids - 1)); }
  int32_t row() { return static_cast<int32_t>(chance_.from_to(1, rig_.config().rows)); }
  int32_t signed_word() { return static_cast<int32_t>(chance_.word()); }
  int32_t delay() { return chance_.below(4) == 0 ? static_cast<int32_t>(chance_.below(300)) : 0; }
  int32_t fresh_handle() {
    handle_ = handle_ % 65535 + 1;
    return handle_;
  }
  // `count` different ones of a list.
  std::vector<int32_t> some_of(std::vector<int32_t> list, uint32_t count) {
    count = std::min(count, static_cast<uint32_t>(list.size()));
    for (uint32_t i = 0; i < count; i++)
      std::swap(list[i], list[chance_.from_to(i, static_cast<uint32_t>(list.size()) - 1)]);
    list.resize(count);
    return list;
  }
  std::vector<int32_t> some_ids(uint32_t band, uint32_t count) {
    std::vector<int32_t> ids(rig_.bands()[band].ids - 1);
    std::iota(ids.begin(), ids.end(), 1);
    return some_of(std::move(ids), count);
  }

  void step() {
    const uint32_t kind = chance_.below(20);
    if (kind < 3) return zero();
    if (kind < 5) return move();
    if (kind < 11) return tables();
    if (kind < 13) return stamp();
    if (kind < 16) return forward();
    if (kind < 18) return host_copy();
    if (kind == 18) return transfer();
    script_.verb(UT_DELAY, {static_cast<int32_t>(chance_.below(4)), delay()});
    if (chance_.below(2) == 0) script_.verb(chance_.below(2) == 0 ? UT_HOSTREAD : UT_SYNCHRONIZE, {});
  }

  void zero() {
    const uint32_t b = band();
    script_.list(UT_ZERO, {static_cast<int32_t>(b)}, some_of(pages_[b], chance_.below(12)), 1);
  }

  void move() {
    const uint32_t b = band();
    if (chance_.below(2) == 0) {
      std::vector<int32_t> pages = some_of(pages_[b], 2 * chance_.below(10));
      pages.resize(pages.size() / 2 * 2);
      return script_.list(UT_MOVE, {static_cast<int32_t>(b), 0}, pages, 2);
    }
    std::vector<int32_t> pairs; // any pages: chains, swaps through a third, a page onto itself
    for (uint32_t i = chance_.below(10); i > 0; i--) pairs.insert(pairs.end(), {page(b), page(b)});
    script_.list(UT_MOVE, {static_cast<int32_t>(b), 1}, pairs, 2);
  }

  void tables() {
    const uint32_t kind = chance_.below(3);
    const uint32_t b = band();
    const auto index = static_cast<int32_t>(b);
    const uint32_t units = rig_.bands()[b].units;
    std::vector<int32_t> entries;
    if (kind == 0) {
      for (const int32_t id : some_ids(b, chance_.below(20)))
        entries.insert(entries.end(), {id, chance_.below(8) == 0 ? 0 : page(b)});
      script_.list(UT_BIND, {index, static_cast<int32_t>(chance_.below(2))}, entries, 2);
    } else if (kind == 1) {
      const uint32_t first = chance_.below(rig_.config().row_pages);
      for (uint32_t i = chance_.from_to(0, rig_.config().row_pages - first); i > 0; i--)
        entries.push_back(chance_.below(5) == 0 ? 0 : id(0));
      script_.list(UT_ROW, {row(), static_cast<int32_t>(first)}, entries, 1);
    } else {
      // Mostly what the page holds now, so that most reads agree.
      for (const int32_t id : some_ids(b, chance_.below(4))) {
        const auto page = static_cast<uint32_t>(rig_.oracle().v2p(b)[static_cast<size_t>(id)]);
        entries.push_back(id);
        for (uint32_t unit = 0; unit < units; unit++) {
          const bool is_real = page != 0 && chance_.below(30) != 0;
          entries.push_back(is_real ? static_cast<int32_t>(rig_.oracle().word_at(b, page, unit)) : signed_word() % 3);
        }
      }
      script_.list(UT_EXPECT, {index}, entries, 1 + units);
    }
  }

  void stamp() {
    const uint32_t b = band();
    std::vector<int32_t> entries;
    for (const int32_t page : some_of(pages_[b], chance_.below(6))) {
      const auto unit = static_cast<int32_t>(chance_.below(rig_.bands()[b].units));
      entries.insert(entries.end(), {page, unit, chance_.below(6) == 0 ? -1 : signed_word()});
    }
    script_.list(UT_STAMP, {static_cast<int32_t>(b)}, entries, 3);
  }

  // Writes to pages that no other write of the forward has; ids may be unbound.
  std::vector<int32_t> writes() {
    std::vector<int32_t> entries;
    for (uint32_t b = 0; b < rig_.bands().size(); b++) {
      std::set<int32_t> taken;
      // What this very script binds is not known to the oracle yet: two ids may meet on one page. So none that it
      // binds.
      for (const int32_t id : some_ids(b, chance_.below(6))) {
        const int32_t page = rig_.oracle().v2p(b)[static_cast<size_t>(id)];
        if (page != 0 && !taken.insert(page).second) continue;
        const auto from = static_cast<int32_t>(chance_.below(rig_.bands()[b].units + 1));
        const auto to = static_cast<int32_t>(chance_.from_to(static_cast<uint32_t>(from), rig_.bands()[b].units));
        entries.insert(entries.end(), {static_cast<int32_t>(b), id, from, to, signed_word(), signed_word()});
      }
    }
    return entries;
  }

  void forward() {
    if (binds_in_script()) return;
    const int32_t handle = fresh_handle();
    if (chance_.below(5) == 0) script_.verb(UT_RESET, {1, row()});
    std::vector<int32_t> reads, states;
    for (uint32_t i = chance_.below(4); i > 0; i--)
      reads.insert(reads.end(), {row(), static_cast<int32_t>(chance_.from_to(0, rig_.config().row_pages))});
    for (uint32_t b = 0; b < rig_.bands().size(); b++) {
      if (!is_state(rig_.bands()[b])) continue;
      for (const int32_t id : some_ids(b, chance_.below(4))) states.insert(states.end(), {static_cast<int32_t>(b), id});
    }
    const std::vector<int32_t> written = writes();
    std::vector<int32_t> tail = reads;
    tail.insert(tail.end(), states.begin(), states.end());
    tail.insert(tail.end(), written.begin(), written.end());
    script_.verb(UT_FORWARD,
                 {handle, delay(), static_cast<int32_t>(reads.size() / 2), static_cast<int32_t>(states.size() / 2),
                  static_cast<int32_t>(written.size() / 6)},
                 tail);
    script_.verb(UT_RECORD, {handle});
    if (chance_.below(2) == 0) {
      script_.verb(UT_BARRIER, {handle});
      tables();
    }
    script_.verb(chance_.below(4) == 0 ? UT_HOSTWAIT : UT_WAIT, {handle});
    script_.verb(UT_FORGET, {handle});
  }
  bool binds_in_script() const {
    for (size_t at = 0; at < script_.words.size(); at += static_cast<size_t>(script_.words[at + 1])) {
      if (script_.words[at] == UT_BIND) return true;
    }
    return false;
  }

  // Units of different pages from some unit on to the last.
  std::vector<int32_t> unit_runs(uint32_t b) {
    std::vector<int32_t> entries;
    const uint32_t units = rig_.bands()[b].units;
    for (const int32_t page : some_of(pages_[b], chance_.below(4))) {
      const auto from = static_cast<int32_t>(chance_.below(units + 1));
      entries.insert(entries.end(),
                     {static_cast<int32_t>(b), page, from, static_cast<int32_t>(units), signed_word(), signed_word()});
    }
    return entries;
  }

  void fill() {
    const int32_t handle = fresh_handle();
    script_.list(UT_FILL, {handle, delay()}, unit_runs(band()), 6);
    script_.verb(UT_WAIT, {handle});
    script_.verb(UT_FORGET, {handle});
  }

  void host_copy() {
    if (chance_.below(4) == 0) return fill();
    const int32_t handle = fresh_handle();
    const auto direction = static_cast<int32_t>(chance_.below(2));
    std::vector<int32_t> entries;
    for (uint32_t b = 0; b < rig_.bands().size(); b++) {
      if (rig_.bands()[b].host_pages == 0) continue;
      std::vector<int32_t> hosts(rig_.bands()[b].host_pages);
      std::iota(hosts.begin(), hosts.end(), 0);
      const std::vector<int32_t> pages = some_of(pages_[b], chance_.below(5));
      hosts = some_of(std::move(hosts), static_cast<uint32_t>(pages.size()));
      for (size_t i = 0; i < hosts.size(); i++)
        entries.insert(entries.end(), {static_cast<int32_t>(b), pages[i], hosts[i]});
    }
    script_.list(UT_HOSTCOPY, {handle, direction, delay()}, entries, 3);
    // SCHEDULE waits, and through it every later copy and forward.
    script_.verb(UT_WAIT, {handle});
    script_.verb(UT_FORGET, {handle});
  }

  void transfer() {
    const int32_t handle = fresh_handle();
    const uint32_t b = band();
    const auto index = static_cast<int32_t>(b);
    const ut_band &shape = rig_.bands()[b];
    std::vector<int32_t> entries;
    script_.verb(UT_SYNCHRONIZE, {}); // the engine is behind no stream
    if (chance_.below(2) == 0) {
      script_.list(UT_RECEIVE, {handle, delay()}, unit_runs(b), 6);
    } else {
      const uint32_t words = mask_words(shape) + chance_.below(2);
      for (const int32_t page : some_of(pages_[b], chance_.below(4))) {
        entries.insert(entries.end(), {index, page, signed_word()});
        const size_t mask = entries.size();
        for (uint32_t i = 0; i < words; i++) entries.push_back(signed_word());
        const auto *bits = reinterpret_cast<const uint32_t *>(&entries[mask]);
        const bool is_first =
            script_.words.size() == 2; // else this script changed pages that the oracle has not seen change
        if (is_first && chance_.below(6) != 0)
          entries[mask - 1] = static_cast<int32_t>(rig_.oracle().hash(b, static_cast<uint32_t>(page), bits).a);
      }
      script_.list(UT_SEND, {handle, delay(), static_cast<int32_t>(words)}, entries, 3 + words);
    }
    script_.verb(UT_HOSTWAIT, {handle});
    script_.verb(UT_FORGET, {handle});
  }

  Rig &rig_;
  Chance chance_;
  std::vector<std::vector<int32_t>> pages_; // by band, those within its own bytes
  Script script_;
  int32_t handle_ = 0;
};

} // namespace ut::test
