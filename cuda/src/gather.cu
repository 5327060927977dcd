#include "gather.hpp"

#include <algorithm>
#include <cstring>

#include "schedule.cuh"

namespace ut::cuda {
namespace {

void append(PendingWords &pending, const int32_t *head, uint32_t head_count, const int32_t *words, uint32_t count) {
  std::memcpy(pending.words + pending.count, head, head_count * sizeof(int32_t));
  std::memcpy(pending.words + pending.count + head_count, words, count * sizeof(int32_t));
  pending.count += head_count + count;
}

} // namespace

Status Gather::add(const ZeroVerb &verb) {
  constexpr uint32_t piece_max = PendingWords::kCapacity / 2;
  for (uint32_t done = 0; done < verb.count;) {
    const uint32_t piece = std::min(verb.count - done, piece_max);
    if (zeros_.count + 4 + piece > PendingWords::kCapacity) UT_TRY(flush());
    const int32_t head[4] = {UT_ZERO, static_cast<int32_t>(4 + piece), static_cast<int32_t>(verb.band),
                             static_cast<int32_t>(piece)};
    append(zeros_, head, 4, verb.pages + done, piece);
    d_.zero_bytes += arena_.bands[verb.band].page_bytes * piece;
    done += piece;
  }
  return UT_OK;
}

Status Gather::add(const BindVerb &verb) {
  const bool is_fresh = verb.is_fresh && arena_.checks_reads();
  return write_ids(
      {{UT_BIND, 0, static_cast<int32_t>(verb.band), is_fresh ? 1 : 0, 0}, 5, 4, 2, arena_.bands[verb.band].units},
      verb.band, verb.pairs, verb.count);
}
Status Gather::add(const ExpectVerb &verb) {
  if (!arena_.checks_reads()) return UT_OK;
  const uint32_t units = arena_.bands[verb.band].units;
  return write_ids({{UT_EXPECT, 0, static_cast<int32_t>(verb.band), 0, 0}, 4, 3, 1 + units, units}, verb.band,
                   verb.entries, verb.count);
}
Status Gather::add(const RowVerb &verb) {
  uint32_t &mark = geometry_.row_marks[verb.row];
  TableVerb piece{{UT_ROW, 0, static_cast<int32_t>(verb.row), 0, 0}, 5, 4, 1, 0};
  for (uint32_t done = 0; done < verb.count;) {
    const uint32_t n = std::min(verb.count - done, entries_max(piece));
    if (mark == geometry_.launch) UT_TRY(flush());
    UT_TRY(make_room(piece, n));
    mark = geometry_.launch;
    piece.head[3] = static_cast<int32_t>(verb.first + done);
    put(piece, verb.ids + done, n);
    done += n;
  }
  return UT_OK;
}

// Entries that begin with an id. One that the launch has already starts the next launch.
Status Gather::write_ids(const TableVerb &verb, uint32_t band, const int32_t *entries, uint32_t n) {
  uint32_t *marks = geometry_.id_marks[band];
  const auto at = [&](uint32_t i) { return entries + static_cast<uint64_t>(i) * verb.words_each; };
  for (uint32_t first = 0, last = 0; last < n;) {
    const uint32_t end = last + std::min(n - last, entries_max(verb));
    UT_TRY(make_room(verb, end - last));
    for (; last < end; last++) {
      if (marks[*at(last)] == geometry_.launch) {
        put(verb, at(first), last - first);
        UT_TRY(flush());
        first = last;
      }
      marks[*at(last)] = geometry_.launch;
    }
    put(verb, at(first), last - first);
    first = last;
  }
  return UT_OK;
}

uint32_t Gather::entries_max(const TableVerb &verb) {
  constexpr uint32_t words_max = PendingWords::kCapacity / 2, cells_max = PendingWords::kCapacity / 4 * kTaskCells;
  return std::min(words_max / verb.words_each, cells_max / (1 + verb.units));
}
uint32_t Gather::task_words(const TableVerb &verb, uint32_t n) {
  const uint64_t cells = table_cells(verb.head[0], verb.head[3] != 0, n, verb.units);
  return 2 * static_cast<uint32_t>((cells + kTaskCells - 1) / kTaskCells);
}
Status Gather::make_room(const TableVerb &verb, uint32_t n) {
  const bool fits = tables_.count + verb.head_count + n * verb.words_each <= PendingWords::kCapacity &&
                    tasks_.count + task_words(verb, n) <= PendingWords::kCapacity;
  return fits ? UT_OK : flush();
}
void Gather::put(const TableVerb &verb, const int32_t *entries, uint32_t n) {
  if (n == 0) return;
  for (uint32_t task = 0; task < task_words(verb, n) / 2; task++) {
    tasks_.words[tasks_.count++] = static_cast<int32_t>(tables_.count);
    tasks_.words[tasks_.count++] = static_cast<int32_t>(task * kTaskCells);
  }
  int32_t head[5];
  std::memcpy(head, verb.head, sizeof head);
  head[1] = static_cast<int32_t>(verb.head_count + n * verb.words_each);
  head[verb.counter] = static_cast<int32_t>(n);
  append(tables_, head, verb.head_count, entries, n * verb.words_each);
}

Status Gather::flush() {
  const uint32_t zero_words = zeros_.count, table_words = tables_.count, task_count = tasks_.count;
  const uint64_t bytes = d_.zero_bytes;
  if (zero_words + task_count == 0) return UT_OK;
  zeros_.count = tables_.count = tasks_.count = 0;
  d_.zero_bytes = 0;
  geometry_.launch++;
  const ZeroPlan plan = choose_zero_plan(d_.properties.multiprocessors, bytes);
  uint64_t chunks = 0;
  bool has_odd_pages = false;
  for (uint32_t at = 0; at < zero_words; at += static_cast<uint32_t>(zeros_.words[at + 1])) {
    const uint64_t page_bytes = arena_.bands[zeros_.words[at + 2]].page_bytes;
    chunks += (page_bytes + plan.chunk_bytes - 1) / plan.chunk_bytes * static_cast<uint32_t>(zeros_.words[at + 3]);
    has_odd_pages |= page_bytes % 16 != 0;
  }
  if (chunks + task_count == 0) return UT_OK;
  int32_t joined[kLongWords];
  List list{joined, zero_words + table_words + task_count, nullptr};
  int32_t *to = joined;
  if (list.count > kLongWords) UT_TRY(d_.ring.reserve(d_.streams, kSchedule, list.count, to, list.outside));
  std::memcpy(to, zeros_.words, zero_words * sizeof(int32_t));
  std::memcpy(to + zero_words, tables_.words, table_words * sizeof(int32_t));
  std::memcpy(to + zero_words + table_words, tasks_.words, task_count * sizeof(int32_t));
  UT_TRY(UT_CUDA(launch_schedule(arena_.view, {list, zero_words, table_words, task_count / 2}, chunks, has_odd_pages,
                                 plan, d_.streams.of(kSchedule))));
  d_.streams.queued(kSchedule);
  return UT_OK;
}

} // namespace ut::cuda
