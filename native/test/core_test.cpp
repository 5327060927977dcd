// Tests of the core, meant to run under sanitizers. Checks stay on in release builds, unlike assert().
#include <cstdint>
#include <cstdio>
#include <limits>

#include "ut/core.hpp"
#include "ut/host_backend.hpp"

namespace {

int failures = 0;

void check(bool holds, const char *claim, int line) {
  if (holds) return;
  std::fprintf(stderr, "core_test.cpp:%d: does not hold: %s\n", line, claim);
  failures++;
}

#define CHECK(claim) check((claim), #claim, __LINE__)

void test_align_up() {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  CHECK(ut::align_up(0, 4096) == 0u);
  CHECK(ut::align_up(1, 4096) == 4096u);
  CHECK(ut::align_up(4096, 4096) == 4096u);
  CHECK(ut::align_up(1000, 3) == 1002u); // page sizes need not be powers of two
  CHECK(ut::align_up(max, 1) == max);
  CHECK(!ut::align_up(max, 4096).has_value()); // would exceed 64 bits
  CHECK(!ut::align_up(10, 0).has_value());
}

void test_host_backend() {
  const ut_backend *host = ut::host_backend();
  CHECK(host->abi == UT_BACKEND_ABI);
  CHECK(host->device_count() == 1);
  CHECK(host->open(nullptr, nullptr) == UT_INVALID);
  CHECK(host->last_error()[0] != '\0');
  host->close(nullptr);
  CHECK(host->last_error()[0] == '\0');
}

} // namespace

int main() {
  test_align_up();
  test_host_backend();
  if (failures == 0) std::puts("core_test: all checks hold");
  return failures == 0 ? 0 : 1;
}
