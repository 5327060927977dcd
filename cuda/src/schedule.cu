#include "schedule.cuh"

#include <algorithm>

#include "bulk.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;

// --- tables ---

// `thread` of `threads` apply a verb together; the elements of one verb do not depend on each other.
__device__ void bind_ids(const View &view, const int32_t *verb, uint64_t thread, uint64_t threads) {
  const BandView &band = view.bands[verb[2]];
  const bool is_fresh = (verb[3] & 1) != 0 && band.expected != nullptr;
  const uint32_t n = static_cast<uint32_t>(verb[4]);
  const int32_t *pairs = verb + 5;
  for (uint64_t i = thread; i < n; i += threads) band.v2p[pairs[2 * i]] = pairs[2 * i + 1];
  if (!is_fresh) return;
  for (uint64_t i = thread; i < static_cast<uint64_t>(n) * band.units; i += threads) {
    const uint64_t entry = i / band.units;
    const uint64_t id = static_cast<uint32_t>(pairs[2 * entry]);
    band.expected[id * band.units + (i - entry * band.units)] = 0;
  }
}

__device__ void write_row(const View &view, const int32_t *verb, uint64_t thread, uint64_t threads) {
  int32_t *cells = view.rows + static_cast<uint64_t>(verb[2]) * view.row_pages + verb[3];
  const uint32_t n = static_cast<uint32_t>(verb[4]);
  for (uint64_t i = thread; i < n; i += threads) cells[i] = verb[5 + i];
}

__device__ void expect_units(const View &view, const int32_t *verb, uint64_t thread, uint64_t threads) {
  const BandView &band = view.bands[verb[2]];
  if (band.expected == nullptr) return;
  const uint32_t n = static_cast<uint32_t>(verb[3]);
  const uint64_t record = 1ull + band.units;
  for (uint64_t i = thread; i < static_cast<uint64_t>(n) * band.units; i += threads) {
    const uint64_t entry = i / band.units;
    const uint64_t unit = i - entry * band.units;
    const int32_t *words = verb + 4 + entry * record;
    band.expected[static_cast<uint64_t>(words[0]) * band.units + unit] = static_cast<uint32_t>(words[1 + unit]);
  }
}

__device__ void apply_verb(const View &view, const int32_t *verb, uint64_t thread, uint64_t threads) {
  if (verb[0] == UT_BIND)
    bind_ids(view, verb, thread, threads);
  else if (verb[0] == UT_ROW)
    write_row(view, verb, thread, threads);
  else
    expect_units(view, verb, thread, threads);
}

// One block, verb after verb: later verbs may name what earlier ones wrote.
__device__ void apply_verbs(const View &view, const int32_t *words, uint32_t count) {
  for (uint32_t at = 0; at < count; at += static_cast<uint32_t>(words[at + 1])) {
    apply_verb(view, words + at, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads) wide_verb_kernel(View view, const int32_t *verb) {
  if (verb == nullptr) return;
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * kThreads;
  apply_verb(view, verb, static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x, threads);
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

// `block` of `blocks` take chunks in turn. On sm_90 one thread sends the same zeros out of shared memory again and again.
__device__ void zero_chunks(const View &view, const int32_t *words, uint64_t chunks, uint32_t chunk_bytes, uint32_t block,
                            uint32_t blocks) {
  ZeroCursor cursor{words, 0};
#ifdef UT_HAS_BULK
  __shared__ __align__(128) uint4 zeros[kZeroChunkMax / 16];
  for (uint32_t i = threadIdx.x; i < chunk_bytes / 16; i += kThreads) zeros[i] = make_uint4(0, 0, 0, 0);
  fence_shared_to_engine();
  __syncthreads();
#endif
  for (uint64_t index = block; index < chunks; index += blocks) {
    const ZeroChunk chunk = cursor.at(view, index, chunk_bytes);
#ifdef UT_HAS_BULK
    if (is_aligned(chunk)) {
      if (threadIdx.x == 0) {
        bulk_store(chunk.to, zeros, chunk.bytes);
        bulk_commit();
      }
      continue;
    }
#endif
    zero_words_of(chunk);
  }
#ifdef UT_HAS_BULK
  if (threadIdx.x == 0) bulk_wait_all();
#endif
}

template <uint32_t Capacity>
__global__ void __launch_bounds__(kThreads)
schedule_kernel(const __grid_constant__ Words<Capacity> words, View view, uint32_t zero_words, uint32_t table_words,
                uint64_t chunks, uint32_t chunk_bytes) {
  const int32_t *list = words.begin();
  const uint32_t table_blocks = table_words != 0 ? 1 : 0;
  if (blockIdx.x < table_blocks) {
    apply_verbs(view, list + zero_words, table_words);
    return;
  }
  if (chunks == 0) return;
  zero_chunks(view, list, chunks, chunk_bytes, blockIdx.x - table_blocks, gridDim.x - table_blocks);
}

} // namespace

// Few bytes are cut finer, so that every multiprocessor has some.
ZeroPlan choose_zero_plan(uint32_t multiprocessors, uint64_t bytes) {
  const uint32_t blocks_max = multiprocessors * 4;
  return {bytes / kZeroChunkMax < blocks_max ? kZeroChunkMax / 4 : kZeroChunkMax, blocks_max};
}

cudaError_t launch_schedule(const View &view, const ScheduleList &list, uint64_t chunks, const ZeroPlan &plan,
                            cudaStream_t stream) {
  const uint32_t table_blocks = list.table_words != 0 ? 1 : 0;
  const auto zero_blocks = static_cast<uint32_t>(std::min<uint64_t>(chunks, plan.blocks_max));
  return with_words(list.words, [&](const auto &words) {
    schedule_kernel<<<table_blocks + zero_blocks, kThreads, 0, stream>>>(words, view, list.zero_words, list.table_words,
                                                                        chunks, plan.chunk_bytes);
    return cudaGetLastError();
  });
}

cudaError_t launch_wide_verb(const View &view, const int32_t *outside, uint64_t elements, cudaStream_t stream) {
  const uint64_t blocks = (elements + kThreads * 4 - 1) / (kThreads * 4);
  wide_verb_kernel<<<static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(blocks, 1), 1024)), kThreads, 0, stream>>>(
      view, outside);
  return cudaGetLastError();
}

uint64_t table_elements(const int32_t *verb, uint32_t units) {
  if (verb[0] == UT_ROW) return static_cast<uint32_t>(verb[4]);
  if (verb[0] == UT_BIND) {
    const uint64_t n = static_cast<uint32_t>(verb[4]);
    return (verb[3] & 1) != 0 ? n * (1ull + units) : n;
  }
  return static_cast<uint64_t>(static_cast<uint32_t>(verb[3])) * units;
}

cudaError_t prewarm_schedule(const View &view, cudaStream_t stream) {
  const auto load = [&](const auto &words) {
    schedule_kernel<<<1, kThreads, 0, stream>>>(words, view, 0u, 0u, uint64_t{0}, 16u);
    return cudaGetLastError();
  };
  if (const auto error = with_each_words(load); error != cudaSuccess) return error;
  wide_verb_kernel<<<1, kThreads, 0, stream>>>(view, nullptr);
  return cudaGetLastError();
}

} // namespace ut::cuda
