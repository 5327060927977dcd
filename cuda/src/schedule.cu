#include "schedule.cuh"

#include <algorithm>

#include "bulk.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;

// --- tables ---

// Cells from `first` to `last` of a verb, by one block. Cells of a bind: the places, then what is expected under fresh
// ids.
__device__ void bind_ids(const View &view, const int32_t *verb, uint64_t first, uint64_t last) {
  const BandView &band = view.bands[verb[2]];
  const uint64_t n = static_cast<uint32_t>(verb[4]);
  const int32_t *pairs = verb + 5;
  const uint64_t end = (verb[3] & 1) != 0 && band.expected != nullptr ? n * (1ull + band.units) : n;
  for (uint64_t i = first + threadIdx.x; i < min(last, end); i += kThreads) {
    if (i < n) {
      band.v2p[pairs[2 * i]] = pairs[2 * i + 1];
      continue;
    }
    const uint64_t entry = (i - n) / band.units;
    const uint64_t id = static_cast<uint32_t>(pairs[2 * entry]);
    band.expected[id * band.units + (i - n - entry * band.units)] = 0;
  }
}

__device__ void write_row(const View &view, const int32_t *verb, uint64_t first, uint64_t last) {
  int32_t *cells = view.rows + static_cast<uint64_t>(verb[2]) * view.row_pages + verb[3];
  const uint64_t n = static_cast<uint32_t>(verb[4]);
  for (uint64_t i = first + threadIdx.x; i < min(last, n); i += kThreads) cells[i] = verb[5 + i];
}

__device__ void expect_units(const View &view, const int32_t *verb, uint64_t first, uint64_t last) {
  const BandView &band = view.bands[verb[2]];
  if (band.expected == nullptr) return;
  const uint64_t end = static_cast<uint64_t>(static_cast<uint32_t>(verb[3])) * band.units;
  const uint64_t record = 1ull + band.units;
  for (uint64_t i = first + threadIdx.x; i < min(last, end); i += kThreads) {
    const uint64_t entry = i / band.units;
    const uint64_t unit = i - entry * band.units;
    const int32_t *words = verb + 4 + entry * record;
    band.expected[static_cast<uint64_t>(words[0]) * band.units + unit] = static_cast<uint32_t>(words[1 + unit]);
  }
}

__device__ void do_task(const View &view, const int32_t *table_words, const int32_t *task) {
  const int32_t *verb = table_words + task[0];
  const uint64_t first = static_cast<uint32_t>(task[1]);
  if (verb[0] == UT_BIND)
    bind_ids(view, verb, first, first + kTaskCells);
  else if (verb[0] == UT_ROW)
    write_row(view, verb, first, first + kTaskCells);
  else
    expect_units(view, verb, first, first + kTaskCells);
}

// --- zero ---

struct ZeroChunk {
  uint8_t *to;
  uint32_t bytes;
};

// Walks the UT_ZERO verbs forward; indices must not go back.
struct ZeroCursor {
  const int32_t *verb;
  uint64_t first; // index of the verb's first chunk

  __device__ ZeroChunk at(const View &view, uint64_t index, uint32_t chunk_bytes) {
    for (;;) {
      const uint64_t page_bytes = view.bands[verb[2]].page_bytes;
      const uint64_t per_page = (page_bytes + chunk_bytes - 1) / chunk_bytes;
      const uint64_t here = per_page * static_cast<uint32_t>(verb[3]);
      if (index - first < here) {
        const uint64_t entry = (index - first) / per_page;
        const uint64_t offset = (index - first - entry * per_page) * chunk_bytes;
        const uint64_t left = page_bytes - offset;
        uint8_t *page = view.arena + static_cast<uint32_t>(verb[4 + entry]) * page_bytes;
        return {page + offset, static_cast<uint32_t>(left < chunk_bytes ? left : chunk_bytes)};
      }
      first += here;
      verb += verb[1];
    }
  }
};

__device__ __forceinline__ bool is_aligned(const ZeroChunk &chunk) {
  return ((reinterpret_cast<uint64_t>(chunk.to) | chunk.bytes) & 15) == 0;
}

__device__ void zero_words_of(const ZeroChunk &chunk) {
  if (is_aligned(chunk)) {
    auto *to = reinterpret_cast<uint4 *>(chunk.to);
    for (uint32_t i = threadIdx.x; i < chunk.bytes / 16; i += kThreads) __stcs(to + i, make_uint4(0, 0, 0, 0));
  } else {
    auto *to = reinterpret_cast<uint32_t *>(chunk.to);
    for (uint32_t i = threadIdx.x; i < chunk.bytes / 4; i += kThreads) to[i] = 0;
  }
}

// `block` of `blocks` take chunks in turn. On sm_90 whole chunks are sent out of shared memory, the same zeros again
// and again: each lane of one warp looks up and sends its own, so that a list in host memory is waited for once every
// 32 chunks.
__device__ void zero_chunks(const View &view, const int32_t *words, uint64_t chunks, uint32_t chunk_bytes,
                            bool has_odd_pages, uint32_t block, uint32_t blocks) {
#ifdef UT_HAS_BULK
  constexpr bool has_bulk = true;
  __shared__ __align__(128) uint4 zeros[kZeroChunkMax / 16];
  for (uint32_t i = threadIdx.x; i < chunk_bytes / 16; i += kThreads) zeros[i] = make_uint4(0, 0, 0, 0);
  fence_shared_to_engine();
  __syncthreads();
  if (threadIdx.x < 32) {
    ZeroCursor cursor{words, 0};
    for (uint64_t index = block + static_cast<uint64_t>(threadIdx.x) * blocks; index < chunks;
         index += 32ull * blocks) {
      const ZeroChunk chunk = cursor.at(view, index, chunk_bytes);
      if (is_aligned(chunk)) bulk_store(chunk.to, zeros, chunk.bytes);
    }
    bulk_commit();
    bulk_wait_all();
  }
#else
  constexpr bool has_bulk = false;
#endif
  if (has_bulk && !has_odd_pages) return;
  ZeroCursor cursor{words, 0};
  for (uint64_t index = block; index < chunks; index += blocks) {
    const ZeroChunk chunk = cursor.at(view, index, chunk_bytes);
    if (!has_bulk || !is_aligned(chunk)) zero_words_of(chunk);
  }
}

template <uint32_t Capacity>
__global__ void __launch_bounds__(kThreads)
    schedule_kernel(const __grid_constant__ Words<Capacity> words, View view, uint32_t zero_words, uint32_t table_words,
                    uint32_t tasks, uint64_t chunks, uint32_t chunk_bytes, bool has_odd_pages) {
  const int32_t *list = words.begin();
  const int32_t *tables = list + zero_words;
  if (blockIdx.x < tasks)
    do_task(view, tables, tables + table_words + 2ull * blockIdx.x);
  else if (chunks != 0)
    zero_chunks(view, list, chunks, chunk_bytes, has_odd_pages, blockIdx.x - tasks, gridDim.x - tasks);
}

} // namespace

// Few bytes are cut finer, so that every multiprocessor has some.
ZeroPlan choose_zero_plan(uint32_t multiprocessors, uint64_t bytes) {
  const uint32_t blocks_max = multiprocessors * 4;
  return {bytes / kZeroChunkMax < blocks_max ? kZeroChunkMax / 4 : kZeroChunkMax, blocks_max};
}

cudaError_t launch_schedule(const View &view, const ScheduleList &list, uint64_t chunks, bool has_odd_pages,
                            const ZeroPlan &plan, cudaStream_t stream) {
  const auto zero_blocks = static_cast<uint32_t>(std::min<uint64_t>(chunks, plan.blocks_max));
  return with_words(list.words, [&](const auto &words) {
    schedule_kernel<<<list.tasks + zero_blocks, kThreads, 0, stream>>>(
        words, view, list.zero_words, list.table_words, list.tasks, chunks, plan.chunk_bytes, has_odd_pages);
    return cudaGetLastError();
  });
}

cudaError_t prewarm_schedule(const View &view, cudaStream_t stream) {
  return with_each_words([&](const auto &words) {
    schedule_kernel<<<1, kThreads, 0, stream>>>(words, view, 0u, 0u, 0u, uint64_t{0}, 16u, false);
    return cudaGetLastError();
  });
}

} // namespace ut::cuda
