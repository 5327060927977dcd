#include "ut/host_backend.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace ut {
namespace {

thread_local const char *error = "";

std::int32_t device_count() { return 1; }

const char *last_error() { return error; }

std::int32_t fill_u32(std::uint32_t value, std::uint64_t count, std::uint32_t *sum_out) {
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(std::uint32_t)) {
    error = "count is larger than the address space";
    return 1;
  }
  const auto words = static_cast<std::size_t>(count);
  const std::unique_ptr<std::uint32_t[]> memory(new (std::nothrow) std::uint32_t[words]);
  if (memory == nullptr) {
    error = "out of host memory";
    return 1;
  }
  for (std::size_t i = 0; i < words; i++) memory[i] = value;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < words; i++) sum += memory[i];
  *sum_out = sum;
  error = "";
  return 0;
}

constexpr ut_backend table = {UT_BACKEND_ABI, "host", device_count, last_error, fill_u32};

} // namespace

const ut_backend *host_backend() noexcept { return &table; }

} // namespace ut
