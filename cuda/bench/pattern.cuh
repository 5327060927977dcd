// Known contents for a whole arena, and the check that pages came from where they should.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace ut::bench {

// Every word depends on where it lies and on the seed.
cudaError_t fill_pattern(uint8_t *arena, uint64_t bytes, uint32_t seed, cudaStream_t stream);

constexpr int32_t kZeros = -1;

// How many words differ when page p should hold what the pattern put into page source[p], or zeros. Waits. Allocates.
uint64_t wrong_words(const uint8_t *arena, uint64_t page_bytes, const std::vector<int32_t> &source, uint32_t seed,
                     cudaStream_t stream);

} // namespace ut::bench
