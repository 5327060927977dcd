// The host backend with a failure planted. The environment says which: UT_FAKE_FAILURE is `no-memory` (open and resize fail) or
// `lost` (the device is lost); UT_FAKE_AFTER is how many calls of that kind, opens or submits, go well before, 0 when it is not set.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ut/host_backend.hpp"

namespace {

const ut_backend &host() { return *ut::host_backend(); }

std::atomic<long> opens = 0, submits = 0;
std::atomic<bool> is_lost = false;
thread_local const char *planted = nullptr; // the reason of this thread's last call, where it was a planted one

bool is_failure(const char *kind) {
  const char *const wanted = std::getenv("UT_FAKE_FAILURE");
  return wanted != nullptr && std::strcmp(wanted, kind) == 0;
}

// Whether this call of its kind is one that fails.
bool is_due(std::atomic<long> &calls, const char *kind) {
  if (!is_failure(kind)) return false;
  const char *const after = std::getenv("UT_FAKE_AFTER");
  return calls++ >= (after == nullptr ? 0 : std::strtol(after, nullptr, 10));
}

std::int32_t fail(std::int32_t code, const char *reason) {
  planted = reason;
  return code;
}
constexpr const char *lost_reason = "failing.cpp: the device is lost: planted";

// Runs a call of the host's table unless the device is lost.
template <class Call> std::int32_t unless_lost(Call call) {
  planted = nullptr;
  return is_lost ? fail(UT_LOST, lost_reason) : call();
}

const char *last_error() { return planted != nullptr ? planted : host().last_error(); }

std::int32_t open(const ut_config *config, ut_device **out) {
  planted = nullptr;
  is_lost = false;
  submits = 0;
  if (is_due(opens, "no-memory")) return fail(UT_NO_MEMORY, "failing.cpp: out of device memory: planted");
  return host().open(config, out);
}

std::int32_t resize(ut_device *device, const ut_config *config) {
  return unless_lost([&]() -> std::int32_t {
    if (is_due(opens, "no-memory")) return fail(UT_NO_MEMORY, "failing.cpp: out of device memory: planted");
    return host().resize(device, config);
  });
}

std::int32_t submit(ut_device *device, const std::int32_t *words, std::uint64_t count) {
  return unless_lost([&]() -> std::int32_t {
    if (is_due(submits, "lost")) {
      is_lost = true;
      return fail(UT_LOST, lost_reason);
    }
    return host().submit(device, words, count);
  });
}

std::int32_t hash_pages(ut_device *device, std::uint32_t band, std::uint32_t n, const std::int32_t *pages,
                        const std::uint32_t *masks, std::uint32_t *out) {
  return unless_lost([&] { return host().hash_pages(device, band, n, pages, masks, out); });
}

std::int32_t translate(ut_device *device, std::uint32_t band, const void *ids, std::uint32_t bits, std::uint64_t rows,
                       std::uint64_t columns, void *out, std::uint32_t out_bits, std::uint64_t out_columns) {
  return unless_lost([&] { return host().translate(device, band, ids, bits, rows, columns, out, out_bits, out_columns); });
}

std::int32_t faults(ut_device *device, ut_fault *out, std::uint32_t capacity, std::uint32_t *count_out) {
  return unless_lost([&] { return host().faults(device, out, capacity, count_out); });
}

std::int32_t read_bytes(ut_device *device, std::uint64_t offset, std::uint64_t bytes, std::uint8_t *out) {
  return unless_lost([&] { return host().read_bytes(device, offset, bytes, out); });
}

std::int32_t read_table(ut_device *device, std::uint32_t table, std::uint32_t index, std::uint32_t count,
                        std::int32_t *out) {
  return unless_lost([&] { return host().read_table(device, table, index, count, out); });
}

std::int32_t query(ut_device *device, std::uint32_t handle) {
  const std::int32_t answer = unless_lost([&] { return host().query(device, handle); });
  return is_lost ? -UT_LOST : answer;
}

const ut_backend &table() {
  static const ut_backend made = [] {
    ut_backend backend = host();
    backend.name = "fake";
    backend.last_error = last_error;
    backend.open = open;
    backend.resize = resize;
    backend.submit = submit;
    backend.hash_pages = hash_pages;
    backend.translate = translate;
    backend.faults = faults;
    backend.read_bytes = read_bytes;
    backend.read_table = read_table;
    backend.query = query;
    return backend;
  }();
  return made;
}

} // namespace

extern "C" const ut_backend *ut_backend_open(std::uint32_t abi) { return abi == UT_BACKEND_ABI ? &table() : nullptr; }
