// Verbs of SCHEDULE that change tables or zero pages are gathered and launched together. Zeroing touches the arena,
// binds, rows and expectations touch tables; so only the order within each kind counts. Zeros may meet; a table cell
// that would be written twice starts another launch.
#pragma once
#include <cstdint>

#include "device.hpp"

namespace ut::cuda {

class Gather {
public:
  // What is gathered stays with the device; it is empty before and after a script.
  explicit Gather(ut_device &device)
      : d_(device), geometry_(*device.geometry), arena_(device.geometry->arena), zeros_(device.zeros),
        tables_(device.tables), tasks_(device.tasks) {
    zeros_.count = tables_.count = tasks_.count = 0;
    d_.zero_bytes = 0;
    geometry_.launch++;
  }

  Status add(const ZeroVerb &verb);
  Status add(const BindVerb &verb);
  Status add(const RowVerb &verb);
  Status add(const ExpectVerb &verb);
  Status flush();

private:
  struct TableVerb {
    int32_t head[5]; // word 1, the length, and the number of entries are filled in piece by piece
    uint32_t head_count;
    uint32_t counter; // word with the number of entries
    uint32_t words_each;
    uint32_t units;
  };

  Status write_ids(const TableVerb &verb, uint32_t band, const int32_t *entries, uint32_t n);
  Status make_room(const TableVerb &verb, uint32_t n);
  void put(const TableVerb &verb, const int32_t *entries, uint32_t n);
  static uint32_t entries_max(const TableVerb &verb);
  static uint32_t task_words(const TableVerb &verb, uint32_t n);

  ut_device &d_;
  Geometry &geometry_;
  const Arena &arena_;
  PendingWords &zeros_;
  PendingWords &tables_;
  PendingWords &tasks_; // (word of the verb in tables_, first cell)
};

} // namespace ut::cuda
