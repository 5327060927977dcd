#include "status.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ut::cuda {
namespace {

thread_local char text[512] = "";

const char *base_name(const char *file) noexcept {
  const char *slash = std::strrchr(file, '/');
  return slash != nullptr ? slash + 1 : file;
}

Status code_of(cudaError_t error) noexcept {
  switch (error) {
  case cudaErrorMemoryAllocation:
    return UT_NO_MEMORY;
  case cudaErrorNoDevice:
  case cudaErrorInvalidDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorSystemDriverMismatch:
  case cudaErrorCompatNotSupportedOnDevice:
  case cudaErrorSystemNotReady:
  case cudaErrorInitializationError:
  case cudaErrorStubLibrary:
  case cudaErrorDevicesUnavailable:
  case cudaErrorDeviceNotLicensed:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorUnsupportedPtxVersion:
    return UT_UNAVAILABLE;
  default:
    return UT_LOST;
  }
}

} // namespace

Status fail(Status code, const char *file, int line, const char *what, const char *why) noexcept {
  std::snprintf(text, sizeof text, "%s:%d: %s: %s", base_name(file), line, what, why);
  return code;
}

Status check(cudaError_t error, const char *file, int line, const char *what) noexcept {
  if (error == cudaSuccess) return UT_OK;
  (void)cudaGetLastError();
  char why[256];
  std::snprintf(why, sizeof why, "%s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
  return fail(code_of(error), file, line, what, why);
}

Status refuse(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return UT_INVALID;
}

void clear_error() noexcept { text[0] = '\0'; }
const char *error_text() noexcept { return text; }
void set_error_text(const char *message) noexcept { std::snprintf(text, sizeof text, "%s", message); }

} // namespace ut::cuda
