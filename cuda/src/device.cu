#include "device.hpp"

#include <cstdio>
#include <cstring>
#include <new>

#include "forward.cuh"
#include "hash.cuh"
#include "hostcopy.cuh"
#include "pause.cuh"
#include "schedule.cuh"
#include "stamp.cuh"
#include "translate.cuh"

namespace ut::cuda {

Geometry::~Geometry() {
  std::free(page_marks);
  std::free(id_marks[0]);
  std::free(row_marks);
}

Status Geometry::prepare() {
  uint64_t pages = 1, ids = 0;
  for (uint32_t i = 0; i < arena.config.band_count; i++) {
    if (arena.bands[i].pages > pages) pages = arena.bands[i].pages;
    ids += arena.bands[i].ids;
  }
  page_marks = static_cast<uint64_t *>(std::calloc(pages, sizeof(uint64_t)));
  id_marks[0] = static_cast<uint32_t *>(std::calloc(ids, sizeof(uint32_t)));
  row_marks = static_cast<uint32_t *>(std::calloc(arena.config.rows + 1ull, sizeof(uint32_t)));
  for (uint32_t i = 1; i < arena.config.band_count && id_marks[0] != nullptr; i++)
    id_marks[i] = id_marks[i - 1] + arena.bands[i - 1].ids;
  if (page_marks == nullptr || id_marks[0] == nullptr || row_marks == nullptr || !checker.prepare(arena.config))
    return UT_FAIL(UT_NO_MEMORY, "open", "out of host memory");
  return UT_OK;
}

} // namespace ut::cuda

using ut::cuda::Geometry;
using ut::cuda::Status;

namespace {

Status make_geometry(const ut_config &config, const ut::cuda::Arena *reuse, Geometry *&made) {
  auto *geometry = new (std::nothrow) Geometry;
  if (geometry == nullptr) return UT_FAIL(UT_NO_MEMORY, "open", "out of host memory");
  Status status = geometry->arena.take(config, reuse);
  if (status == UT_OK) status = geometry->prepare();
  if (status != UT_OK) {
    delete geometry;
    return status;
  }
  made = geometry;
  return UT_OK;
}

Status read_properties(uint32_t ordinal, ut::cuda::CopyDevice &properties) {
  const auto device = static_cast<int>(ordinal);
  int multiprocessors = 0, shared = 0, major = 0;
  UT_TRY(UT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)));
  UT_TRY(UT_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)));
  UT_TRY(UT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)));
  properties = {static_cast<uint32_t>(multiprocessors), static_cast<uint32_t>(shared), major >= 9};
  return UT_OK;
}

} // namespace

ut_device::~ut_device() {
  // Work may still be under way, and memory must not go before it. On a lost device this fails at once.
  (void)streams.settle_all();
  if (slots != nullptr) {
    for (uint32_t handle = 0; handle < ut::handle_limit; handle++) {
      events.give(slots[handle].end);
      events.give(slots[handle].read_end);
    }
    std::free(slots);
  }
  delete geometry;
}

Status ut_device::open(const ut_config &config) {
  ordinal = config.device;
  slots = static_cast<ut::cuda::HandleSlot *>(std::calloc(ut::handle_limit, sizeof(ut::cuda::HandleSlot)));
  if (slots == nullptr) return UT_FAIL(UT_NO_MEMORY, "open", "out of host memory");
  UT_TRY(read_properties(ordinal, properties));
  UT_TRY(streams.make());
  UT_TRY(ring.make());
  UT_TRY(events.fill(256));
  UT_TRY(make_geometry(config, nullptr, geometry));
  UT_TRY(geometry->arena.fill(streams.of(ut::cuda::kSchedule)));
  return prewarm();
}

// The new geometry stands before the old one goes, so that a failure leaves the old one as it was.
Status ut_device::resize(const ut_config &config) {
  if (config.device != ordinal)
    return ut::cuda::refuse("device %u is not the one that was opened, %u", config.device, ordinal);
  UT_TRY(streams.settle_all());
  Geometry *made = nullptr;
  UT_TRY(make_geometry(config, &geometry->arena, made));
  made->arena.adopt(geometry->arena);
  delete geometry;
  geometry = made;
  for (uint32_t handle = 0; handle < ut::handle_limit; handle++) {
    events.give(slots[handle].end);
    events.give(slots[handle].read_end);
    slots[handle] = {};
  }
  forwards = 0;
  return geometry->arena.fill(streams.of(ut::cuda::kSchedule));
}

// Every kernel once, with nothing to do: its code is loaded now and not inside the first operation.
Status ut_device::prewarm() {
  using namespace ut::cuda;
  const View &view = geometry->arena.view;
  cudaStream_t stream = streams.of(kSchedule);
  UT_TRY(UT_CUDA(prewarm_copy(properties, view.arena, stream)));
  UT_TRY(UT_CUDA(prewarm_schedule(view, stream)));
  UT_TRY(UT_CUDA(prewarm_stamp(view, stream)));
  UT_TRY(UT_CUDA(prewarm_forward(view, stream)));
  UT_TRY(UT_CUDA(prewarm_hash(view, stream)));
  UT_TRY(UT_CUDA(prewarm_translate(stream)));
  UT_TRY(UT_CUDA(prewarm_host_copy(view, stream)));
  UT_TRY(UT_CUDA(prewarm_pause(stream)));
  return UT_CUDA(cudaStreamSynchronize(stream));
}

void ut_device::lose(const char *why) {
  is_lost = true;
  std::snprintf(lost_because, sizeof lost_because, "the device is lost: %s", why);
}
