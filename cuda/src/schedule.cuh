// What an operation changes on SCHEDULE apart from moves, in one launch: some blocks apply table verbs, the others zero
// pages.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "view.cuh"
#include "words.cuh"

namespace ut::cuda {

// One list: zero_words of UT_ZERO verbs, table_words of UT_BIND, UT_ROW and UT_EXPECT verbs (all as a script holds
// them, one behind the other), then `tasks` pairs (word of the verb within the table words, first cell). A task is up
// to kTaskCells cells of one verb, done by one block. No table cell may be written twice in a list: tasks have no
// order.
struct ScheduleList {
  List words;
  uint32_t zero_words;
  uint32_t table_words;
  uint32_t tasks;
};
constexpr uint32_t kTaskCells = 1024;

// How pages are zeroed. Swept by the bench; the table behind choose_zero_plan is what it found best.
struct ZeroPlan {
  uint32_t chunk_bytes; // a multiple of 16; with is_bulk at most kZeroChunkMax
  uint32_t blocks_max;
  uint32_t run;     // see deal.cuh
  bool is_bulk;     // chunks are sent out of shared memory where the device can do it; else stored word by word
  bool evict_first; // stream past the L2
};
constexpr uint32_t kZeroChunkMax = 16 << 10;

// bytes: of all pages together.
ZeroPlan choose_zero_plan(uint32_t multiprocessors, uint64_t bytes);

// chunks: of all pages together, pages cut into plan.chunk_bytes. has_odd_pages: some page is no multiple of 16 bytes.
cudaError_t launch_schedule(const View &view, const ScheduleList &list, uint64_t chunks, bool has_odd_pages,
                            const ZeroPlan &plan, cudaStream_t stream);

// Cells that `n` entries of a verb write; a task's numbering. has_fresh: of a UT_BIND, its flag.
inline uint64_t table_cells(int32_t verb, bool has_fresh, uint64_t n, uint32_t units) {
  if (verb == UT_ROW) return n;
  if (verb == UT_BIND) return has_fresh ? n * (1ull + units) : n;
  return n * units;
}

cudaError_t prewarm_schedule(const View &view, cudaStream_t stream);

} // namespace ut::cuda
