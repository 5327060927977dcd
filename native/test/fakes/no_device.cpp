// A backend that loads and finds no device, as the CUDA one does on a machine without a driver.
#include <cstdint>

#include "ut/host_backend.hpp"

namespace {

std::int32_t device_count() { return 0; }
const char *last_error() { return "no driver: the fake has no device"; }
std::int32_t capabilities(std::uint32_t, ut_capabilities *) { return UT_UNAVAILABLE; }
std::int32_t open(const ut_config *, ut_device **) { return UT_UNAVAILABLE; }

const ut_backend &table() {
  static const ut_backend made = [] {
    ut_backend backend = *ut::host_backend();
    backend.name = "fake";
    backend.device_count = device_count;
    backend.last_error = last_error;
    backend.capabilities = capabilities;
    backend.open = open;
    return backend;
  }();
  return made;
}

} // namespace

extern "C" const ut_backend *ut_backend_open(std::uint32_t abi) { return abi == UT_BACKEND_ABI ? &table() : nullptr; }
