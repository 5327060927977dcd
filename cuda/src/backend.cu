// The table of ut/backend.h. Every call starts from a clean line of text, makes the device current, and never lets a
// lost device do anything again.
#include <cstdio>
#include <new>

#include "readback.hpp"

namespace {

using ut::cuda::Status;

int32_t device_count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  (void)cudaGetLastError();
  return 0;
}

const char *last_error() { return ut::cuda::error_text(); }

Status make_current(uint32_t ordinal) {
  int devices = 0;
  const Status counted = UT_CUDA(cudaGetDeviceCount(&devices));
  if (counted != UT_OK) return counted == UT_LOST ? UT_UNAVAILABLE : counted;
  if (ordinal >= static_cast<uint32_t>(devices)) {
    (void)ut::cuda::refuse("there is no CUDA device %u; devices: %d", ordinal, devices);
    return UT_UNAVAILABLE;
  }
  return UT_CUDA(cudaSetDevice(static_cast<int>(ordinal)));
}

int32_t capabilities(uint32_t ordinal, ut_capabilities *out) {
  ut::cuda::clear_error();
  UT_TRY(make_current(ordinal));
  cudaDeviceProp properties{};
  size_t free_bytes = 0, total_bytes = 0;
  UT_TRY(UT_CUDA(cudaGetDeviceProperties(&properties, static_cast<int>(ordinal))));
  UT_TRY(UT_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes)));
  *out = {};
  out->memory_bytes = total_bytes;
  out->memory_free_bytes = free_bytes;
  out->read_end = 1;
  out->compute_major = static_cast<uint32_t>(properties.major);
  out->compute_minor = static_cast<uint32_t>(properties.minor);
  out->concurrent_streams = 1;
  std::snprintf(out->name, sizeof out->name, "%.127s", properties.name);
  return UT_OK;
}

Status check_config(const ut_config *config) {
  ut::Reason reason;
  return ut::check_config(config, reason) ? UT_OK : ut::cuda::refuse("%s", reason.text);
}

int32_t open(const ut_config *config, ut_device **out) {
  ut::cuda::clear_error();
  *out = nullptr;
  UT_TRY(check_config(config));
  UT_TRY(make_current(config->device));
  auto *device = new (std::nothrow) ut_device;
  if (device == nullptr) return UT_FAIL(UT_NO_MEMORY, "open", "out of host memory");
  const Status status = device->open(*config);
  if (status != UT_OK) {
    delete device;
    return status;
  }
  *out = device;
  return UT_OK;
}

// Runs a call of an opened device. A failure that is not the caller's own means that the device can no longer be
// trusted.
template <typename Call> int32_t on(ut_device *device, bool may_lack_memory, Call &&call) {
  ut::cuda::clear_error();
  if (device == nullptr) return ut::cuda::refuse("no device");
  if (device->is_lost) {
    ut::cuda::set_error_text(device->lost_because);
    return UT_LOST;
  }
  Status status = UT_CUDA(cudaSetDevice(static_cast<int>(device->ordinal)));
  if (status == UT_OK) status = call();
  if (status == UT_OK || status == UT_INVALID || (may_lack_memory && status == UT_NO_MEMORY)) return status;
  device->lose(ut::cuda::error_text());
  ut::cuda::set_error_text(device->lost_because);
  return UT_LOST;
}

int32_t resize(ut_device *device, const ut_config *config) {
  return on(device, true, [&] {
    UT_TRY(check_config(config));
    return device->resize(*config);
  });
}

void close(ut_device *device) {
  ut::cuda::clear_error();
  if (device == nullptr) return;
  (void)cudaSetDevice(static_cast<int>(device->ordinal));
  delete device;
  (void)cudaGetLastError();
}

int32_t submit(ut_device *device, const int32_t *words, uint64_t count) {
  return on(device, false, [&] { return device->submit(words, count); });
}

int32_t hash_pages(ut_device *device, uint32_t band, uint32_t n, const int32_t *pages, const uint32_t *masks,
                   uint32_t *out) {
  return on(device, false, [&] { return ut::cuda::hash_pages(*device, band, n, pages, masks, out); });
}

int32_t translate(ut_device *device, uint32_t band, const void *ids, uint32_t bits, uint64_t rows, uint64_t columns,
                  void *out, uint32_t out_bits, uint64_t out_columns) {
  return on(device, false,
            [&] { return ut::cuda::translate(*device, band, ids, bits, rows, columns, out, out_bits, out_columns); });
}

int32_t faults(ut_device *device, ut_fault *out, uint32_t capacity, uint32_t *count_out) {
  *count_out = 0;
  return on(device, false, [&] { return ut::cuda::faults(*device, out, capacity, count_out); });
}

int32_t read_bytes(ut_device *device, uint64_t offset, uint64_t bytes, uint8_t *out) {
  return on(device, false, [&] { return ut::cuda::read_bytes(*device, offset, bytes, out); });
}

int32_t read_table(ut_device *device, uint32_t table, uint32_t index, uint32_t count, int32_t *out) {
  return on(device, false, [&] { return ut::cuda::read_table(*device, table, index, count, out); });
}

// 1, 0, or a failure as a negative code.
int32_t query(ut_device *device, uint32_t handle) {
  int32_t is_over = 0;
  const int32_t status = on(device, false, [&]() -> Status {
    const ut::HandleKind kind = device->geometry->checker.kind_of(handle);
    if (kind == ut::HandleKind::none) return ut::cuda::refuse("handle %u is unknown", handle);
    const cudaEvent_t end = device->slots[handle].end;
    const cudaError_t error =
        end == nullptr ? cudaStreamQuery(device->streams.of(ut::cuda::kForward)) : cudaEventQuery(end);
    if (error == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return UT_OK;
    }
    is_over = 1;
    return UT_CUDA(error);
  });
  return status == UT_OK ? is_over : -status;
}

const ut_backend table = {UT_BACKEND_ABI, "cuda",     device_count, last_error, capabilities, open,       resize, close,
                          submit,         hash_pages, translate,    faults,     read_bytes,   read_table, query};

} // namespace

extern "C" const ut_backend *ut_backend_open(uint32_t abi) { return abi == UT_BACKEND_ABI ? &table : nullptr; }
