#include "pattern.cuh"

#include "measure.hpp"

namespace ut::bench {
namespace {

__host__ __device__ inline uint32_t word_of(uint64_t index, uint32_t seed) {
  uint32_t h = static_cast<uint32_t>(index) * 0x9e3779b9u ^ static_cast<uint32_t>(index >> 32) * 0x85ebca6bu ^ seed;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  return h ^ (h >> 15);
}

__global__ void fill_kernel(uint32_t *words, uint64_t count, uint32_t seed) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = word_of(i, seed);
}

__global__ void check_kernel(const uint32_t *words, uint32_t page_words, const int32_t *source, uint32_t pages,
                             uint32_t seed, unsigned long long *wrong) {
  unsigned long long mine = 0;
  for (uint32_t page = blockIdx.x; page < pages; page += gridDim.x) {
    const int32_t from = source[page];
    for (uint32_t i = threadIdx.x; i < page_words; i += blockDim.x) {
      const uint32_t wanted = from == kZeros ? 0 : word_of(static_cast<uint64_t>(from) * page_words + i, seed);
      if (words[static_cast<uint64_t>(page) * page_words + i] != wanted) mine++;
    }
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

} // namespace

cudaError_t fill_pattern(uint8_t *arena, uint64_t bytes, uint32_t seed, cudaStream_t stream) {
  fill_kernel<<<4096, 256, 0, stream>>>(reinterpret_cast<uint32_t *>(arena), bytes / 4, seed);
  return cudaGetLastError();
}

uint64_t wrong_words(const uint8_t *arena, uint64_t page_bytes, const std::vector<int32_t> &source, uint32_t seed,
                     cudaStream_t stream) {
  int32_t *sources = nullptr;
  unsigned long long *wrong = nullptr, found = 0;
  must(UT_CUDA(cudaMalloc(&sources, source.size() * sizeof(int32_t))));
  must(UT_CUDA(cudaMalloc(&wrong, sizeof *wrong)));
  must(UT_CUDA(
      cudaMemcpyAsync(sources, source.data(), source.size() * sizeof(int32_t), cudaMemcpyHostToDevice, stream)));
  must(UT_CUDA(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream)));
  check_kernel<<<4096, 256, 0, stream>>>(reinterpret_cast<const uint32_t *>(arena),
                                         static_cast<uint32_t>(page_bytes / 4), sources,
                                         static_cast<uint32_t>(source.size()), seed, wrong);
  must(UT_LAUNCHED("check_kernel"));
  must(UT_CUDA(cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDeviceToHost, stream)));
  must(UT_CUDA(cudaStreamSynchronize(stream)));
  must(UT_CUDA(cudaFree(sources)));
  must(UT_CUDA(cudaFree(wrong)));
  return found;
}

} // namespace ut::bench
