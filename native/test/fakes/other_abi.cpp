// A backend of another ABI number: it answers to 3 alone, with a table that holds no more than that number.
#include <cstdint>

#include "ut/backend.h"

namespace {

constexpr std::uint32_t spoken = 3;
static_assert(spoken != UT_BACKEND_ABI);

const ut_backend &table() {
  static const ut_backend made = [] {
    ut_backend backend = {};
    backend.abi = spoken;
    backend.name = "fake";
    return backend;
  }();
  return made;
}

} // namespace

extern "C" const ut_backend *ut_backend_open(std::uint32_t abi) { return abi == spoken ? &table() : nullptr; }
