// The CUDA backend behind the table of ut/backend.h. Devices are counted; nothing opens on them yet.
#include <cuda_runtime.h>

#include <cstdio>

#include "ut/backend.h"

namespace {

thread_local const char *error = "";

int32_t unavailable() {
  error = "the CUDA backend opens no device yet";
  return UT_UNAVAILABLE;
}

int32_t device_count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  (void)cudaGetLastError();
  return 0;
}

const char *last_error() { return error; }
int32_t capabilities(uint32_t, ut_capabilities *) { return unavailable(); }
int32_t open(const ut_config *, ut_device **) { return unavailable(); }
int32_t resize(ut_device *, const ut_config *) { return unavailable(); }
void close(ut_device *) {}
int32_t submit(ut_device *, const int32_t *, uint64_t) { return unavailable(); }
int32_t hash_pages(ut_device *, uint32_t, uint32_t, const int32_t *, const uint32_t *, uint32_t *) {
  return unavailable();
}
int32_t translate(ut_device *, uint32_t, const void *, uint32_t, uint64_t, uint64_t, void *, uint32_t, uint64_t) {
  return unavailable();
}
int32_t faults(ut_device *, ut_fault *, uint32_t, uint32_t *) { return unavailable(); }
int32_t read_bytes(ut_device *, uint64_t, uint64_t, uint8_t *) { return unavailable(); }
int32_t read_table(ut_device *, uint32_t, uint32_t, uint32_t, int32_t *) { return unavailable(); }
int32_t query(ut_device *, uint32_t) { return -unavailable(); }

const ut_backend table = {UT_BACKEND_ABI, "cuda", device_count, last_error, capabilities, open,       resize,     close,
                          submit,         hash_pages, translate,    faults,     read_bytes,   read_table, query};

} // namespace

extern "C" const ut_backend *ut_backend_open(uint32_t abi) { return abi == UT_BACKEND_ABI ? &table : nullptr; }
