#include "copy.cuh"

#include <algorithm>

#include "bulk.cuh"
#include "deal.cuh"

namespace ut::cuda {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kQueue = 64; // two refills of a warp; the oldest chunk in use is at most kStagesMax behind
constexpr uint32_t kVectorThreads = 256;
static_assert(kStagesMax + kWarp <= kQueue, "a refill must not overwrite chunks that are still under way");

struct Chunks {
  uint64_t page_bytes;
  uint32_t chunk_bytes;
  uint32_t per_page;
  uint64_t total;
  uint32_t run;
};

struct Pace {
  uint32_t stages;
  uint32_t stores_pending;
  bool evict_first;
};

struct Chunk {
  const uint8_t *from;
  uint8_t *to;
  uint32_t bytes;
};

__device__ __forceinline__ Chunk chunk_at(const Chunks &chunks, const int32_t *pairs, uint8_t *arena, uint64_t index) {
  const uint32_t pair = index <= 0xffffffffu ? static_cast<uint32_t>(index) / chunks.per_page
                                             : static_cast<uint32_t>(index / chunks.per_page);
  const uint32_t part = static_cast<uint32_t>(index - static_cast<uint64_t>(pair) * chunks.per_page);
  const uint64_t offset = static_cast<uint64_t>(part) * chunks.chunk_bytes;
  const uint64_t left = chunks.page_bytes - offset;
  const uint64_t from = static_cast<uint32_t>(pairs[2 * pair]) * chunks.page_bytes + offset;
  const uint64_t to = static_cast<uint32_t>(pairs[2 * pair + 1]) * chunks.page_bytes + offset;
  return {arena + from, arena + to, static_cast<uint32_t>(left < chunks.chunk_bytes ? left : chunks.chunk_bytes)};
}

// One warp a block: lane 0 drives the engine, all lanes look up the addresses of the next 32 chunks at once, so that a
// list in host memory is read once every 32 chunks and not chunk by chunk. Loads run stages - stores_pending chunks
// ahead.
template <uint32_t Capacity>
__global__ void __launch_bounds__(kWarp)
    copy_bulk_kernel(const __grid_constant__ Words<Capacity> words, uint8_t *arena, Chunks chunks, Pace pace) {
#ifdef UT_HAS_BULK
  extern __shared__ __align__(128) uint8_t buffers[];
  __shared__ uint64_t loaded[kStagesMax];
  __shared__ Chunk queue[kQueue];
  const uint32_t lane = threadIdx.x;
  if (lane == 0) {
    for (uint32_t stage = 0; stage < pace.stages; stage++) barrier_init(&loaded[stage], 1);
    fence_barrier_init();
  }
  __syncwarp();
  const Share share = share_of(chunks.total, chunks.run, blockIdx.x, gridDim.x);
  const uint64_t count = share.count;
  const int32_t *pairs = words.begin();
  const uint64_t policy = policy_evict_first();
  uint64_t asked = 0;
  uint32_t ask_stage = 0, store_stage = 0, parity = 0;
  const auto ask = [&] { // the next load, all lanes
    if (asked % kWarp == 0) {
      const uint64_t mine = asked + lane;
      if (mine < count) queue[mine % kQueue] = chunk_at(chunks, pairs, arena, share.at(mine));
      __syncwarp();
    }
    if (lane == 0) {
      const Chunk chunk = queue[asked % kQueue];
      barrier_expect(&loaded[ask_stage], chunk.bytes);
      uint8_t *into = buffers + ask_stage * chunks.chunk_bytes;
      if (pace.evict_first)
        bulk_load(into, chunk.from, chunk.bytes, &loaded[ask_stage], policy);
      else
        bulk_load(into, chunk.from, chunk.bytes, &loaded[ask_stage]);
    }
    asked++;
    ask_stage = ask_stage + 1 == pace.stages ? 0 : ask_stage + 1;
  };
  for (uint32_t ahead = 0; ahead + pace.stores_pending < pace.stages && asked < count; ahead++) ask();
  for (uint64_t i = 0; i < count; i++) {
    if (lane == 0) {
      const Chunk chunk = queue[i % kQueue];
      barrier_wait(&loaded[store_stage], parity);
      const uint8_t *out_of = buffers + store_stage * chunks.chunk_bytes;
      if (pace.evict_first)
        bulk_store(chunk.to, out_of, chunk.bytes, policy);
      else
        bulk_store(chunk.to, out_of, chunk.bytes);
      bulk_commit();
      if (pace.stores_pending == 1)
        bulk_wait_read<1>();
      else if (pace.stores_pending == 2)
        bulk_wait_read<2>();
      else
        bulk_wait_read<4>();
    }
    if (++store_stage == pace.stages) {
      store_stage = 0;
      parity ^= 1;
    }
    __syncwarp(); // lane 0 has read its chunk before a refill may write the queue
    if (asked < count) ask();
  }
  if (lane == 0) bulk_wait_all();
#endif
}

template <typename T> __device__ __forceinline__ T *of_lane(T *pointer, uint32_t lane) {
  return reinterpret_cast<T *>(__shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(pointer), lane));
}

// One chunk by the whole block: `Unroll` independent accesses of sizeof(Access) bytes a thread.
template <typename Access, int Unroll>
__device__ __forceinline__ void copy_chunk(const Chunk &chunk, bool evict_first) {
  const auto *from = reinterpret_cast<const Access *>(chunk.from);
  auto *to = reinterpret_cast<Access *>(chunk.to);
  const uint32_t accesses = chunk.bytes / sizeof(Access);
  for (uint32_t first = threadIdx.x; first < accesses; first += kVectorThreads * Unroll) {
    Access held[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; u++) {
      const uint32_t at = first + u * kVectorThreads;
      if (at < accesses) held[u] = evict_first ? __ldcs(from + at) : from[at];
    }
#pragma unroll
    for (int u = 0; u < Unroll; u++) {
      const uint32_t at = first + u * kVectorThreads;
      if (at >= accesses) continue;
      if (evict_first)
        __stcs(to + at, held[u]);
      else
        to[at] = held[u];
    }
  }
}

// Blocks that find room on a multiprocessor: what a thread holds in flight takes registers.
constexpr int vector_blocks(size_t bytes_in_flight) { return bytes_in_flight > 64 ? 3 : 5; }

// The same chunks through registers. Here too the lanes of a warp look up 32 chunks at once.
template <typename Access, int Unroll, uint32_t Capacity>
__global__ void __launch_bounds__(kVectorThreads, vector_blocks(sizeof(Access) * Unroll))
    copy_vector_kernel(const __grid_constant__ Words<Capacity> words, uint8_t *arena, Chunks chunks, bool evict_first) {
  const int32_t *pairs = words.begin();
  const uint32_t lane = threadIdx.x % kWarp;
  const Share share = share_of(chunks.total, chunks.run, blockIdx.x, gridDim.x);
  for (uint64_t first = 0; first < share.count; first += kWarp) {
    Chunk mine{};
    if (first + lane < share.count) mine = chunk_at(chunks, pairs, arena, share.at(first + lane));
    const auto here = static_cast<uint32_t>(min(static_cast<uint64_t>(kWarp), share.count - first));
    for (uint32_t i = 0; i < here; i++) {
      const Chunk chunk{of_lane(mine.from, i), of_lane(mine.to, i), __shfl_sync(0xffffffffu, mine.bytes, i)};
      copy_chunk<Access, Unroll>(chunk, evict_first);
    }
  }
}

template <uint32_t Capacity> cudaError_t allow_shared(const CopyDevice &device) {
  return cudaFuncSetAttribute(copy_bulk_kernel<Capacity>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(device.shared_bytes_max - 2048)); // what the queue and the barriers take
}

// The first row whose both figures are reached decides.
struct CopyRule {
  uint64_t page_bytes;
  uint64_t bytes; // of all pages together
  CopyPlan plan;
};
constexpr CopyRule kCopyRules[] = {
    {1 << 20, 1 << 30, {CopyVariant::bulk, 2 << 10, 4, 2, 8, false, kEvenly}},
    {1 << 20, 128 << 20, {CopyVariant::bulk, 2 << 10, 4, 2, 8, false, 1}},
    {1 << 20, 0, {CopyVariant::bulk, 8 << 10, 8, 2, 2, false, 1}},
    {256 << 10, 512 << 20, {CopyVariant::bulk, 2 << 10, 4, 2, 8, false, kEvenly}},
    {256 << 10, 32 << 20, {CopyVariant::bulk, 4 << 10, 4, 2, 4, false, 1}},
    {64 << 10, 128 << 20, {CopyVariant::bulk, 2 << 10, 4, 2, 8, false, kEvenly}},
    {32 << 10, 0, {CopyVariant::vector, 32 << 10, 4, 0, 4, true, 1}},
    {0, 0, {CopyVariant::vector, 16 << 10, 4, 0, 5, true, 1}},
};

} // namespace

CopyPlan choose_copy_plan(const CopyDevice &device, uint64_t page_bytes, uint32_t pairs) {
  const CopyRule *rule = kCopyRules;
  while (page_bytes < rule->page_bytes || page_bytes * pairs < rule->bytes) rule++;
  const bool is_possible = rule->plan.variant == CopyVariant::vector || (device.has_bulk && page_bytes % 16 == 0);
  return is_possible ? rule->plan : CopyPlan{CopyVariant::vector, 32 << 10, 4, 0, 4, true, 1};
}

cudaError_t launch_copy(const CopyDevice &device, const CopyPlan &plan, uint8_t *arena, uint64_t page_bytes,
                        const List &pairs, uint32_t n, cudaStream_t stream) {
  Chunks chunks{};
  chunks.page_bytes = page_bytes;
  chunks.chunk_bytes = plan.chunk_bytes;
  chunks.per_page = static_cast<uint32_t>((page_bytes + plan.chunk_bytes - 1) / plan.chunk_bytes);
  chunks.total = static_cast<uint64_t>(chunks.per_page) * n;
  chunks.run = plan.run;
  const uint64_t resident = static_cast<uint64_t>(device.multiprocessors) * plan.blocks_per_sm;
  const auto blocks = static_cast<uint32_t>(std::max<uint64_t>(1, std::min(chunks.total, resident)));
  return with_words(pairs, [&](const auto &words) {
    if (plan.variant == CopyVariant::bulk && page_bytes % 16 == 0) {
      const uint32_t shared = plan.stages * plan.chunk_bytes;
      copy_bulk_kernel<<<blocks, kWarp, shared, stream>>>(words, arena, chunks,
                                                          Pace{plan.stages, plan.stores_pending, plan.evict_first});
    } else if (page_bytes % 16 != 0) {
      copy_vector_kernel<uint32_t, 8><<<blocks, kVectorThreads, 0, stream>>>(words, arena, chunks, plan.evict_first);
    } else if (plan.stages <= 4) {
      copy_vector_kernel<uint4, 4><<<blocks, kVectorThreads, 0, stream>>>(words, arena, chunks, plan.evict_first);
    } else {
      copy_vector_kernel<uint4, 8><<<blocks, kVectorThreads, 0, stream>>>(words, arena, chunks, plan.evict_first);
    }
    return cudaGetLastError();
  });
}

cudaError_t prewarm_copy(const CopyDevice &device, uint8_t *arena, cudaStream_t stream) {
  if (device.has_bulk) {
    if (const auto error = allow_shared<2>(device); error != cudaSuccess) return error;
    if (const auto error = allow_shared<kShortWords>(device); error != cudaSuccess) return error;
    if (const auto error = allow_shared<kLongWords>(device); error != cudaSuccess) return error;
  }
  const Chunks nothing{};
  const auto load = [&](const auto &words) {
    if (device.has_bulk) copy_bulk_kernel<<<1, kWarp, 0, stream>>>(words, arena, nothing, Pace{3, 2, false});
    copy_vector_kernel<uint4, 4><<<1, kVectorThreads, 0, stream>>>(words, arena, nothing, false);
    copy_vector_kernel<uint4, 8><<<1, kVectorThreads, 0, stream>>>(words, arena, nothing, false);
    copy_vector_kernel<uint32_t, 8><<<1, kVectorThreads, 0, stream>>>(words, arena, nothing, false);
    return cudaGetLastError();
  };
  return with_each_words(load);
}

} // namespace ut::cuda
