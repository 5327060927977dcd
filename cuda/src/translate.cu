#include "translate.cuh"

#include <algorithm>

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256; // of the case with tail lanes
constexpr uint32_t kThreadsMax = 512;
constexpr uint32_t kEach = 4; // elements a pack

struct Divider {
  uint32_t units;
  uint32_t shift;
  bool is_power;
  bool is_narrow; // ids * units fits 32 bits, so every token that counts does
};

template <typename In>
__device__ __forceinline__ int64_t physical(const Translation &t, const Divider &divider, In token) {
  if (token <= 0) return 0;
  const auto wide = static_cast<uint64_t>(token);
  if (divider.is_narrow) {
    if (wide > 0xffffffffull) return 0;
    const auto narrow = static_cast<uint32_t>(wide);
    const uint32_t id = divider.is_power ? narrow >> divider.shift : narrow / divider.units;
    if (id >= t.ids) return 0;
    const int64_t page = __ldg(t.v2p + id);
    return page == 0 ? 0 : page * divider.units + (narrow - id * divider.units);
  }
  const uint64_t id = wide / divider.units;
  if (id >= t.ids) return 0;
  const int64_t page = __ldg(t.v2p + id);
  return page == 0 ? 0 : page * divider.units + static_cast<int64_t>(wide - id * divider.units);
}

__device__ __forceinline__ int32_t read_past_l1(const int32_t *cell) {
  int32_t value;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(value) : "l"(cell));
  return value;
}

template <typename T> struct alignas(sizeof(T) * kEach) Pack {
  T at[kEach];
};

// Without a branch, so that all reads of the table are under way before the first is used. What does not count reads
// cell 0.
template <typename In, typename Out, uint32_t Packs>
__device__ __forceinline__ void translate_packs(const Translation &t, const Divider &divider,
                                                const Pack<In> (&tokens)[Packs], Pack<Out> (&places)[Packs],
                                                bool skips_l1) {
  constexpr uint32_t all = Packs * kEach;
  uint32_t ids[all], within[all];
  int32_t pages[all];
#pragma unroll
  for (uint32_t i = 0; i < all; i++) {
    const In token = tokens[i / kEach].at[i % kEach];
    const auto narrow = static_cast<uint32_t>(token);
    const uint32_t id = divider.is_power ? narrow >> divider.shift : narrow / divider.units;
    const bool counts = token > 0 && static_cast<uint64_t>(token) <= 0xffffffffull && id < t.ids;
    ids[i] = counts ? id : 0;
    within[i] = counts ? narrow - id * divider.units : 0xffffffffu; // a page has fewer units
  }
#pragma unroll
  for (uint32_t i = 0; i < all; i++) pages[i] = skips_l1 ? read_past_l1(t.v2p + ids[i]) : __ldg(t.v2p + ids[i]);
#pragma unroll
  for (uint32_t i = 0; i < all; i++) {
    const int64_t place = static_cast<int64_t>(pages[i]) * divider.units + within[i];
    places[i / kEach].at[i % kEach] = pages[i] == 0 || within[i] == 0xffffffffu ? Out{0} : static_cast<Out>(place);
  }
}

// No tail lanes: element i of `out` is of element i of `in`, in packs of kEach; the last block goes one by one.
template <typename In, typename Out, uint32_t Packs>
__global__ void __launch_bounds__(kThreadsMax)
    translate_dense_kernel(Translation t, Divider divider, const In *in, Out *out, bool skips_l1) {
  const uint64_t block_first = static_cast<uint64_t>(blockIdx.x) * blockDim.x * kEach * Packs;
  const uint64_t block_end = block_first + static_cast<uint64_t>(blockDim.x) * kEach * Packs;
  if (!divider.is_narrow || block_end > t.count) {
    for (uint64_t i = block_first + threadIdx.x; i < min(block_end, t.count); i += blockDim.x)
      out[i] = static_cast<Out>(physical(t, divider, in[i]));
    return;
  }
  const auto at = [&](uint32_t pack) { return block_first + (pack * blockDim.x + threadIdx.x) * kEach; };
  Pack<In> tokens[Packs];
  Pack<Out> places[Packs];
#pragma unroll
  for (uint32_t pack = 0; pack < Packs; pack++) tokens[pack] = *reinterpret_cast<const Pack<In> *>(in + at(pack));
  translate_packs<In, Out, Packs>(t, divider, tokens, places, skips_l1);
#pragma unroll
  for (uint32_t pack = 0; pack < Packs; pack++) *reinterpret_cast<Pack<Out> *>(out + at(pack)) = places[pack];
}

template <typename In, typename Out>
__global__ void __launch_bounds__(kThreads)
    translate_rows_kernel(Translation t, Divider divider, const In *in, Out *out) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= t.count) return;
  const uint64_t element = t.first + i;
  const bool is_narrow = (element | t.out_columns) <= 0xffffffffull;
  const uint64_t row =
      is_narrow ? static_cast<uint32_t>(element) / static_cast<uint32_t>(t.out_columns) : element / t.out_columns;
  const uint64_t column = element - row * t.out_columns;
  out[i] =
      column >= t.columns ? Out{0} : static_cast<Out>(physical(t, divider, in[row * t.columns + column - t.first_id]));
}

template <typename In, typename Out, uint32_t Packs>
void launch_dense(const Translation &t, const Divider &divider, const In *in, Out *out, const TranslatePlan &plan,
                  cudaStream_t stream) {
  const uint64_t each = static_cast<uint64_t>(plan.threads) * kEach * Packs;
  const auto blocks = static_cast<uint32_t>(std::max<uint64_t>(1, (t.count + each - 1) / each));
  translate_dense_kernel<In, Out, Packs>
      <<<blocks, plan.threads, 0, stream>>>(t, divider, in, out, plan.skips_l1);
}

template <typename In, typename Out>
cudaError_t launch(const Translation &t, const Divider &divider, const void *from, void *to, const TranslatePlan &plan,
                   cudaStream_t stream) {
  const auto *in = static_cast<const In *>(from);
  auto *out = static_cast<Out *>(to);
  const bool is_dense = t.columns == t.out_columns && t.first == t.first_id &&
                        reinterpret_cast<uintptr_t>(in) % sizeof(Pack<In>) == 0 &&
                        reinterpret_cast<uintptr_t>(out) % sizeof(Pack<Out>) == 0;
  if (!is_dense) {
    const auto blocks = static_cast<uint32_t>(std::max<uint64_t>(1, (t.count + kThreads - 1) / kThreads));
    translate_rows_kernel<<<blocks, kThreads, 0, stream>>>(t, divider, in, out);
  } else if (plan.packs == 1) {
    launch_dense<In, Out, 1>(t, divider, in, out, plan, stream);
  } else if (plan.packs == 2) {
    launch_dense<In, Out, 2>(t, divider, in, out, plan, stream);
  } else {
    launch_dense<In, Out, 4>(t, divider, in, out, plan, stream);
  }
  return cudaGetLastError();
}

Divider divider_of(const Translation &t) {
  Divider divider{t.units, 0, (t.units & (t.units - 1)) == 0, static_cast<uint64_t>(t.ids) * t.units <= 0xffffffffull};
  while ((1u << divider.shift) < t.units && divider.shift < 31) divider.shift++;
  return divider;
}

} // namespace

cudaError_t launch_translate(const Translation &translation, const void *in, uint32_t in_bits, void *out,
                             uint32_t out_bits, cudaStream_t stream, const TranslatePlan &plan) {
  const Divider divider = divider_of(translation);
  if (in_bits == 32 && out_bits == 32) return launch<int32_t, int32_t>(translation, divider, in, out, plan, stream);
  if (in_bits == 32) return launch<int32_t, int64_t>(translation, divider, in, out, plan, stream);
  if (out_bits == 32) return launch<int64_t, int32_t>(translation, divider, in, out, plan, stream);
  return launch<int64_t, int64_t>(translation, divider, in, out, plan, stream);
}

cudaError_t prewarm_translate(cudaStream_t stream) {
  Translation nothing{};
  nothing.units = 1;
  nothing.columns = 1;
  for (const uint64_t out_columns : {1, 2}) {
    nothing.out_columns = out_columns;
    for (const uint32_t in_bits : {32u, 64u}) {
      for (const uint32_t out_bits : {32u, 64u}) {
        const auto error = launch_translate(nothing, nullptr, in_bits, nullptr, out_bits, stream);
        if (error != cudaSuccess) return error;
      }
    }
  }
  return cudaSuccess;
}

} // namespace ut::cuda
