// The host backend's table. Exceptions end here; the reason of a failure is kept for the calling thread.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "device.hpp"
#include "pages.hpp"
#include "relaxed.hpp"
#include "ut/host_backend.hpp"

// The C table's opaque type.
struct ut_device {
  ut::host::Device device;
};

namespace ut {
namespace {

using host::BandStore;
using host::Store;

thread_local Reason error;

std::int32_t failed(std::int32_t code) { return code; } // the reason stands in `error`

template <class... Arguments> std::int32_t refuse(std::int32_t code, const char *format, Arguments... arguments) {
  std::snprintf(error.text, sizeof error.text, format, arguments...);
  return code;
}

// Runs one call of the table.
template <class Call> std::int32_t guarded(Call call) noexcept {
  error.text[0] = '\0';
  try {
    return call();
  } catch (const std::bad_alloc &) {
    return refuse(UT_NO_MEMORY, "out of host memory");
  } catch (const std::system_error &) {
    return refuse(UT_NO_MEMORY, "the system gave no thread for a stream");
  }
}

// The same for a call that waits for everything submitted first.
template <class Call> std::int32_t settled(ut_device *device, Call call) noexcept {
  return guarded([&]() -> std::int32_t {
    if (device == nullptr) return refuse(UT_INVALID, "no device");
    device->device.synchronize();
    if (device->device.is_lost(error)) return failed(UT_LOST);
    return call(device->device.store());
  });
}

std::int32_t device_count() { return 1; }

const char *last_error() { return error.text; }

std::int32_t capabilities(std::uint32_t device, ut_capabilities *out) {
  return guarded([&]() -> std::int32_t {
    if (out == nullptr) return refuse(UT_INVALID, "no place for the capabilities");
    if (device != 0) return refuse(UT_UNAVAILABLE, "there is no device %u: the host is device 0", device);
    const host::MachineMemory memory = host::machine_memory();
    *out = {};
    out->memory_bytes = memory.total_bytes;
    out->memory_free_bytes = memory.free_bytes;
    out->read_end = 1;
    out->concurrent_streams = 1;
    std::snprintf(out->name, sizeof out->name, "host memory");
    return UT_OK;
  });
}

std::int32_t open(const ut_config *config, ut_device **out) {
  return guarded([&]() -> std::int32_t {
    if (out == nullptr) return refuse(UT_INVALID, "no place for the device");
    *out = nullptr;
    std::int32_t code = UT_OK;
    auto arena = host::Arena::make(config, code, error);
    if (arena == nullptr) return failed(code);
    *out = new ut_device{host::Device(std::move(arena))};
    return UT_OK;
  });
}

std::int32_t resize(ut_device *device, const ut_config *config) {
  return guarded([&]() -> std::int32_t {
    if (device == nullptr) return refuse(UT_INVALID, "no device");
    if (device->device.is_lost(error)) return failed(UT_LOST);
    std::int32_t code = UT_OK;
    auto arena = host::Arena::make(config, code, error);
    if (arena == nullptr) return failed(code);
    device->device.replace(std::move(arena));
    return UT_OK;
  });
}

void close(ut_device *device) {
  error.text[0] = '\0';
  delete device;
}

std::int32_t submit(ut_device *device, const std::int32_t *words, std::uint64_t count) {
  return guarded([&]() -> std::int32_t {
    if (device == nullptr) return refuse(UT_INVALID, "no device");
    return device->device.submit(words, count, error);
  });
}

std::int32_t hash_pages(ut_device *device, std::uint32_t band_index, std::uint32_t n, const std::int32_t *pages,
                        const std::uint32_t *masks, std::uint32_t *out) {
  return settled(device, [&](const Store &store) -> std::int32_t {
    if (band_index >= store.bands.size()) return refuse(UT_INVALID, "there is no band %u", band_index);
    const BandStore &band = store.bands[band_index];
    for (std::uint32_t i = 0; i < n; i++) {
      const auto page = static_cast<std::uint32_t>(pages[i]);
      if (page < band.band.first_page || page >= band.band.pages) {
        return refuse(UT_INVALID, "page %d is outside %u..%u", pages[i], band.band.first_page, band.band.pages - 1);
      }
    }
    const std::uint64_t words = mask_words(band.band);
    for (std::uint64_t i = 0; i < n; i++) {
      const host::PageHash hash =
          hash_page(store, band, static_cast<std::uint32_t>(pages[i]), masks + i * words);
      out[3 * i] = hash.a;
      out[3 * i + 1] = hash.b;
      out[3 * i + 2] = hash.torn;
    }
    return UT_OK;
  });
}

// A logical token id's physical one; 0 where there is none.
std::int64_t physical(const BandStore &band, std::int64_t token) {
  if (token <= 0) return 0;
  const std::int64_t id = token / band.band.units;
  if (id >= band.band.ids) return 0;
  const std::int64_t page = host::load(band.v2p[static_cast<std::uint64_t>(id)]);
  return page == 0 ? 0 : page * band.band.units + token % band.band.units;
}

template <class In, class Out>
void translate_rows(const BandStore &band, const In *ids, std::uint64_t rows, std::uint64_t columns, Out *out,
                    std::uint64_t out_columns) {
  for (std::uint64_t row = 0; row < rows; row++, ids += columns, out += out_columns) {
    for (std::uint64_t i = 0; i < columns; i++) out[i] = static_cast<Out>(physical(band, ids[i]));
    std::fill(out + columns, out + out_columns, Out{0});
  }
}

template <class In>
void translate_to(const BandStore &band, const In *ids, std::uint64_t rows, std::uint64_t columns, void *out,
                  std::uint32_t out_bits, std::uint64_t out_columns) {
  if (out_bits == 32) translate_rows(band, ids, rows, columns, static_cast<std::int32_t *>(out), out_columns);
  else translate_rows(band, ids, rows, columns, static_cast<std::int64_t *>(out), out_columns);
}

std::int32_t translate(ut_device *device, std::uint32_t band_index, const void *ids, std::uint32_t bits,
                       std::uint64_t rows, std::uint64_t columns, void *out, std::uint32_t out_bits,
                       std::uint64_t out_columns) {
  return settled(device, [&](const Store &store) -> std::int32_t {
    if (band_index >= store.bands.size()) return refuse(UT_INVALID, "there is no band %u", band_index);
    if ((bits != 32 && bits != 64) || (out_bits != 32 && out_bits != 64)) {
      return refuse(UT_INVALID, "token ids of %u and %u bits; they have 32 or 64", bits, out_bits);
    }
    if (out_columns < columns) return refuse(UT_INVALID, "the output has fewer columns than the input");
    const BandStore &band = store.bands[band_index];
    const std::uint64_t tokens = std::uint64_t{band.band.pages} * band.band.units;
    if (out_bits == 32 && tokens > count_limit) {
      return refuse(UT_INVALID, "physical token ids of band %u need 64 bits", band_index);
    }
    if (bits == 32) {
      translate_to(band, static_cast<const std::int32_t *>(ids), rows, columns, out, out_bits, out_columns);
    } else {
      translate_to(band, static_cast<const std::int64_t *>(ids), rows, columns, out, out_bits, out_columns);
    }
    return UT_OK;
  });
}

std::int32_t faults(ut_device *device, ut_fault *out, std::uint32_t capacity, std::uint32_t *count_out) {
  return settled(device, [&](const Store &) -> std::int32_t {
    if (count_out == nullptr) return refuse(UT_INVALID, "no place for the count");
    if (out == nullptr && capacity > 0) return refuse(UT_INVALID, "no place for the faults");
    *count_out = device->device.faults().take(out, capacity);
    return UT_OK;
  });
}

std::int32_t read_bytes(ut_device *device, std::uint64_t offset, std::uint64_t bytes, std::uint8_t *out) {
  return settled(device, [&](const Store &store) -> std::int32_t {
    if (offset > store.arena_bytes || bytes > store.arena_bytes - offset) {
      return refuse(UT_INVALID, "the bytes reach beyond the arena of %llu bytes",
                    static_cast<unsigned long long>(store.arena_bytes));
    }
    if (bytes > 0) std::memcpy(out, reinterpret_cast<const std::uint8_t *>(store.arena.get()) + offset, bytes);
    return UT_OK;
  });
}

std::int32_t read_table(ut_device *device, std::uint32_t table, std::uint32_t index, std::uint32_t count,
                        std::int32_t *out) {
  return settled(device, [&](const Store &store) -> std::int32_t {
    const void *words = nullptr;
    std::uint64_t length = 0;
    if (table == 0 && index < store.bands.size()) {
      words = store.bands[index].v2p.get();
      length = store.bands[index].band.ids;
    } else if (table == 1 && index >= 1 && index <= store.rows) {
      words = store.row(index);
      length = store.row_pages;
    } else if (table == 2 && index == 0) {
      words = store.forwards.get();
      length = std::uint64_t{store.rows} + 1;
    } else {
      return refuse(UT_INVALID, "there is no table %u of %u", table, index);
    }
    if (count > length) return refuse(UT_INVALID, "%u cells of a table that has fewer", count);
    if (count > 0) std::memcpy(out, words, count * sizeof(std::int32_t));
    return UT_OK;
  });
}

std::int32_t query(ut_device *device, std::uint32_t handle) {
  return guarded([&]() -> std::int32_t {
    if (device == nullptr) {
      refuse(UT_INVALID, "no device");
      return -UT_INVALID;
    }
    if (device->device.is_lost(error)) return -UT_LOST;
    const std::optional<bool> answer = device->device.query(handle);
    if (answer) return *answer ? 1 : 0;
    refuse(UT_INVALID, "handle %u is unknown", handle);
    return -UT_INVALID;
  });
}

constexpr ut_backend table = {
    UT_BACKEND_ABI, "host", device_count, last_error, capabilities, open,       resize,     close,
    submit,         hash_pages,    translate,  faults,       read_bytes, read_table, query,
};

} // namespace

const ut_backend *host_backend() noexcept { return &table; }

} // namespace ut
