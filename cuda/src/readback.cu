#include "readback.hpp"

#include <algorithm>
#include <cstring>

#include "hash.cuh"
#include "translate.cuh"

namespace ut::cuda {
namespace {

constexpr uint64_t kHalf = kScratchBytes / 2;

cudaStream_t schedule(const ut_device &device) { return device.streams.of(kSchedule); }

// Device memory to the caller's, through pinned memory.
Status copy_out(ut_device &device, const void *from, uint64_t bytes, void *out) {
  Arena &arena = device.geometry->arena;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t part = std::min(bytes - done, kScratchBytes);
    UT_TRY(UT_CUDA(cudaMemcpyAsync(arena.staging, static_cast<const uint8_t *>(from) + done, part,
                                   cudaMemcpyDeviceToHost, schedule(device))));
    UT_TRY(UT_CUDA(cudaStreamSynchronize(schedule(device))));
    std::memcpy(static_cast<uint8_t *>(out) + done, arena.staging, part);
    done += part;
  }
  return UT_OK;
}

Status check_pages(const ut_band &band, uint32_t n, const int32_t *pages) {
  for (uint32_t i = 0; i < n; i++) {
    const int32_t page = pages[i];
    if (page < 0 || static_cast<uint32_t>(page) < band.first_page || static_cast<uint32_t>(page) >= band.pages)
      return refuse("page %d is outside %u..%lld", page, band.first_page, static_cast<long long>(band.pages) - 1);
  }
  return UT_OK;
}

// One part that fits the staging memory: masks, then pages; the hashes come back over them.
Status hash_part(ut_device &device, uint32_t index, uint32_t n, const int32_t *pages, const uint32_t *masks,
                 uint32_t *out) {
  Arena &arena = device.geometry->arena;
  const ut_band &band = arena.bands[index];
  const uint64_t mask_bytes = static_cast<uint64_t>(n) * mask_words(band) * sizeof(uint32_t);
  const uint64_t out_bytes = static_cast<uint64_t>(n) * 3 * sizeof(uint32_t);
  std::memcpy(arena.staging, masks, mask_bytes);
  std::memcpy(arena.staging + mask_bytes, pages, n * sizeof(int32_t));
  auto *hashes = reinterpret_cast<uint32_t *>(arena.scratch);
  UT_TRY(UT_CUDA(cudaMemsetAsync(hashes, 0, out_bytes, schedule(device))));
  UT_TRY(UT_CUDA(launch_hash(arena.view, index, static_cast<uint32_t>(unit_bytes(band)), band.units,
                             reinterpret_cast<const int32_t *>(arena.staging_device + mask_bytes),
                             reinterpret_cast<const uint32_t *>(arena.staging_device), n, hashes,
                             device.properties.multiprocessors, schedule(device))));
  return copy_out(device, hashes, out_bytes, out);
}

struct Shape {
  uint64_t columns;
  uint64_t out_columns;

  // Ids before out element `element`, both row-major.
  uint64_t ids_before(uint64_t element) const {
    return element / out_columns * columns + std::min(element % out_columns, columns);
  }
};

} // namespace

Status hash_pages(ut_device &device, uint32_t band, uint32_t n, const int32_t *pages, const uint32_t *masks,
                  uint32_t *out) {
  Arena &arena = device.geometry->arena;
  if (band >= arena.config.band_count) return refuse("band %u is outside 0..%u", band, arena.config.band_count - 1);
  UT_TRY(check_pages(arena.bands[band], n, pages));
  const uint64_t words = mask_words(arena.bands[band]);
  const uint64_t words_each = std::max<uint64_t>(3, words + 1);
  const auto part_max = static_cast<uint32_t>(kScratchBytes / (words_each * sizeof(uint32_t)));
  UT_TRY(device.streams.settle_all());
  for (uint32_t done = 0; done < n;) {
    const uint32_t part = std::min(n - done, part_max);
    UT_TRY(hash_part(device, band, part, pages + done, masks + done * words, out + 3ull * done));
    done += part;
  }
  return UT_OK;
}

Status translate(ut_device &device, uint32_t band, const void *ids, uint32_t bits, uint64_t rows, uint64_t columns,
                 void *out, uint32_t out_bits, uint64_t out_columns) {
  Arena &arena = device.geometry->arena;
  if (band >= arena.config.band_count) return refuse("band %u is outside 0..%u", band, arena.config.band_count - 1);
  if ((bits != 32 && bits != 64) || (out_bits != 32 && out_bits != 64)) return refuse("ids have 32 or 64 bits");
  if (out_columns < columns) return refuse("fewer columns out than in");
  const ut_band &geometry = arena.bands[band];
  if (out_bits == 32 && static_cast<uint64_t>(geometry.pages) * geometry.units > 0x80000000ull)
    return refuse("physical token ids of band %u exceed 32 bits", band);
  if (out_columns != 0 && rows > UINT64_MAX / 8 / out_columns) return refuse("too many ids");
  UT_TRY(device.streams.settle_all());
  const Shape shape{columns, std::max<uint64_t>(1, out_columns)};
  const uint64_t in_bytes = bits / 8, out_bytes = out_bits / 8, all = rows * out_columns;
  Translation part{arena.v2p_of(band), geometry.ids, geometry.units, columns, shape.out_columns, 0, 0, 0};
  for (part.first = 0; part.first < all; part.first += part.count) {
    part.count = std::min(all - part.first, kHalf / 8);
    part.first_id = shape.ids_before(part.first);
    const uint64_t ids_here = shape.ids_before(part.first + part.count) - part.first_id;
    uint8_t *device_out = arena.scratch + kHalf;
    if (ids_here != 0)
      std::memcpy(arena.staging, static_cast<const uint8_t *>(ids) + part.first_id * in_bytes, ids_here * in_bytes);
    UT_TRY(UT_CUDA(
        cudaMemcpyAsync(arena.scratch, arena.staging, ids_here * in_bytes, cudaMemcpyHostToDevice, schedule(device))));
    UT_TRY(UT_CUDA(launch_translate(part, arena.scratch, bits, device_out, out_bits, schedule(device))));
    UT_TRY(copy_out(device, device_out, part.count * out_bytes, static_cast<uint8_t *>(out) + part.first * out_bytes));
  }
  return UT_OK;
}

// Faults fill the ring from its start without gaps; an entry of kind 0 ends them.
Status faults(ut_device &device, ut_fault *out, uint32_t capacity, uint32_t *count_out) {
  Arena &arena = device.geometry->arena;
  UT_TRY(device.streams.settle_all());
  uint32_t held = 0;
  while (held < kFaultsMax && arena.faults[held].kind != 0) held++;
  *count_out = held;
  if (held == 0) return UT_OK;
  if (held == kFaultsMax) UT_TRY(copy_out(device, arena.view.faults.count, sizeof(uint32_t), count_out));
  if (capacity != 0) std::memcpy(out, arena.faults, std::min(held, capacity) * sizeof(ut_fault));
  std::memset(arena.faults, 0, held * sizeof(ut_fault));
  UT_TRY(UT_CUDA(cudaMemsetAsync(arena.view.faults.count, 0, sizeof(uint32_t), schedule(device))));
  return UT_CUDA(cudaStreamSynchronize(schedule(device)));
}

Status read_bytes(ut_device &device, uint64_t offset, uint64_t bytes, uint8_t *out) {
  Arena &arena = device.geometry->arena;
  const uint64_t all = arena.config.arena_bytes;
  if (offset > all || bytes > all - offset)
    return refuse("bytes beyond the arena of %llu", static_cast<unsigned long long>(all));
  UT_TRY(device.streams.settle_all());
  return copy_out(device, arena.view.arena + offset, bytes, out);
}

Status read_table(ut_device &device, uint32_t table, uint32_t index, uint32_t count, int32_t *out) {
  Arena &arena = device.geometry->arena;
  const ut_config &config = arena.config;
  const void *from = nullptr;
  uint64_t length = 0;
  if (table == 0) {
    if (index >= config.band_count) return refuse("band %u is outside 0..%u", index, config.band_count - 1);
    from = arena.v2p_of(index);
    length = arena.bands[index].ids;
  } else if (table == 1) {
    if (index == 0 || index > config.rows) return refuse("row %u is outside 1..%u", index, config.rows);
    from = arena.view.rows + static_cast<uint64_t>(index) * config.row_pages;
    length = config.row_pages;
  } else if (table == 2 && index == 0) {
    from = arena.view.counters;
    length = config.rows + 1ull;
  } else {
    return refuse("there is no table %u of %u", table, index);
  }
  if (count > length)
    return refuse("%u entries of a table that has %llu", count, static_cast<unsigned long long>(length));
  UT_TRY(device.streams.settle_all());
  return copy_out(device, from, count * sizeof(int32_t), out);
}

} // namespace ut::cuda
