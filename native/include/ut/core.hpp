// Arithmetic of the addon's core, free of Node and of any device.
#pragma once
#include <cstdint>
#include <optional>

namespace ut {

// Smallest multiple of page_bytes that is >= bytes; nothing when page_bytes is 0 or the result exceeds 64 bits.
std::optional<std::uint64_t> align_up(std::uint64_t bytes, std::uint64_t page_bytes) noexcept;

} // namespace ut
