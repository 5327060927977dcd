// The calls that wait for everything and answer with what stands on the device.
#pragma once
#include <cstdint>

#include "device.hpp"

namespace ut::cuda {

Status hash_pages(ut_device &device, uint32_t band, uint32_t n, const int32_t *pages, const uint32_t *masks,
                  uint32_t *out);
Status translate(ut_device &device, uint32_t band, const void *ids, uint32_t bits, uint64_t rows, uint64_t columns,
                 void *out, uint32_t out_bits, uint64_t out_columns);
Status faults(ut_device &device, ut_fault *out, uint32_t capacity, uint32_t *count_out);
Status read_bytes(ut_device &device, uint64_t offset, uint64_t bytes, uint8_t *out);
Status read_table(ut_device &device, uint32_t table, uint32_t index, uint32_t count, int32_t *out);

} // namespace ut::cuda
