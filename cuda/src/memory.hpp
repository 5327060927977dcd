// Owners of what CUDA gave: device memory, pinned host memory, events. Each is given back once.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "status.hpp"

namespace ut::cuda {

class DeviceBytes {
public:
  DeviceBytes() = default;
  DeviceBytes(DeviceBytes &&other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.forget(); }
  DeviceBytes &operator=(DeviceBytes &&other) noexcept {
    if (this != &other) {
      release();
      data_ = other.data_;
      bytes_ = other.bytes_;
      other.forget();
    }
    return *this;
  }
  ~DeviceBytes() { release(); }

  // Once an owner. The start is a multiple of 256. What cannot fit is refused before the runtime is asked: a failed
  // call stays in the reports of the tools that watch it.
  Status take(uint64_t bytes) {
    size_t free = 0, total = 0;
    UT_TRY(UT_CUDA(cudaMemGetInfo(&free, &total)));
    if (bytes > free) {
      char why[96];
      std::snprintf(why, sizeof why, "%llu bytes are wanted and %llu are free", static_cast<unsigned long long>(bytes),
                    static_cast<unsigned long long>(free));
      return UT_FAIL(UT_NO_MEMORY, "device memory", why);
    }
    void *data = nullptr;
    UT_TRY(UT_CUDA(cudaMalloc(&data, bytes)));
    data_ = static_cast<uint8_t *>(data);
    bytes_ = bytes;
    return UT_OK;
  }
  uint8_t *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

private:
  void forget() {
    data_ = nullptr;
    bytes_ = 0;
  }
  void release() {
    if (data_ != nullptr && cudaFree(data_) != cudaSuccess) (void)cudaGetLastError(); // a lost device frees nothing
    forget();
  }
  uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Host memory that kernels reach under the same address.
class PinnedBytes {
public:
  PinnedBytes() = default;
  PinnedBytes(PinnedBytes &&other) noexcept : data_(other.data_), device_(other.device_) { other.data_ = nullptr; }
  PinnedBytes &operator=(PinnedBytes &&other) noexcept {
    if (this != &other) {
      release();
      data_ = other.data_;
      device_ = other.device_;
      other.data_ = nullptr;
    }
    return *this;
  }
  ~PinnedBytes() { release(); }

  Status take(uint64_t bytes) {
    void *data = nullptr;
    UT_TRY(UT_CUDA(cudaHostAlloc(&data, bytes, cudaHostAllocMapped | cudaHostAllocPortable)));
    data_ = static_cast<uint8_t *>(data);
    void *device = nullptr;
    UT_TRY(UT_CUDA(cudaHostGetDevicePointer(&device, data, 0)));
    device_ = static_cast<uint8_t *>(device);
    return UT_OK;
  }
  uint8_t *data() const { return data_; }
  uint8_t *device() const { return device_; }

private:
  void release() {
    if (data_ != nullptr && cudaFreeHost(data_) != cudaSuccess) (void)cudaGetLastError();
    data_ = nullptr;
  }
  uint8_t *data_ = nullptr;
  uint8_t *device_ = nullptr;
};

// Events without times. Made once, used again and again: a wait that was queued keeps what it saw, so an event may be
// recorded anew as soon as nobody asks for it any more.
class EventPool {
public:
  EventPool() = default;
  EventPool(const EventPool &) = delete;
  EventPool &operator=(const EventPool &) = delete;
  ~EventPool() {
    for (uint32_t i = 0; i < count_; i++) (void)cudaEventDestroy(free_[i]);
    std::free(free_);
  }

  Status fill(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      cudaEvent_t event = nullptr;
      UT_TRY(make(event));
      give(event);
    }
    return UT_OK;
  }
  Status take(cudaEvent_t &event) {
    if (count_ == 0) return make(event);
    event = free_[--count_];
    return UT_OK;
  }
  void give(cudaEvent_t event) {
    if (event == nullptr) return;
    if (count_ == capacity_) {
      const uint32_t capacity = capacity_ == 0 ? 256 : capacity_ * 2;
      auto *grown = static_cast<cudaEvent_t *>(std::realloc(free_, capacity * sizeof(cudaEvent_t)));
      if (grown == nullptr) {
        (void)cudaEventDestroy(event);
        return;
      }
      free_ = grown;
      capacity_ = capacity;
    }
    free_[count_++] = event;
  }

private:
  static Status make(cudaEvent_t &event) { return UT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
  cudaEvent_t *free_ = nullptr;
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
};

} // namespace ut::cuda
