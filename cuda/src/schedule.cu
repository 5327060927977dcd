#include "schedule.cuh"

#include <algorithm>

#include "bulk.cuh"
#include "deal.cuh"

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

__device__ void zero_words_of(const ZeroChunk &chunk, bool evict_first) {
  if (is_aligned(chunk)) {
    auto *to = reinterpret_cast<uint4 *>(chunk.to);
    const uint4 zero = make_uint4(0, 0, 0, 0);
    if (evict_first) {
#pragma unroll 4
      for (uint32_t i = threadIdx.x; i < chunk.bytes / 16; i += kThreads) __stcs(to + i, zero);
    } else {
#pragma unroll 4
      for (uint32_t i = threadIdx.x; i < chunk.bytes / 16; i += kThreads) to[i] = zero;
    }
  } else {
    auto *to = reinterpret_cast<uint32_t *>(chunk.to);
    for (uint32_t i = threadIdx.x; i < chunk.bytes / 4; i += kThreads) to[i] = 0;
  }
}

struct Zeroing {
  uint64_t chunks;
  uint32_t chunk_bytes;
  uint32_t run;
  bool has_odd_pages;
  bool is_bulk;
  bool evict_first;
};

// On sm_90 whole chunks are sent out of shared memory, the same zeros again and again. Each lane of one warp sends its
// own.
__device__ void send_zeros(const View &view, const int32_t *words, const Zeroing &zeroing, const Share &share) {
#ifdef UT_HAS_BULK
  __shared__ __align__(128) uint4 zeros[kZeroChunkMax / 16];
  for (uint32_t i = threadIdx.x; i < zeroing.chunk_bytes / 16; i += kThreads) zeros[i] = make_uint4(0, 0, 0, 0);
  fence_shared_to_engine();
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const uint64_t policy = policy_evict_first();
  ZeroCursor cursor{words, 0};
  for (uint64_t i = threadIdx.x; i < share.count; i += 32) {
    const ZeroChunk chunk = cursor.at(view, share.at(i), zeroing.chunk_bytes);
    if (!is_aligned(chunk)) continue;
    if (zeroing.evict_first)
      bulk_store(chunk.to, zeros, chunk.bytes, policy);
    else
      bulk_store(chunk.to, zeros, chunk.bytes);
  }
  bulk_commit();
  bulk_wait_all();
#endif
}

// The lanes of a warp look up 32 chunks at once, so that a list in host memory is waited for once every 32 chunks.
__device__ void zero_chunks(const View &view, const int32_t *words, const Zeroing &zeroing, uint32_t block,
                            uint32_t blocks) {
#ifdef UT_HAS_BULK
  const bool is_bulk = zeroing.is_bulk;
#else
  constexpr bool is_bulk = false;
#endif
  const Share share = share_of(zeroing.chunks, zeroing.run, block, blocks);
  if (is_bulk) send_zeros(view, words, zeroing, share);
  if (is_bulk && !zeroing.has_odd_pages) return;
  __syncwarp();
  const uint32_t lane = threadIdx.x % 32;
  ZeroCursor cursor{words, 0};
  for (uint64_t first = 0; first < share.count; first += 32) {
    ZeroChunk mine{};
    if (first + lane < share.count) mine = cursor.at(view, share.at(first + lane), zeroing.chunk_bytes);
    __syncwarp();
    const auto here = static_cast<uint32_t>(min(uint64_t{32}, share.count - first));
    for (uint32_t i = 0; i < here; i++) {
      const auto to = __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(mine.to), i);
      const ZeroChunk chunk{reinterpret_cast<uint8_t *>(to), __shfl_sync(0xffffffffu, mine.bytes, i)};
      if (!is_bulk || !is_aligned(chunk)) zero_words_of(chunk, zeroing.evict_first);
    }
  }
}

template <uint32_t Capacity>
__global__ void __launch_bounds__(kThreads)
    schedule_kernel(const __grid_constant__ Words<Capacity> words, View view, uint32_t zero_words, uint32_t table_words,
                    uint32_t tasks, Zeroing zeroing) {
  const int32_t *list = words.begin();
  const int32_t *tables = list + zero_words;
  if (blockIdx.x < tasks)
    do_task(view, tables, tables + table_words + 2ull * blockIdx.x);
  else if (zeroing.chunks != 0)
    zero_chunks(view, list, zeroing, blockIdx.x - tasks, gridDim.x - tasks);
}

// The first row whose bytes are reached decides.
struct ZeroRule {
  uint64_t bytes; // of all pages together
  uint32_t blocks_per_sm;
  ZeroPlan plan; // blocks_max is filled in
};
constexpr ZeroRule kZeroRules[] = {
    {1536 << 20, 1, {4 << 10, 0, kEvenly, true, true}},
    {512 << 20, 2, {16 << 10, 0, kEvenly, true, false}},
    {8 << 20, 4, {16 << 10, 0, kEvenly, true, false}},
    {0, 4, {4 << 10, 0, kEvenly, true, false}},
};

} // namespace

ZeroPlan choose_zero_plan(uint32_t multiprocessors, uint64_t bytes) {
  const ZeroRule *rule = kZeroRules;
  while (bytes < rule->bytes) rule++;
  ZeroPlan plan = rule->plan;
  plan.blocks_max = multiprocessors * rule->blocks_per_sm;
  return plan;
}

cudaError_t launch_schedule(const View &view, const ScheduleList &list, uint64_t chunks, bool has_odd_pages,
                            const ZeroPlan &plan, cudaStream_t stream) {
  const auto zero_blocks = static_cast<uint32_t>(std::min<uint64_t>(chunks, plan.blocks_max));
  return with_words(list.words, [&](const auto &words) {
    schedule_kernel<<<list.tasks + zero_blocks, kThreads, 0, stream>>>(
        words, view, list.zero_words, list.table_words, list.tasks,
        Zeroing{chunks, plan.chunk_bytes, plan.run, has_odd_pages, plan.is_bulk, plan.evict_first});
    return cudaGetLastError();
  });
}

cudaError_t prewarm_schedule(const View &view, cudaStream_t stream) {
  return with_each_words([&](const auto &words) {
    schedule_kernel<<<1, kThreads, 0, stream>>>(words, view, 0u, 0u, 0u, Zeroing{});
    return cudaGetLastError();
  });
}

} // namespace ut::cuda
