// The device as a whole: what checked reads find, what a resize and a close do, the border's own answers, and streams that meet in
// the same bytes without a wait.
#include "support/script_maker.hpp"

namespace {

using namespace test;
using Stamps = std::vector<std::uint32_t>;

bool is_fault(const ut_fault &fault, const std::vector<std::uint32_t> &wanted) {
  const std::vector<std::uint32_t> words{fault.kind, fault.handle, fault.band,     fault.id,
                                         fault.page, fault.unit,   fault.expected, fault.found};
  if (words == wanted) return true;
  for (const std::uint32_t word : words) std::fprintf(stderr, "%u ", word);
  std::fprintf(stderr, "\n");
  return false;
}

void forwards_check_what_they_read() {
  Machine machine;
  // Id 4 lies in page 8 of band 0 and in page 30 of band 1; id 5 is bound nowhere; state 3 lies in page 15.
  machine.run({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_BIND, {1, 1, 1, 4, 30}), verb(UT_BIND, {2, 1, 1, 3, 15}),
               verb(UT_ROW, {1, 0, 3, 4, 5, 0}), verb(UT_EXPECT, {0, 1, 4, 0, 21, 22, 0}), verb(UT_EXPECT, {1, 1, 4, 31, 0, 33}),
               verb(UT_EXPECT, {0, 1, 5, 1, 1, 1, 1}), verb(UT_EXPECT, {2, 1, 3, 41}),
               verb(UT_STAMP, {0, 2, 8, 0, 99, 8, 1, 21}), verb(UT_STAMP, {1, 2, 30, 0, 31, 30, 2, 34}),
               verb(UT_STAMP, {2, 1, 15, 0, 41}), verb(UT_FORWARD, {6, 0, 1, 1, 0, 1, 3, 2, 3})});
  std::vector<ut_fault> faults = machine.faults();
  CHECK(machine.fault_count == 2);
  if (faults.size() == 2) {
    CHECK(is_fault(faults[0], {1, 6, 0, 4, 8, 2, 22, 0}));
    CHECK(is_fault(faults[1], {1, 6, 1, 4, 30, 2, 33, 34}));
  }
  machine.run({verb(UT_FORWARD, {7, 0, 1, 0, 0, 1, 0})}); // no cells, nothing read
  CHECK(machine.faults().empty());
  machine.run({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_BIND, {1, 1, 1, 4, 30}), verb(UT_FORWARD, {8, 0, 1, 0, 0, 1, 3})});
  CHECK(machine.faults().empty()); // fresh ids: nothing is expected any more
  machine.run({verb(UT_EXPECT, {0, 1, 4, 0, 5, 0, 0}), verb(UT_STAMP, {0, 1, 8, 1, 5}), verb(UT_ZERO, {1, 1, 12}),
               verb(UT_FORWARD, {9, 0, 1, 0, 0, 1, 1})});
  CHECK(machine.faults().empty()); // bytes 2400 to 2600 lie behind the page, 2048 to 2304
  machine.run({verb(UT_ZERO, {1, 1, 10}), verb(UT_FORWARD, {10, 0, 1, 0, 0, 1, 1})}); // 2000 to 2200, with all of unit 1
  faults = machine.faults();
  CHECK(faults.size() == 1 && is_fault(faults[0], {1, 10, 0, 4, 8, 1, 5, 0}));
}

void torn_units_are_found() {
  Machine machine;
  machine.run({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_ROW, {1, 0, 1, 4}), verb(UT_EXPECT, {0, 1, 4, 0, 0, 5, 0}),
               verb(UT_STAMP, {0, 1, 8, 2, 5}), verb(UT_ZERO, {1, 1, 11}), // unit 2 lies at 2176 to 2240, zeros from 2200
               verb(UT_FORWARD, {1, 0, 1, 0, 0, 1, 1})});
  const std::vector<ut_fault> faults = machine.faults();
  CHECK(faults.size() == 1 && is_fault(faults[0], {1, 1, 0, 4, 8, 2, 5, 0xffffffff}));
}

void forwards_expect_what_they_wrote() {
  Machine machine;
  machine.run({verb(UT_BIND, {0, 1, 2, 4, 8, 5, 9}), verb(UT_ROW, {1, 0, 2, 4, 5}), verb(UT_EXPECT, {0, 1, 4, 0, 0, 0, 70}),
               verb(UT_STAMP, {0, 1, 8, 3, 70}),
               // It checks what stood there before its own writes.
               verb(UT_FORWARD, {1, 0, 1, 0, 2, 1, 2, 0, 4, 2, 4, 10, 3, 0, 5, 0, 1, 14, 3}),
               verb(UT_FORWARD, {2, 0, 1, 0, 0, 1, 2}), verb(UT_HOSTWAIT, {2})});
  CHECK(machine.faults().empty());
  machine.run({verb(UT_ZERO, {0, 1, 9}), verb(UT_FORWARD, {3, 0, 1, 0, 0, 1, 2})});
  const std::vector<ut_fault> faults = machine.faults();
  CHECK(faults.size() == 1 && is_fault(faults[0], {1, 3, 0, 5, 9, 0, ut_stamp_of(3, 14), 0}));
}

void unbound_writes_are_found() {
  for (const std::uint32_t flags : {0u, UT_CHECK_READS}) {
    Machine machine(small_config(flags));
    machine.run({verb(UT_FORWARD, {1, 0, 0, 0, 2, 0, 4, 1, 3, 10, 3, 0, 5, 2, 2, 0, 0})}); // the second writes nothing
    const std::vector<ut_fault> faults = machine.faults();
    CHECK(faults.size() == 1 && is_fault(faults[0], {3, 1, 0, 4, 0, 1, ut_stamp_of(3, 11), 0}));
  }
}

void without_checks_nothing_is_read() {
  Machine machine(small_config(0));
  machine.run({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_ROW, {1, 0, 1, 4}), verb(UT_EXPECT, {0, 1, 4, 1, 2, 3, 4}),
               verb(UT_FORWARD, {1, 0, 1, 0, 1, 1, 1, 0, 4, 0, 1, 0, 7}), verb(UT_SEND, {2, 0, 1, 1, 0, 8, 12345, 15})});
  CHECK(machine.faults().empty());
  CHECK((machine.stamps(0, 8) == Stamps{ut_stamp_of(7, 0), 0, 0, 0}));
}

void faults_are_bounded_and_all_counted() {
  Machine machine;
  Words words;
  for (std::int32_t i = 0; i < 4200; i++) {
    const Words one = script({verb(UT_SEND, {1 + i, 0, 1, 1, 0, 8, 7, 15})});
    words.insert(words.end(), one.begin(), one.end());
  }
  machine.run({words});
  const std::vector<ut_fault> faults = machine.faults(3);
  CHECK(machine.fault_count == 4200);
  CHECK(faults.size() == 3 && faults[0].handle == 1 && faults[1].handle == 2 && faults[2].handle == 3); // the oldest
  CHECK(machine.faults().empty() && machine.fault_count == 0);
  std::uint32_t count = 9;
  CHECK(machine.host->faults(machine.device, nullptr, 0, &count) == UT_OK && count == 0);
  CHECK(machine.host->faults(machine.device, nullptr, 1, &count) == UT_INVALID);
}

void a_resize_is_all_or_nothing() {
  Machine machine;
  machine.run({verb(UT_STAMP, {0, 1, 8, 0, 9}), verb(UT_BIND, {0, 0, 1, 4, 8}), verb(UT_FORWARD, {1, 20000, 0, 0, 0})});
  ut_config config = small_config();
  config.arena_bytes = std::uint64_t{1} << 60;
  CHECK(machine.host->resize(machine.device, &config) == UT_NO_MEMORY);
  CHECK(machine.error().find("1152921504606") != std::string::npos); // the bytes that it would take
  config = small_config();
  config.band_count = 0;
  CHECK(machine.host->resize(machine.device, &config) == UT_INVALID);
  CHECK((machine.stamps(0, 8) == Stamps{9, 0, 0, 0}));
  CHECK(machine.table(0, 0, 20)[4] == 8);
  machine.run({verb(UT_RECORD, {1}), verb(UT_SEND, {2, 0, 1, 1, 0, 8, 1, 15})}); // a fault that nobody asks for

  ut_band grown = bands[0];
  grown.pages = 100;
  config = small_config();
  config.arena_bytes = 25600;
  config.bands = &grown;
  config.band_count = 1;
  CHECK(machine.host->resize(machine.device, &config) == UT_OK);
  machine.arena_bytes = 25600;
  CHECK(machine.query(1) < 0); // handles are given up
  CHECK(machine.faults().empty());
  CHECK(machine.bytes() == std::vector<std::uint8_t>(25600, 0));
  CHECK(machine.table(0, 0, 20) == Words(20, 0));
  machine.run({verb(UT_FORWARD, {1, 0, 0, 0, 0}), verb(UT_STAMP, {0, 1, 99, 3, 5})});
  CHECK((machine.stamps(0, 99) == Stamps{0, 0, 0, 5}));
  CHECK(machine.submit(script({verb(UT_ZERO, {1, 0})})) == UT_INVALID); // one band now
}

void the_border_answers() {
  Machine machine;
  const ut_backend *host = machine.host;
  CHECK(host->abi == UT_BACKEND_ABI && host->device_count() == 1 && std::string(host->name) == "host");
  ut_capabilities capabilities = {};
  CHECK(host->capabilities(0, &capabilities) == UT_OK);
  CHECK(capabilities.memory_bytes >= capabilities.memory_free_bytes && capabilities.memory_free_bytes > 0);
  CHECK(capabilities.read_end == 1 && capabilities.concurrent_streams == 1 && capabilities.name[0] != '\0');
  CHECK(host->capabilities(1, &capabilities) == UT_UNAVAILABLE && host->last_error()[0] != '\0');
  std::uint8_t byte = 0;
  CHECK(host->read_bytes(machine.device, 8191, 1, &byte) == UT_OK && host->last_error()[0] == '\0');
  CHECK(host->read_bytes(machine.device, 8192, 0, nullptr) == UT_OK);
  CHECK(host->read_bytes(machine.device, 8192, 1, &byte) == UT_INVALID);
  CHECK(host->read_bytes(machine.device, ~std::uint64_t{0}, 2, &byte) == UT_INVALID);
  std::int32_t cells[40] = {};
  CHECK(host->read_table(machine.device, 0, 0, 21, cells) == UT_INVALID);
  CHECK(host->read_table(machine.device, 0, 3, 1, cells) == UT_INVALID);
  CHECK(host->read_table(machine.device, 1, 0, 1, cells) == UT_INVALID);
  CHECK(host->read_table(machine.device, 1, 5, 1, cells) == UT_INVALID);
  CHECK(host->read_table(machine.device, 2, 0, 6, cells) == UT_INVALID);
  CHECK(host->read_table(machine.device, 3, 0, 1, cells) == UT_INVALID);
  const std::int32_t page = 32;
  const std::uint32_t mask = 15;
  std::uint32_t out[3] = {};
  CHECK(host->hash_pages(machine.device, 0, 1, &page, &mask, out) == UT_INVALID);
  CHECK(host->hash_pages(machine.device, 3, 0, nullptr, nullptr, nullptr) == UT_INVALID);
  CHECK(host->query(machine.device, 0) < 0 && host->query(machine.device, 70000) < 0);
  CHECK(host->submit(nullptr, nullptr, 0) == UT_INVALID);
  host->close(nullptr);
  CHECK(host->last_error()[0] == '\0');
}

void a_close_waits_for_the_work() {
  for (std::uint32_t seed = 0; seed < 10; seed++) {
    Machine machine;
    CHECK(machine.submit(ScriptMaker(seed).make(100)) == UT_OK);
  }
}

// Writers of every stream in the same pages, no wait between them: the bytes are anyone's, the device stands, and the thread
// sanitizer has nothing to say.
void streams_meet_in_the_same_bytes() {
  Machine machine;
  Words words = script({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_ROW, {1, 0, 1, 4})});
  const auto add = [&words](const Words &one) { words.insert(words.end(), one.begin(), one.end()); };
  for (std::int32_t i = 1; i <= 240; i += 4) {
    add(verb(UT_FORWARD, {i, 0, 1, 0, 1, 1, 1, 0, 4, 0, 4, i, 7}));
    add(verb(UT_RECEIVE, {i + 1, 0, 1, 0, 8, 0, 4, i, 8}));
    add(verb(UT_MOVE, {0, 1, 2, 8, 9, 9, 8}));
    add(verb(UT_HOSTCOPY, {i + 2, i / 4 % 2, 0, 1, 0, 8, 0}));
    add(verb(UT_SEND, {i + 3, 0, 1, 1, 0, 8, 0, 15}));
    add(verb(UT_ZERO, {1, 2, 10, 11}));
    add(verb(UT_BIND, {0, 0, 1, 4, 8 + i % 2}));
    add(verb(UT_EXPECT, {0, 1, 4, 1, 2, 3, 4}));
    add(verb(UT_ROW, {1, 0, 1, 4}));
  }
  machine.run({words});
  machine.faults();
  CHECK(machine.table(2, 0, 2)[1] == 60);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      {
          {"forwards check what they read", forwards_check_what_they_read},
          {"torn units are found", torn_units_are_found},
          {"forwards expect what they wrote", forwards_expect_what_they_wrote},
          {"unbound writes are found", unbound_writes_are_found},
          {"without checks nothing is read", without_checks_nothing_is_read},
          {"faults are bounded and all counted", faults_are_bounded_and_all_counted},
          {"a resize is all or nothing", a_resize_is_all_or_nothing},
          {"the border answers", the_border_answers},
          {"a close waits for the work", a_close_waits_for_the_work},
          {"streams meet in the same bytes", streams_meet_in_the_same_bytes},
      },
      count, arguments);
}
