// The CUDA backend behind the table of ut/backend.h, the one header of ours that it sees.
// Every call's return code is checked; a failure is kept as text for the calling thread.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "ut/backend.h"

namespace {

thread_local char error[256] = "";

int32_t fail(const char *what, int line, const char *why) {
  std::snprintf(error, sizeof error, "backend.cu:%d: %s: %s", line, what, why);
  return 1;
}

// Also clears the runtime's own sticky error, so that the next call does not report this one.
int32_t check_cuda(cudaError_t code, const char *what, int line) {
  if (code == cudaSuccess) return 0;
  (void)cudaGetLastError();
  return fail(what, line, cudaGetErrorString(code));
}

#define CHECK_CUDA(call) check_cuda((call), #call, __LINE__)

__global__ void fill_kernel(uint32_t *words, uint32_t value, uint64_t count) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    words[i] = value;
  }
}

int32_t device_count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  (void)cudaGetLastError();
  return 0;
}

const char *last_error() { return error; }

int32_t fill_and_read(uint32_t *device, uint32_t *host, uint32_t value, uint64_t count) {
  constexpr uint64_t threads = 256, blocks_max = 4096;
  const uint64_t wanted = (count + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < blocks_max ? wanted : blocks_max);
  fill_kernel<<<blocks, threads>>>(device, value, count);
  if (CHECK_CUDA(cudaGetLastError()) != 0) return 1;
  return CHECK_CUDA(cudaMemcpy(host, device, count * sizeof(uint32_t), cudaMemcpyDeviceToHost));
}

int32_t fill_u32(uint32_t value, uint64_t count, uint32_t *sum_out) {
  error[0] = '\0';
  *sum_out = 0;
  if (count == 0) return 0;
  if (count > std::numeric_limits<size_t>::max() / sizeof(uint32_t)) {
    return fail("fill_u32", __LINE__, "count is larger than the address space");
  }
  auto *host = static_cast<uint32_t *>(std::malloc(count * sizeof(uint32_t)));
  if (host == nullptr) return fail("malloc", __LINE__, "out of host memory");
  uint32_t *device = nullptr;
  int32_t code = CHECK_CUDA(cudaMalloc(&device, count * sizeof(uint32_t)));
  if (code == 0) {
    code = fill_and_read(device, host, value, count);
    const int32_t freed = CHECK_CUDA(cudaFree(device));
    if (code == 0) code = freed;
  }
  if (code == 0) {
    uint32_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += host[i];
    *sum_out = sum;
  }
  std::free(host);
  return code;
}

const ut_backend table = {UT_BACKEND_ABI, "cuda", device_count, last_error, fill_u32};

} // namespace

extern "C" const ut_backend *ut_backend_open(uint32_t abi) { return abi == UT_BACKEND_ABI ? &table : nullptr; }
