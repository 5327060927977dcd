#include "relaxed.hpp"

namespace ut::host {
namespace {

bool lies_on_8(const void *place) noexcept { return reinterpret_cast<std::uintptr_t>(place) % 8 == 0; }

} // namespace

void copy_words(std::uint32_t *to, const std::uint32_t *from, std::uint64_t words) noexcept {
  std::uint64_t done = 0;
  if (lies_on_8(to) && lies_on_8(from)) {
    auto *const wide_to = reinterpret_cast<std::uint64_t *>(to);
    const auto *const wide_from = reinterpret_cast<const std::uint64_t *>(from);
    for (std::uint64_t i = 0; i < words / 2; i++) store(wide_to[i], load(wide_from[i]));
    done = words / 2 * 2;
  }
  for (; done < words; done++) store(to[done], load(from[done]));
}

void zero_words(std::uint32_t *to, std::uint64_t words) noexcept {
  std::uint64_t done = 0;
  if (lies_on_8(to)) {
    auto *const wide = reinterpret_cast<std::uint64_t *>(to);
    for (std::uint64_t i = 0; i < words / 2; i++) store(wide[i], std::uint64_t{0});
    done = words / 2 * 2;
  }
  for (; done < words; done++) store(to[done], std::uint32_t{0});
}

} // namespace ut::host
