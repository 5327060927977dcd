// A backend that answers to no ABI number.
#include <cstdint>

#include "ut/backend.h"

extern "C" const ut_backend *ut_backend_open(std::uint32_t) { return nullptr; }
