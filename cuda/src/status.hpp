// How a call of the table fails: a code of ut_code and one line of text for the calling thread.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "ut/backend.h"

namespace ut::cuda {

using Status = std::int32_t; // a ut_code

// Keeps "file:line: what: why" as the thread's text and returns `code`.
Status fail(Status code, const char *file, int line, const char *what, const char *why) noexcept;

// UT_OK for cudaSuccess. Otherwise keeps the text, clears the runtime's own last error so that the next call does not
// report it again, and answers the code that the error stands for.
Status check(cudaError_t error, const char *file, int line, const char *what) noexcept;

// The caller's mistake: the text is the reason alone. Returns UT_INVALID.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
Status refuse(const char *format, ...) noexcept;

void clear_error() noexcept;
const char *error_text() noexcept;
void set_error_text(const char *text) noexcept;

} // namespace ut::cuda

#define UT_CUDA(call) ::ut::cuda::check((call), __FILE__, __LINE__, #call)
// After a launch: the launch's own error. A kernel that fails later is met by the call that waits for it.
#define UT_LAUNCHED(kernel) ::ut::cuda::check(cudaGetLastError(), __FILE__, __LINE__, kernel)
#define UT_FAIL(code, what, why) ::ut::cuda::fail((code), __FILE__, __LINE__, (what), (why))
#define UT_TRY(expression)                                                                                             \
  do {                                                                                                                 \
    const ::ut::cuda::Status ut_try_status = (expression);                                                             \
    if (ut_try_status != UT_OK) return ut_try_status;                                                                  \
  } while (false)
