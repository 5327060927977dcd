// A small heap allocator: the first gap that is large enough. Offsets count from 0; nothing is kept in the memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

class FirstFit {
 public:
  static constexpr std::int64_t grain_bytes = 16;  // sizes are rounded up to it, and every object begins on it

  explicit FirstFit(std::int64_t arena_bytes) { gaps_.emplace(0, arena_bytes / grain_bytes * grain_bytes); }

  // The offset of the first place that fits.
  std::optional<std::int64_t> allocate(std::int64_t size_bytes, std::int64_t align_bytes = grain_bytes) {
    const std::int64_t size = std::max(grain_bytes, up(size_bytes, grain_bytes));
    const std::int64_t align = std::max(grain_bytes, align_bytes);
    for (const auto [start, end] : gaps_) {
      const std::int64_t place = up(start, align);
      if (place + size > end) continue;
      gaps_.erase(start);
      if (start < place) gaps_.emplace(start, place);
      if (place + size < end) gaps_.emplace(place + size, end);
      sizes_[place] = size;
      return place;
    }
    return std::nullopt;
  }

  void free(std::int64_t offset) {
    const auto found = sizes_.find(offset);
    std::int64_t end = offset + found->second;
    sizes_.erase(found);
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && next->first == end) {
      end = next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin() && std::prev(next)->second == offset) std::prev(next)->second = end;
    else gaps_.emplace(offset, end);
  }

  // The new offset: elsewhere if that fits, else none, and nothing has changed.
  std::optional<std::int64_t> resize(std::int64_t offset, std::int64_t size_bytes) {
    const auto moved = allocate(size_bytes);
    if (moved) free(offset);
    return moved;
  }

 private:
  static std::int64_t up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

  std::map<std::int64_t, std::int64_t> gaps_;             // end by start
  std::unordered_map<std::int64_t, std::int64_t> sizes_;  // bytes by offset
};
