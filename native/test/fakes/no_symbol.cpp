// A library that is no backend.
#include "ut/backend.h"

extern "C" UT_BACKEND_EXPORT int ut_something_else() { return 0; }
