// What stands behind a ut_device: an arena, streams, handles, and the script that is being queued.
#pragma once
#include <cstdint>

#include "arena.hpp"
#include "copy.cuh"
#include "ring.hpp"
#include "streams.hpp"
#include "ut/script.hpp"

namespace ut::cuda {

// What a handle stands for on the device. Whether it may be used is ScriptChecker's matter.
struct HandleSlot {
  cudaEvent_t end;      // null: a forward that was not recorded yet
  cudaEvent_t read_end; // of a forward: its metadata phase
};

// Verbs of SCHEDULE that wait to be launched together.
struct PendingWords {
  static constexpr uint32_t kCapacity = 32 << 10; // three of them fit a segment of the ring
  uint32_t count = 0;
  int32_t words[kCapacity];
};

// What belongs to one geometry and goes with it.
struct Geometry {
  Geometry() = default;
  Geometry(const Geometry &) = delete;
  Geometry &operator=(const Geometry &) = delete;
  ~Geometry();
  Status prepare(); // after arena.take

  Arena arena;
  ScriptChecker checker;
  uint64_t *page_marks =
      nullptr; // [pages of the largest band]: newest run of ordered moves that reads or writes the page
  uint64_t move_run = 0;
  uint32_t *id_marks[bands_max] = {}; // [ids]: newest launch that writes the id's cells; one block for all, the first's
  uint32_t *row_marks = nullptr;      // [rows + 1]: newest launch that writes the row
  uint32_t launch = 1;                // the one that is being gathered
};

} // namespace ut::cuda

struct ut_device {
  ut_device() = default;
  ut_device(const ut_device &) = delete;
  ut_device &operator=(const ut_device &) = delete;
  ~ut_device();

  // Takes everything and runs every kernel once. `ordinal`: of the GPU, current on this thread.
  ut::cuda::Status open(const ut_config &config);
  ut::cuda::Status resize(const ut_config &config);
  ut::cuda::Status submit(const int32_t *words, uint64_t count);

  // Keeps the line of text for later calls.
  void lose(const char *why);

  uint32_t ordinal = 0;
  bool is_lost = false;
  char lost_because[512] = "";
  ut::cuda::CopyDevice properties{};
  ut::cuda::Streams streams;
  ut::cuda::EventPool events;
  ut::cuda::ListRing ring;
  ut::cuda::Geometry *geometry = nullptr;
  ut::cuda::HandleSlot *slots = nullptr; // [handle_limit]
  uint32_t forwards = 0;                 // that read something; names marks and halves of the counts
  ut::cuda::PendingWords zeros;
  ut::cuda::PendingWords tables;
  ut::cuda::PendingWords tasks;
  uint64_t zero_bytes = 0;

private:
  ut::cuda::Status prewarm();
};
