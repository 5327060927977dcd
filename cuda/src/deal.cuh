// How numbered chunks of work are dealt to the blocks of a launch.
//
// Either in turn, or so that a block's chunks lie side by side and few multiprocessors meet each page. The bench's
// sweeps tell which is the faster for what.
#pragma once
#include <cstdint>

namespace ut::cuda {

constexpr uint32_t kEvenly = 0; // for `run`: every block has one range, as long as the others' to one chunk

// A block's chunks, `count` of them in rising order; its i-th is chunk at(i).
struct Share {
  uint64_t first;
  uint64_t count;
  uint64_t step;  // from one run to the next
  uint32_t shift; // a run has 1 << shift chunks

  __host__ __device__ uint64_t at(uint64_t i) const {
    return first + (i >> shift) * step + (i & ((uint64_t{1} << shift) - 1));
  }
};

// run: kEvenly, or a power of two: so many chunks in a row go to one block, the next ones to the next block, and so on
// in turn. Chunks below 2^48, blocks below 2^16.
__host__ __device__ inline Share share_of(uint64_t chunks, uint32_t run, uint32_t block, uint32_t blocks) {
  if (run == kEvenly) {
    const uint64_t first = chunks * block / blocks;
    return {first, chunks * (block + 1ull) / blocks - first, 0, 63};
  }
  uint32_t shift = 0;
  while ((1u << shift) < run) shift++;
  const uint64_t round = static_cast<uint64_t>(run) * blocks, rounds = chunks / round;
  const uint64_t first = static_cast<uint64_t>(run) * block, left = chunks - rounds * round;
  const uint64_t last_run = left <= first ? 0 : left - first < run ? left - first : run;
  return {first, rounds * run + last_run, round, shift};
}

} // namespace ut::cuda
