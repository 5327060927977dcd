#include "ut/core.hpp"

#include <limits>

namespace ut {

std::optional<std::uint64_t> align_up(std::uint64_t bytes, std::uint64_t page_bytes) noexcept {
  if (page_bytes == 0) return std::nullopt;
  const std::uint64_t rest = bytes % page_bytes;
  if (rest == 0) return bytes;
  const std::uint64_t missing = page_bytes - rest;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - missing) return std::nullopt;
  return bytes + missing;
}

} // namespace ut
