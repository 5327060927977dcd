#include "translate.cuh"

#include <algorithm>

namespace ut::cuda {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kEach = 4; // elements a thread in the dense case

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

template <typename T> struct alignas(sizeof(T) * kEach) Pack {
  T at[kEach];
};

// No tail lanes: element i of `out` is of element i of `in`, in packs of kEach; the last ones singly.
template <typename In, typename Out>
__global__ void __launch_bounds__(kThreads)
    translate_dense_kernel(Translation t, Divider divider, const In *in, Out *out) {
  const uint64_t first = (static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x) * kEach;
  if (first + kEach <= t.count) {
    const Pack<In> tokens = *reinterpret_cast<const Pack<In> *>(in + first);
    Pack<Out> places;
#pragma unroll
    for (uint32_t i = 0; i < kEach; i++) places.at[i] = static_cast<Out>(physical(t, divider, tokens.at[i]));
    *reinterpret_cast<Pack<Out> *>(out + first) = places;
    return;
  }
  for (uint64_t i = first; i < t.count; i++) out[i] = static_cast<Out>(physical(t, divider, in[i]));
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

template <typename In, typename Out>
cudaError_t launch(const Translation &t, const Divider &divider, const void *in, void *out, cudaStream_t stream) {
  const bool is_dense = t.columns == t.out_columns && t.first == t.first_id &&
                        reinterpret_cast<uintptr_t>(in) % sizeof(Pack<In>) == 0 &&
                        reinterpret_cast<uintptr_t>(out) % sizeof(Pack<Out>) == 0;
  const uint64_t each = is_dense ? kThreads * kEach : kThreads;
  const auto blocks = static_cast<uint32_t>(std::max<uint64_t>(1, (t.count + each - 1) / each));
  if (is_dense)
    translate_dense_kernel<<<blocks, kThreads, 0, stream>>>(t, divider, static_cast<const In *>(in),
                                                            static_cast<Out *>(out));
  else
    translate_rows_kernel<<<blocks, kThreads, 0, stream>>>(t, divider, static_cast<const In *>(in),
                                                           static_cast<Out *>(out));
  return cudaGetLastError();
}

Divider divider_of(const Translation &t) {
  Divider divider{t.units, 0, (t.units & (t.units - 1)) == 0, static_cast<uint64_t>(t.ids) * t.units <= 0xffffffffull};
  while ((1u << divider.shift) < t.units && divider.shift < 31) divider.shift++;
  return divider;
}

} // namespace

cudaError_t launch_translate(const Translation &translation, const void *in, uint32_t in_bits, void *out,
                             uint32_t out_bits, cudaStream_t stream) {
  const Divider divider = divider_of(translation);
  if (in_bits == 32 && out_bits == 32) return launch<int32_t, int32_t>(translation, divider, in, out, stream);
  if (in_bits == 32) return launch<int32_t, int64_t>(translation, divider, in, out, stream);
  if (out_bits == 32) return launch<int64_t, int32_t>(translation, divider, in, out, stream);
  return launch<int64_t, int64_t>(translation, divider, in, out, stream);
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
