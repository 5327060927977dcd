// The CUDA backend's table against a plain oracle, on a real device. Needs no Node.
//   cuda_test            everything but the lost device
//   cuda_test --quick    few seeds and no clocks, for compute-sanitizer, which may run kernels one after the other
//   cuda_test --lost     a kernel fails on purpose: every later call says so and the process lives
// One line a section; exit code 0: all held.
#include <array>
#include <cstring>

#include "device.hpp"
#include "pause.cuh"
#include "random_scripts.hpp"
#include "waits.hpp"

namespace {

using namespace ut::test;

using Bands = std::vector<ut_band>;

struct Case {
  const char *name;
  uint64_t arena_bytes;
  Bands bands;
  uint32_t rows;
  uint32_t row_pages;
  uint32_t flags;
};

// page_bytes, pages, first_page, units, ids, host_pages, flags
std::vector<Case> cases() {
  constexpr uint32_t both = UT_FILL_POISON | UT_CHECK_READS;
  return {
      {"one band, aligned", 1 << 20, {{4096, 256, 1, 16, 200, 8, 0}}, 5, 40, both},
      {"three bands, one of states",
       3 << 20,
       {{8192, 384, 1, 16, 300, 8, 0}, {4096, 768, 3, 16, 250, 4, 0}, {24576, 128, 1, 1, 60, 4, UT_BAND_STATE}},
       6,
       64,
       both},
      {"words only", 600000, {{1204, 498, 1, 7, 150, 8, 0}, {2020, 297, 1, 5, 90, 3, 0}}, 4, 50, both},
      {"more than 32 units, units of one word",
       1 << 20,
       {{640, 1600, 2, 40, 300, 8, 0}, {256, 4096, 1, 64, 500, 0, 0}},
       3,
       70,
       both},
      {"aligned pages of units that are not", 1 << 20, {{4096, 256, 1, 3, 100, 4, 0}}, 3, 30, UT_CHECK_READS},
      {"long units", 4 << 20, {{262144, 16, 1, 2, 12, 2, 0}, {131072, 32, 1, 1, 14, 2, UT_BAND_STATE}}, 2, 10, both},
      {"pages for the copy engine", 16 << 20, {{1 << 20, 16, 1, 4, 12, 2, 0}}, 2, 10, UT_CHECK_READS},
      {"nothing checked",
       1 << 20,
       {{4096, 256, 1, 16, 200, 8, 0}, {16384, 64, 1, 1, 30, 4, UT_BAND_STATE}},
       5,
       40,
       UT_FILL_POISON},
  };
}

void section(const char *name) {
  std::printf("ok so far: %s\n", name);
  std::fflush(stdout);
}

void random_scripts(const ut_backend *backend, uint32_t seeds, uint32_t scripts) {
  for (const Case &shape : cases()) {
    for (uint32_t seed = 1; seed <= seeds; seed++) {
      Rig rig(backend, shape.arena_bytes, shape.bands, shape.rows, shape.row_pages, shape.flags);
      RandomScripts source(rig, seed * 7919ull);
      const std::string where = std::string(shape.name) + ", seed " + std::to_string(seed);
      rig.compare(where + ", fresh");
      for (uint32_t i = 0; i < scripts; i++) {
        rig.run(source.next());
        if (i % 16 == 15) rig.compare(where + ", script " + std::to_string(i));
      }
      rig.compare(where);
      for (uint32_t band = 0; band < shape.bands.size(); band++) rig.compare_hashes(where, band, source.chance());
    }
    section(shape.name);
  }
}

// --- long lists: the ring, many blocks, pieces ---

void long_lists(const ut_backend *backend) {
  constexpr int32_t pages = 40000;
  Rig rig(backend, 64ull * 48000, {{64, 48000, 1, 4, 48000, 0, 0}}, 3, 45000, UT_FILL_POISON | UT_CHECK_READS);
  Script script;
  std::vector<int32_t> list(pages), pairs, binds, cells(pages), stamps, shifts;
  std::iota(list.begin(), list.end(), 1);
  script.list(UT_ZERO, {0}, list, 1);
  for (int32_t i = 1; i <= pages; i++) binds.insert(binds.end(), {i, pages + 1 - i});
  script.list(UT_BIND, {0, 1}, binds, 2);
  std::iota(cells.begin(), cells.end(), 1);
  script.list(UT_ROW, {1, 2}, cells, 1);
  for (int32_t i = 1; i <= pages; i += 3) stamps.insert(stamps.end(), {i, i % 4, i * 977});
  script.list(UT_STAMP, {0}, stamps, 3);
  rig.run(script);
  rig.compare("long lists");

  script = {};
  for (int32_t i = 1; i <= 20000; i++) pairs.insert(pairs.end(), {i, 20000 + i});
  script.list(UT_MOVE, {0, 0}, pairs, 2);
  for (int32_t i = 2; i <= 3000; i++)
    shifts.insert(shifts.end(), {i, i - 1}); // each overwrites what the one before read
  script.list(UT_MOVE, {0, 1}, shifts, 2);
  std::vector<int32_t> chain; // the same bytes all the way: every move must come after the one before
  for (int32_t i = 100; i < 140; i++) chain.insert(chain.end(), {i, i + 1});
  script.list(UT_MOVE, {0, 1}, chain, 2);
  std::vector<int32_t> expectations, writes;
  for (int32_t id = 1; id <= pages; id += 2) expectations.insert(expectations.end(), {id, id * 31, 0, 5, 0});
  script.list(UT_EXPECT, {0}, expectations, 5);
  for (int32_t id = 1; id <= 30000; id++) writes.insert(writes.end(), {0, id, id % 3, 4, id, 77});
  std::vector<int32_t> tail = {1, 45000};
  tail.insert(tail.end(), writes.begin(), writes.end());
  script.verb(UT_FORWARD, {9, 0, 1, 0, 30000}, tail);
  script.verb(UT_RECORD, {9});
  script.verb(UT_WAIT, {9});
  script.verb(UT_FORGET, {9});
  rig.run(script);
  const bool had_many = !rig.faults().empty(); // more than the ring of faults holds: counted, not all kept
  if (!had_many) failed("long lists: wrong expectations were not found");
  (void)rig.oracle().take_faults();
  rig.compare("long lists, moved and written");

  for (int32_t round = 0; round < 80; round++) { // round and round through the ring
    script = {};
    std::vector<int32_t> some;
    for (int32_t i = 1; i <= 20000; i++) some.insert(some.end(), {i, (i + round) % pages + 1});
    script.list(UT_BIND, {0, round % 2}, some, 2);
    rig.run(script);
  }
  rig.compare("round the ring");
  section("long lists");
}

void waits(const ut_backend *backend, bool has_clock) {
  for (const bool has_wait : {true, false}) {
    if (!has_wait && !has_clock) break; // what overlaps is up to the tool

    wait_of_reader(backend, has_wait);
    wait_of_writer(backend, has_wait);
    wait_of_metadata(backend, has_wait, has_clock);
    wait_of_host_copy(backend, has_wait);
    wait_of_load(backend, has_wait);
    wait_of_send(backend, has_wait);
  }
  own_waits(backend, has_clock);
  section("waits");
}

// --- translation ---

template <typename In, typename Out>
void translate_as(Rig &rig, Chance &chance, uint64_t rows, uint64_t columns, uint64_t out_columns) {
  std::vector<In> ids(rows * columns);
  const uint32_t tokens = rig.bands()[0].ids * rig.bands()[0].units;
  for (In &id : ids) {
    id = static_cast<In>(chance.below(tokens + 50));
    if (chance.below(10) == 0) id = static_cast<In>(-static_cast<int32_t>(chance.below(1000)));
    if (chance.below(50) == 0)
      id = sizeof(In) == 8 ? static_cast<In>(int64_t{1} << (32 + chance.below(30))) : In{0x7fffffff};
  }
  std::vector<Out> out(rows * out_columns, Out{-7});
  rig.check(rig.backend()->translate(rig.device(), 0, ids.data(), sizeof(In) * 8, rows, columns, out.data(),
                                     sizeof(Out) * 8, out_columns),
            "translate");
  for (uint64_t i = 0; i < out.size(); i++) {
    const uint64_t row = i / out_columns, column = i % out_columns;
    const int64_t wanted =
        column >= columns ? 0 : rig.oracle().translate(0, static_cast<int64_t>(ids[row * columns + column]));
    if (static_cast<int64_t>(out[i]) == wanted) continue;
    failed("translate %zu to %zu bits, %llu x %llu of %llu: element %llu", sizeof(In) * 8, sizeof(Out) * 8,
           static_cast<unsigned long long>(rows), static_cast<unsigned long long>(columns),
           static_cast<unsigned long long>(out_columns), static_cast<unsigned long long>(i));
    return;
  }
}

void translations(const ut_backend *backend) {
  for (const uint32_t units : {1u, 16u, 7u}) {
    Rig rig(backend, 1 << 20, {{128, 8000, 1, units, 5000, 0, 0}}, 1, 4, 0);
    Chance chance(units);
    Script script;
    std::vector<int32_t> binds;
    for (int32_t id = 1; id < 5000; id++) {
      if (chance.below(5) != 0) binds.insert(binds.end(), {id, static_cast<int32_t>(chance.from_to(1, 7999))});
    }
    script.list(UT_BIND, {0, 0}, binds, 2);
    rig.run(script);
    for (const auto &[rows, columns, out_columns] : std::vector<std::array<uint64_t, 3>>{{1, 1, 1},
                                                                                         {3, 5, 5},
                                                                                         {7, 11, 16},
                                                                                         {1, 0, 9},
                                                                                         {0, 4, 4},
                                                                                         {2, 150001, 150001},
                                                                                         {300, 1000, 1003},
                                                                                         {1, 262144, 300000}}) {
      translate_as<int32_t, int32_t>(rig, chance, rows, columns, out_columns);
      translate_as<int32_t, int64_t>(rig, chance, rows, columns, out_columns);
      translate_as<int64_t, int32_t>(rig, chance, rows, columns, out_columns);
      translate_as<int64_t, int64_t>(rig, chance, rows, columns, out_columns);
    }
  }
  section("translations");
}

// --- refusals, resize ---

void expect_code(const ut_backend *backend, int32_t code, int32_t wanted, const char *what) {
  if (code != wanted)
    failed("%s: code %d, not %d (%s)", what, code, wanted, backend->last_error());
  else if (wanted != UT_OK && backend->last_error()[0] == '\0')
    failed("%s: no reason", what);
}

void refusals(const ut_backend *backend) {
  if (ut_backend_open(UT_BACKEND_ABI + 1) != nullptr) failed("another ABI number is answered");
  WaitRig rig(backend);
  const std::vector<std::vector<int32_t>> wrong = {{UT_ZERO, 5, 0, 1, 256},
                                                   {UT_ZERO, 5, 1, 1, 3},
                                                   {UT_ZERO, 4, 0, 1},
                                                   {UT_WAIT, 3, 77},
                                                   {99, 2},
                                                   {UT_ZERO},
                                                   {UT_ZERO, 5, 0, 1, 11, UT_MOVE, 7, 0, 0, 1, 12, 12}};
  for (const auto &words : wrong)
    expect_code(backend, backend->submit(rig.device(), words.data(), words.size()), UT_INVALID, "a wrong script");
  uint32_t mask[1] = {1}, out[3];
  const int32_t page = 0;
  uint8_t byte = 0;
  int32_t cell = 0;
  expect_code(backend, backend->hash_pages(rig.device(), 0, 1, &page, mask, out), UT_INVALID, "hash of page 0");
  expect_code(backend, backend->hash_pages(rig.device(), 1, 0, &page, mask, out), UT_INVALID, "hash of no band");
  expect_code(backend, backend->read_bytes(rig.device(), 1 << 20, 1, &byte), UT_INVALID, "bytes beyond");
  expect_code(backend, backend->read_bytes(rig.device(), UINT64_MAX, 2, &byte), UT_INVALID, "bytes far beyond");
  expect_code(backend, backend->read_table(rig.device(), 0, 0, 101, &cell), UT_INVALID, "a longer table");
  expect_code(backend, backend->read_table(rig.device(), 1, 3, 1, &cell), UT_INVALID, "no such row");
  expect_code(backend, backend->translate(rig.device(), 0, &cell, 16, 1, 1, &cell, 32, 1), UT_INVALID, "16 bits");
  if (backend->query(rig.device(), 500) >= 0) failed("a query of no handle");
  ut_config config = rig.config();
  ut_device *other = nullptr;
  config.device = 1000;
  expect_code(backend, backend->open(&config, &other), UT_UNAVAILABLE, "a device that is not there");
  config = rig.config();
  config.arena_bytes = uint64_t{1} << 50;
  expect_code(backend, backend->open(&config, &other), UT_NO_MEMORY, "an arena of a petabyte");
  expect_code(backend, backend->resize(rig.device(), &config), UT_NO_MEMORY, "a resize to a petabyte");
  rig.compare("after all refusals");
  section("refusals");
}

void resizes(const ut_backend *backend) {
  Rig rig(backend, 1 << 20, {{4096, 256, 1, 16, 100, 8, 0}}, 2, 8, UT_FILL_POISON | UT_CHECK_READS);
  for (uint32_t round = 0; round < 4; round++) {
    const uint64_t bytes = round % 2 == 0 ? 3 << 20 : 1 << 19;
    const auto pages = static_cast<uint32_t>(bytes / 2048);
    if (!rig.resize(bytes, {{2048, pages, 1, 8, 120, 4, 0}}, 3, 20,
                    round < 2 ? UT_CHECK_READS : UT_FILL_POISON | UT_CHECK_READS))
      failed("resize: %s", backend->last_error());
    rig.compare("a new geometry");
    RandomScripts source(rig, round + 1);
    for (uint32_t i = 0; i < 30; i++) rig.run(source.next());
    rig.compare("after a resize");
  }
  section("resizes");
}

// No verb takes device memory.
void memory_stays(const ut_backend *backend) {
  const std::vector<Case> shapes = cases();
  Rig rig(backend, shapes[1].arena_bytes, shapes[1].bands, shapes[1].rows, shapes[1].row_pages, shapes[1].flags);
  RandomScripts source(rig, 5);
  ut_capabilities before{}, after{};
  rig.check(backend->capabilities(0, &before), "capabilities");
  for (uint32_t i = 0; i < 200; i++) {
    rig.run(source.next());
    if (i % 16 == 15) rig.compare("memory");
  }
  for (uint32_t band = 0; band < rig.bands().size(); band++) rig.compare_hashes("memory", band, source.chance());
  rig.check(backend->capabilities(0, &after), "capabilities");
  if (before.memory_free_bytes != after.memory_free_bytes)
    failed("free memory went from %llu to %llu bytes", static_cast<unsigned long long>(before.memory_free_bytes),
           static_cast<unsigned long long>(after.memory_free_bytes));
  section("memory stays");
}

void lost_device(const ut_backend *backend) {
  WaitRig rig(backend);
  if (ut::cuda::launch_trap(rig.device()->streams.of(ut::cuda::kSchedule)) != cudaSuccess)
    failed("the trap was not launched");
  Script script;
  script.list(UT_ZERO, {0}, {11}, 1);
  script.verb(UT_HOSTREAD, {});
  const int32_t first = backend->submit(rig.device(), script.words.data(), script.words.size());
  expect_code(backend, first, UT_LOST, "the call that meets the failure");
  std::printf("the device said: %s\n", backend->last_error());
  uint32_t count = 0;
  uint8_t byte = 0;
  expect_code(backend, backend->submit(rig.device(), script.words.data(), script.words.size()), UT_LOST, "submit");
  expect_code(backend, backend->faults(rig.device(), nullptr, 0, &count), UT_LOST, "faults");
  expect_code(backend, backend->read_bytes(rig.device(), 0, 1, &byte), UT_LOST, "read_bytes");
  expect_code(backend, backend->resize(rig.device(), &rig.config()), UT_LOST, "resize");
  if (backend->query(rig.device(), 1) != -UT_LOST) failed("query of a lost device");
  section("lost device");
}

} // namespace

int main(int argc, char **argv) {
  const bool is_quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const bool is_lost = argc > 1 && std::strcmp(argv[1], "--lost") == 0;
  const ut_backend *backend = ut_backend_open(UT_BACKEND_ABI);
  if (backend->device_count() == 0) {
    std::puts("no CUDA device: nothing was tested");
    return 3;
  }
  ut_capabilities capabilities{};
  if (backend->capabilities(0, &capabilities) != UT_OK) {
    std::printf("FAILED: capabilities: %s\n", backend->last_error());
    return 1;
  }
  std::printf("%s, compute capability %u.%u, %.1f of %.1f GiB free\n", capabilities.name, capabilities.compute_major,
              capabilities.compute_minor, static_cast<double>(capabilities.memory_free_bytes) / (1 << 30),
              static_cast<double>(capabilities.memory_bytes) / (1 << 30));
  if (is_lost) {
    lost_device(backend);
  } else {
    waits(backend, !is_quick);
    refusals(backend);
    random_scripts(backend, is_quick ? 1 : 6, is_quick ? 24 : 160);
    if (!is_quick) long_lists(backend);
    translations(backend);
    resizes(backend);
    if (!is_quick) memory_stays(backend);
  }
  std::printf(failures == 0 ? "all held\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
