// The backend that is always there: host memory, no library to open.
#pragma once
#include "ut/backend.h"

namespace ut {

// Never null; lives as long as the process.
const ut_backend *host_backend() noexcept;

} // namespace ut
