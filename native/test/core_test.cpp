// The arithmetic: alignment, and what payload.h says, against vectors worked out apart from it with unlimited integers.
#include <cstdint>
#include <limits>

#include "support/check.hpp"
#include "ut/core.hpp"
#include "ut/payload.h"

namespace {

void aligns_up() {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  CHECK(ut::align_up(0, 4096) == 0u);
  CHECK(ut::align_up(1, 4096) == 4096u);
  CHECK(ut::align_up(4096, 4096) == 4096u);
  CHECK(ut::align_up(1000, 3) == 1002u); // page sizes need not be powers of two
  CHECK(ut::align_up(max, 1) == max);
  CHECK(!ut::align_up(max, 4096).has_value()); // would exceed 64 bits
  CHECK(!ut::align_up(10, 0).has_value());
}

void mixes_cells() {
  struct Vector {
    std::uint32_t field, index, value, a, b;
  };
  // The first three are those of docs/trace-format.md.
  constexpr Vector vectors[] = {
      {0, 0, 0, 0x4d3074fa, 0x242a5540},
      {1, 0, 1, 0xc0105478, 0xbf2fe379},
      {3, 7, 123456789, 0x1064d8d4, 0xcda63723},
      {UT_UNIT_FIELD, 0, 1, 0x88406cf8, 0xebc83b78},
      {UT_UNIT_FIELD, 5, 0xffffffff, 0x793451e2, 0x2d102a84},
      {UT_UNIT_FIELD, 31, 0x80000000, 0xb31ee297, 0x7698f309},
  };
  for (const Vector &v : vectors) {
    CHECK(ut_mix_a(v.field, v.index, v.value) == v.a);
    CHECK(ut_mix_b(v.field, v.index, v.value) == v.b);
  }
}

void makes_stamps() {
  CHECK(ut_stamp_of(0, 0) == 0x590832f9);
  CHECK(ut_stamp_of(0xdeadbeef, 4096) == 0xd7ffc86e);
  CHECK(ut_stamp_of(1, 2147483647) == 0x32ca0d15);
  // The mix of a cell is a bijection of its value: this writer's cell mixes to 0, which no stamp may be.
  CHECK(ut_mix_a(UT_STAMP_FIELD, 0, 0x39fc6b52u) == 0);
  CHECK(ut_stamp_of(0x39fc6b52u, 0) == 1);
}

void fills_units() {
  CHECK(ut_payload_word(7, 0) == 7);
  CHECK(ut_payload_word(0, 5) == 0);
  CHECK(ut_payload_word(1, 1) == 0x4cbb853f);
  CHECK(ut_payload_word(7, 3) == 0xa75319a0);
  CHECK(ut_payload_word(0xffffffff, 1) == 0x909d509b);
  CHECK(ut_payload_word(0x9e3779b9, 100000) == 0x32292190);
}

} // namespace

int main(int count, char **arguments) {
  return test::run_tests(
      {
          {"aligns up", aligns_up},
          {"mixes cells", mixes_cells},
          {"makes stamps", makes_stamps},
          {"fills units", fills_units},
      },
      count, arguments);
}
