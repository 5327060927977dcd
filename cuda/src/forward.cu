#include "forward.cuh"

#include <cooperative_groups.h>

#include <algorithm>

#include "units.cuh"

namespace ut::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kPartsMax = 1024; // blocks along one row

__device__ void copy_expected(const BandView &band, uint32_t id, uint32_t entry) {
  const uint32_t *from = band.expected + static_cast<uint64_t>(id) * band.units;
  uint32_t *to = band.step_expected + static_cast<uint64_t>(entry) * band.units;
  if (band.units % 4 == 0) { // both tables start at multiples of 16 bytes
    for (uint32_t quad = 0; quad < band.units / 4; quad++)
      reinterpret_cast<uint4 *>(to)[quad] = reinterpret_cast<const uint4 *>(from)[quad];
  } else {
    for (uint32_t unit = 0; unit < band.units; unit++) to[unit] = from[unit];
  }
}

// The mark lets an id in once a forward; that bounds the buffer by the ids of the band.
__device__ void enter(const BandView &band, uint32_t id, uint32_t number) {
  if (id == 0 || id >= band.ids) return;
  const int32_t page = band.v2p[id];
  if (page == 0) return;
  if (atomicExch(&band.marks[id], number) == number) return;
  const auto together = cg::coalesced_threads();
  uint32_t first = 0;
  if (together.thread_rank() == 0) first = atomicAdd(&band.step_counts[number & 1], together.size());
  const uint32_t entry = together.shfl(first, 0) + together.thread_rank();
  if (entry >= band.step_capacity) return; // never: an id enters once
  band.step_places[entry] = {static_cast<int32_t>(id), page};
  copy_expected(band, id, entry);
}

// Blocks (r, part) take cells of row r; the blocks behind them take states.
__global__ void __launch_bounds__(kThreads)
    snapshot_kernel(View view, ForwardReads reads, uint32_t number, bool checks) {
  if (blockIdx.x < reads.row_count) {
    const uint32_t row = static_cast<uint32_t>(reads.rows[2 * blockIdx.x]);
    const uint32_t pages = static_cast<uint32_t>(reads.rows[2 * blockIdx.x + 1]);
    if (blockIdx.y == 0 && threadIdx.x == 0) atomicAdd(&view.counters[row], 1u);
    if (!checks) return;
    const int32_t *cells = view.rows + static_cast<uint64_t>(row) * view.row_pages;
    for (uint32_t cell = blockIdx.y * kThreads + threadIdx.x; cell < pages; cell += gridDim.y * kThreads) {
      const auto id = static_cast<uint32_t>(cells[cell]);
      for (uint32_t b = 0; b < view.band_count; b++) {
        const BandView &band = view.bands[b];
        if (band.is_state == 0) enter(band, id, number);
      }
    }
    return;
  }
  const uint32_t state = (blockIdx.x - reads.row_count) * kThreads + threadIdx.x;
  if (!checks || blockIdx.y != 0 || state >= reads.state_count) return;
  enter(view.bands[reads.states[2 * state]], static_cast<uint32_t>(reads.states[2 * state + 1]), number);
}

// One warp a write: the place by lane 0, the notes by all.
__global__ void __launch_bounds__(kThreads)
    note_writes_kernel(View view, const int32_t *writes, uint32_t n, WritePlace *places, uint32_t handle) {
  const uint32_t index = (blockIdx.x * kThreads + threadIdx.x) / 32;
  const uint32_t lane = threadIdx.x % 32;
  if (index >= n) return;
  const int32_t *write = writes + 6ull * index;
  const BandView &band = view.bands[write[0]];
  const auto id = static_cast<uint32_t>(write[1]);
  const auto from = static_cast<uint32_t>(write[2]), to = static_cast<uint32_t>(write[3]);
  const auto position = static_cast<uint32_t>(write[4]), writer = static_cast<uint32_t>(write[5]);
  if (lane == 0) {
    const auto page = static_cast<uint32_t>(band.v2p[id]);
    places[index] = {static_cast<uint32_t>(write[0]), page, from, to, position, writer};
    if (page == 0 && from < to) {
      const uint32_t stamp = ut_stamp_of(writer, position + from);
      report_fault(view.faults, {3, handle, static_cast<uint32_t>(write[0]), id, 0, from, stamp, 0});
    }
  }
  if (band.expected == nullptr) return;
  uint32_t *expected = band.expected + static_cast<uint64_t>(id) * band.units;
  for (uint32_t unit = from + lane; unit < to; unit += 32) expected[unit] = ut_stamp_of(writer, position + unit);
}

__device__ void check_unit(const View &view, uint32_t band_index, const StepPlace &place, uint32_t unit, uint32_t stamp,
                           uint32_t number, uint32_t handle) {
  const BandView &band = view.bands[band_index];
  const auto *words = reinterpret_cast<const uint32_t *>(unit_at(view, band, static_cast<uint32_t>(place.page), unit));
  const uint32_t count = band.unit_bytes / 4;
  const uint32_t other = count > 1 ? 1 + ut_mix_b(number, unit, stamp) % (count - 1) : 0;
  const uint32_t first = words[0];
  if (first == stamp && words[other] == ut_payload_word(stamp, other)) return;
  report_fault(view.faults, {1, handle, band_index, static_cast<uint32_t>(place.id), static_cast<uint32_t>(place.page),
                             unit, stamp, first == stamp ? kTorn : first});
}

// Also makes the counts ready for the forward after the next.
__global__ void __launch_bounds__(kThreads) check_reads_kernel(View view, uint32_t number, uint32_t handle) {
  const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * kThreads;
  for (uint32_t b = 0; b < view.band_count; b++) {
    const BandView &band = view.bands[b];
    if (band.step_counts == nullptr) continue;
    const uint32_t count = min(band.step_counts[number & 1], band.step_capacity);
    if (thread == 0) band.step_counts[(number & 1) ^ 1] = 0;
    const uint64_t all = static_cast<uint64_t>(count) * band.units;
    for (uint64_t i = thread; i < all; i += threads) {
      const uint32_t stamp = band.step_expected[i];
      if (stamp == 0) continue;
      const uint64_t entry = i / band.units;
      check_unit(view, b, band.step_places[entry], static_cast<uint32_t>(i - entry * band.units), stamp, number,
                 handle);
    }
  }
}

__global__ void __launch_bounds__(kThreads) reset_kernel(View view, const int32_t *rows, uint32_t n) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) view.counters[rows[i]] = 0;
}

uint32_t blocks_for(uint64_t threads) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (threads + kThreads - 1) / kThreads));
}

} // namespace

cudaError_t launch_snapshot(const View &view, const ForwardReads &reads, uint32_t number, bool checks,
                            cudaStream_t stream) {
  const uint32_t state_blocks = (reads.state_count + kThreads - 1) / kThreads;
  const dim3 grid(std::max(1u, reads.row_count + state_blocks),
                  checks ? std::min(kPartsMax, blocks_for(reads.pages_max)) : 1);
  snapshot_kernel<<<grid, kThreads, 0, stream>>>(view, reads, number, checks);
  return cudaGetLastError();
}

cudaError_t launch_note_writes(const View &view, const int32_t *writes, uint32_t n, WritePlace *places, uint32_t handle,
                               cudaStream_t stream) {
  note_writes_kernel<<<blocks_for(32ull * n), kThreads, 0, stream>>>(view, writes, n, places, handle);
  return cudaGetLastError();
}

cudaError_t launch_check_reads(const View &view, uint32_t number, uint32_t handle, uint32_t multiprocessors,
                               cudaStream_t stream) {
  check_reads_kernel<<<multiprocessors * 4, kThreads, 0, stream>>>(view, number, handle);
  return cudaGetLastError();
}

cudaError_t launch_reset(const View &view, const int32_t *rows, uint32_t n, cudaStream_t stream) {
  reset_kernel<<<blocks_for(n), kThreads, 0, stream>>>(view, rows, n);
  return cudaGetLastError();
}

cudaError_t prewarm_forward(const View &view, cudaStream_t stream) {
  if (const auto error = launch_snapshot(view, {}, 1, true, stream); error != cudaSuccess) return error;
  if (const auto error = launch_note_writes(view, nullptr, 0, nullptr, 0, stream); error != cudaSuccess) return error;
  if (const auto error = launch_check_reads(view, 1, 0, 1, stream); error != cudaSuccess) return error;
  return launch_reset(view, nullptr, 0, stream);
}

} // namespace ut::cuda
