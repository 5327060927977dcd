// Random scripts that are valid by construction, for the geometry of machine.hpp; knows no more of a device than the handles in use.
#pragma once
#include <numeric>
#include <random>

#include "machine.hpp"

namespace test {

class ScriptMaker {
public:
  explicit ScriptMaker(std::uint32_t seed) : random_(seed) {}

  Words make(std::uint32_t verbs) {
    Words words;
    for (std::uint32_t i = 0; i < verbs; i++) {
      const Words one = make_verb();
      words.insert(words.end(), one.begin(), one.end());
    }
    return words;
  }

  // In [from, to].
  std::int32_t pick(std::int32_t from, std::int32_t to) {
    return from + static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(to - from + 1));
  }
  std::int32_t any() { return static_cast<std::int32_t>(random_()); }

private:
  struct Used {
    std::int32_t handle;
    bool is_forward, is_recorded, is_transfer;
  };

  Words make_verb() {
    switch (pick(1, 20)) {
    case UT_ZERO: return zero();
    case UT_MOVE: return move();
    case UT_BIND: return bind();
    case UT_ROW: return row();
    case UT_EXPECT: return expect();
    case UT_STAMP: return stamp();
    case UT_RESET: return verb(UT_RESET, {2, pick(1, 4), pick(1, 4)});
    case UT_FORWARD: return forward();
    case UT_HOSTCOPY: return host_copy();
    case UT_SEND: return send();
    case UT_RECEIVE: return write_pages(UT_RECEIVE, true);
    case UT_FILL: return write_pages(UT_FILL, false);
    case UT_DELAY: return verb(UT_DELAY, {pick(0, 3), pick(0, 50)});
    case UT_SYNCHRONIZE: return verb(UT_SYNCHRONIZE);
    case UT_HOSTREAD: return verb(UT_HOSTREAD);
    default: return with_handle();
    }
  }

  std::int32_t band() { return pick(0, static_cast<std::int32_t>(band_count) - 1); }
  std::int32_t page(std::int32_t of) {
    return pick(static_cast<std::int32_t>(bands[of].first_page), static_cast<std::int32_t>(bands[of].pages) - 1);
  }
  std::int32_t id(std::int32_t of) { return pick(1, static_cast<std::int32_t>(bands[of].ids) - 1); }
  // `count` different numbers of [from, to], shuffled.
  Words different(std::int32_t from, std::int32_t to, std::int32_t count) {
    Words all(static_cast<std::size_t>(to - from + 1));
    std::iota(all.begin(), all.end(), from);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
    return all;
  }
  static Words join(Words head, const Words &tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  }
  void add_range(Words &words, std::int32_t of) {
    const std::int32_t from = pick(0, static_cast<std::int32_t>(bands[of].units));
    const std::int32_t to = pick(from, static_cast<std::int32_t>(bands[of].units));
    for (const std::int32_t word : {from, to, pick(0, 1000), any()}) words.push_back(word);
  }

  Words zero() {
    const std::int32_t of = band(), count = pick(0, 3);
    Words words{of, count};
    for (std::int32_t i = 0; i < count; i++) words.push_back(page(of));
    return verb(UT_ZERO, words);
  }
  Words move() {
    const std::int32_t of = band(), count = pick(0, 4), is_ordered = pick(0, 1);
    Words pages;
    if (is_ordered == 0) {
      pages = different(static_cast<std::int32_t>(bands[of].first_page), static_cast<std::int32_t>(bands[of].pages) - 1,
                        2 * count);
    } else {
      for (std::int32_t i = 0; i < 2 * count; i++) pages.push_back(page(of));
    }
    return verb(UT_MOVE, join({of, is_ordered, count}, pages));
  }
  Words bind() {
    const std::int32_t of = band();
    const Words ids = different(1, static_cast<std::int32_t>(bands[of].ids) - 1, pick(0, 5));
    Words words{of, pick(0, 1), static_cast<std::int32_t>(ids.size())};
    for (const std::int32_t one : ids) {
      words.push_back(one);
      words.push_back(pick(0, 3) == 0 ? 0 : page(of));
    }
    return verb(UT_BIND, words);
  }
  Words row() {
    const std::int32_t first = pick(0, 8), count = pick(0, 8 - first);
    Words words{pick(1, 4), first, count};
    for (std::int32_t i = 0; i < count; i++) words.push_back(pick(0, 19));
    return verb(UT_ROW, words);
  }
  Words expect() {
    const std::int32_t of = band();
    Words words{of, 1, id(of)};
    for (std::uint32_t i = 0; i < bands[of].units; i++) words.push_back(any());
    return verb(UT_EXPECT, words);
  }
  Words stamp() {
    const std::int32_t of = band();
    return verb(UT_STAMP, {of, 1, page(of), pick(0, static_cast<std::int32_t>(bands[of].units) - 1), any()});
  }
  Words forward() {
    const std::int32_t reads = pick(0, 3), states = pick(0, 2), writes = pick(0, 3);
    Words words{take_handle({0, true, false, false}), pick(0, 50), reads, states, writes};
    for (std::int32_t i = 0; i < reads; i++) words = join(words, {pick(1, 4), pick(0, 8)});
    for (std::int32_t i = 0; i < states; i++) words = join(words, {2, id(2)});
    for (std::int32_t i = 0; i < writes; i++) {
      const std::int32_t of = band();
      words = join(words, {of, id(of)});
      add_range(words, of);
    }
    return verb(UT_FORWARD, words);
  }
  Words host_copy() {
    const std::int32_t of = band();
    return verb(UT_HOSTCOPY, {take_handle({0, false, false, false}), pick(0, 1), pick(0, 50), 1, of, page(of),
                              pick(0, static_cast<std::int32_t>(bands[of].host_pages) - 1)});
  }
  Words send() {
    const std::int32_t of = band();
    return verb(UT_SEND, {take_handle({0, false, false, true}), pick(0, 50), 1, 1, of, page(of), any(), any()});
  }
  Words write_pages(std::int32_t which, bool is_transfer) {
    const std::int32_t of = band();
    Words words{take_handle({0, false, false, is_transfer}), pick(0, 50), 1, of, page(of)};
    add_range(words, of);
    return verb(which, words);
  }

  std::int32_t take_handle(Used used) {
    used.handle = ++last_handle_;
    used_.push_back(used);
    return used.handle;
  }
  // A verb that speaks of a handle, where one of its kind is in use.
  Words with_handle() {
    if (used_.empty()) return verb(UT_HOSTREAD);
    const auto index = static_cast<std::size_t>(pick(0, static_cast<std::int32_t>(used_.size()) - 1));
    Used &used = used_[index];
    const std::int32_t handle = used.handle;
    if (used.is_forward && pick(0, 2) == 0) {
      used.is_recorded = true;
      return verb(UT_RECORD, {handle});
    }
    if (used.is_forward && pick(0, 1) == 0) return verb(UT_BARRIER, {handle});
    if (!used.is_transfer && (!used.is_forward || used.is_recorded) && pick(0, 1) == 0) return verb(UT_WAIT, {handle});
    if (pick(0, 1) == 0) return verb(UT_HOSTWAIT, {handle});
    used_.erase(used_.begin() + static_cast<std::ptrdiff_t>(index));
    return verb(UT_FORGET, {handle});
  }

  std::mt19937 random_;
  std::vector<Used> used_;
  std::int32_t last_handle_ = 0;
};

} // namespace test
