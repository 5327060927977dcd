/* What stamped bytes look like and how pages are hashed: the same arithmetic on every device, and that of src/base/digest.ts
 * and src/device/model-pages.ts. Plain functions for C++ hosts and CUDA kernels alike. */
#pragma once
#include <stdint.h>

#if defined(__CUDACC__)
#define UT_BOTH __host__ __device__ __forceinline__
#else
#define UT_BOTH inline
#endif

#define UT_UNIT_FIELD 0x5801u
#define UT_STAMP_FIELD 0x5803u

/* Lanes of one cell, for index and value below 2^31 or taken as 32 bits. */
static UT_BOTH uint32_t ut_mix_a(uint32_t field, uint32_t index, uint32_t value) {
  uint32_t h = ((field + 0x9e3779b9u) * 0x85ebca6bu) ^ (index * 0xc2b2ae35u);
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h ^= value;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}
static UT_BOTH uint32_t ut_mix_b(uint32_t field, uint32_t index, uint32_t value) {
  uint32_t h = ((field + 0x7f4a7c15u) * 0xcc9e2d51u) ^ (index * 0x1b873593u);
  h = (h ^ (h >> 13)) * 0x5bd1e995u;
  h ^= value;
  h = (h ^ (h >> 15)) * 0xd168aaadu;
  h = (h ^ (h >> 15)) * 0xaf723597u;
  return h ^ (h >> 15);
}

/* The stamp that a writer leaves at a token position (a state: tokens it stands after); never 0. */
static UT_BOTH uint32_t ut_stamp_of(uint32_t writer, uint32_t position) {
  const uint32_t stamp = ut_mix_a(UT_STAMP_FIELD, position, writer);
  return stamp == 0 ? 1u : stamp;
}

/* Word `word` (0-based, 32 bits) of a unit that carries `stamp`: the stamp itself, then words that depend on both. */
static UT_BOTH uint32_t ut_payload_word(uint32_t stamp, uint32_t word) {
  if (stamp == 0 || word == 0) return stamp;
  uint32_t h = stamp + word * 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x21f0aaadu;
  return h ^ (h >> 15);
}

/* Hash of a page: the sum over its masked units of ut_mix_a / ut_mix_b (UT_UNIT_FIELD, unit, stamp), units of stamp 0 left out. The
 * stamp of a unit is its word 0; a unit whose other words do not follow from it is torn and enters with stamp 0xffffffff. */
