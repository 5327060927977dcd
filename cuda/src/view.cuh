// What kernels know of an opened arena. Plain structures: handed over by value or read from device memory.
#pragma once
#include <cstdint>

#include "ut/backend.h"

namespace ut::cuda {

// One place that a forward's metadata phase found.
struct StepPlace {
  int32_t id;
  int32_t page;
};

// One write of a forward with the page that the metadata phase found; page 0 where nothing is bound.
struct WritePlace {
  uint32_t band;
  uint32_t page;
  uint32_t from;
  uint32_t to;
  uint32_t position;
  uint32_t writer;
};

struct BandView {
  uint64_t page_bytes;
  uint32_t unit_bytes;
  uint32_t units;
  uint32_t pages;
  uint32_t ids;
  uint32_t is_state;
  uint32_t step_capacity;  // entries of step_places; an id enters at most once a forward
  int32_t *v2p;            // [ids]
  uint32_t *expected;      // [ids][units]; null, as are the four below, when reads are not checked
  uint32_t *marks;         // [ids]: the newest forward that entered the id
  StepPlace *step_places;  // [step_capacity]
  uint32_t *step_expected; // [step_capacity][units]
  uint32_t *step_counts;   // [2], by the parity of the forward
  uint8_t *host_pool;      // [host_pages][page_bytes], pinned host memory
};

struct FaultRing {
  uint32_t *count; // device memory
  ut_fault *ring;  // [capacity], pinned host memory; what comes behind is counted only
  uint32_t capacity;
};

struct View {
  uint8_t *arena;
  const BandView *bands; // [band_count], device memory
  int32_t *rows;         // [rows + 1][row_pages]
  uint32_t *counters;    // [rows + 1]
  uint32_t band_count;
  uint32_t row_pages;
  FaultRing faults;
};

} // namespace ut::cuda
