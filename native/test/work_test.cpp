// What single verbs do to bytes and tables, on a device that nothing else runs on.
#include "support/machine.hpp"

namespace {

using namespace test;
using Stamps = std::vector<std::uint32_t>;

void opens_full_of_zeros_or_poison() {
  Machine zeros;
  CHECK(zeros.bytes() == std::vector<std::uint8_t>(8192, 0));
  Machine poison(small_config(UT_FILL_POISON));
  const std::vector<std::uint8_t> bytes = poison.bytes();
  bool is_poison = true;
  for (std::size_t i = 0; i < bytes.size(); i += 2) is_poison = is_poison && bytes[i] == 0xc1 && bytes[i + 1] == 0x7f;
  CHECK(is_poison);
  poison.run({verb(UT_ZERO, {1, 2, 3, 5})});
  CHECK(poison.bytes(600, 200) == std::vector<std::uint8_t>(200, 0));
  CHECK(poison.bytes(1000, 200) == std::vector<std::uint8_t>(200, 0));
  CHECK(poison.word(1, 4, 0) == 0x7fc17fc1); // between them
}

void stamps_and_hashes() {
  Machine machine;
  machine.run({verb(UT_STAMP, {0, 3, 7, 1, 5, 7, 3, bits(0xfffffff0), 9, 0, 77})});
  CHECK((machine.stamps(0, 7) == Stamps{0, 5, 0, 0xfffffff0}));
  CHECK((machine.stamps(0, 9) == Stamps{77, 0, 0, 0}));
  CHECK(machine.hash(0, 7) == hash_of({0, 5, 0, 0xfffffff0}));
  CHECK(machine.hash(0, 7, 0b0111) == hash_of({0, 5, 0, 0}));
  CHECK(machine.hash(0, 7, 0b0101) == (Hash{0, 0, 0}));
  machine.run({verb(UT_STAMP, {1, 1, 30, 2, 8})}); // bytes 6000 to 6200, the last unit from 6128
  CHECK((machine.stamps(1, 30) == Stamps{0, 0, 8}));
  CHECK(machine.bytes(6192, 8) == std::vector<std::uint8_t>(8, 0)); // left over behind the units
}

// A page of band 0 that a page of band 1 was written over in part: some of its units do not belong together.
void tells_torn_units() {
  Machine machine;
  machine.run({verb(UT_STAMP, {0, 4, 3, 0, 11, 3, 1, 12, 3, 2, 13, 3, 3, 14}), // bytes 768 to 1024, 64 a unit
               verb(UT_ZERO, {1, 1, 4})});                                      // bytes 800 to 1000
  Hash wanted = hash_of({0xffffffff, 0, 0, 0xffffffff}); // units 1 and 2 are zeros, 0 and 3 are cut
  // Unit 3 lost its first words and kept its last, unit 0 the other way round.
  wanted.torn = 2;
  CHECK(machine.hash(0, 3) == wanted);
  CHECK(machine.hash(0, 3, 0b0110) == (Hash{0, 0, 0}));
}

void moves_all_at_once_or_in_order() {
  Machine machine;
  machine.run({verb(UT_STAMP, {0, 3, 1, 0, 101, 2, 0, 102, 3, 0, 103})});
  machine.run({verb(UT_MOVE, {0, 0, 2, 1, 11, 2, 12})});
  CHECK((machine.stamps(0, 11) == Stamps{101, 0, 0, 0}));
  CHECK((machine.stamps(0, 12) == Stamps{102, 0, 0, 0}));
  CHECK((machine.stamps(0, 1) == Stamps{101, 0, 0, 0})); // a copy: the source keeps it
  // In order: 2 goes to 1, then 3 to 2, then what is now in 1 to 3.
  machine.run({verb(UT_MOVE, {0, 1, 4, 2, 1, 3, 2, 1, 3, 3, 3})});
  CHECK((machine.stamps(0, 1) == Stamps{102, 0, 0, 0}));
  CHECK((machine.stamps(0, 2) == Stamps{103, 0, 0, 0}));
  CHECK((machine.stamps(0, 3) == Stamps{102, 0, 0, 0}));
  // The bytes left over at a page's end go along.
  machine.run({verb(UT_STAMP, {0, 1, 24, 0, 9}), verb(UT_MOVE, {1, 0, 1, 30, 35})}); // 6144 lies in page 30 of band 1
  CHECK(machine.bytes(35 * 200, 200) == machine.bytes(30 * 200, 200));
  CHECK(machine.word(1, 35, 36) == 9);
}

// Pages of three words: every second one starts between two eights.
void moves_and_zeros_pages_of_any_words() {
  ut_band band = {12, 10, 1, 3, 2, 0, 0};
  ut_config config = small_config();
  config.bands = &band;
  config.band_count = 1;
  for (const std::int32_t from : {1, 2}) {
    for (const std::int32_t to : {4, 5}) {
      Machine machine(config);
      machine.run({verb(UT_STAMP, {0, 3, from, 0, 1, from, 1, 2, from, 2, 3}), verb(UT_MOVE, {0, 0, 1, from, to})});
      std::vector<std::uint8_t> wanted(120, 0);
      for (std::size_t i = 0; i < 3; i++) {
        wanted[static_cast<std::size_t>(from) * 12 + 4 * i] = static_cast<std::uint8_t>(i + 1);
        wanted[static_cast<std::size_t>(to) * 12 + 4 * i] = static_cast<std::uint8_t>(i + 1);
      }
      CHECK(machine.bytes(0, 120) == wanted);
      machine.run({verb(UT_ZERO, {0, 2, from, to})});
      CHECK(machine.bytes(0, 120) == std::vector<std::uint8_t>(120, 0));
    }
  }
}

void binds_and_fills_rows() {
  Machine machine;
  machine.run({verb(UT_BIND, {0, 0, 3, 5, 9, 6, 10, 7, 11}), verb(UT_BIND, {0, 0, 2, 6, 0, 5, 31})});
  Words wanted(20, 0);
  wanted[5] = 31;
  wanted[7] = 11;
  CHECK(machine.table(0, 0, 20) == wanted);
  CHECK(machine.table(0, 1, 20) == Words(20, 0)); // another band's table
  machine.run({verb(UT_ROW, {2, 1, 3, 5, 6, 7}), verb(UT_ROW, {2, 3, 1, 19}), verb(UT_ROW, {4, 8, 0})});
  CHECK((machine.table(1, 2, 8) == Words{0, 5, 6, 19, 0, 0, 0, 0}));
  CHECK(machine.table(1, 1, 8) == Words(8, 0));
}

void translates() {
  Machine machine;
  machine.run({verb(UT_BIND, {0, 0, 2, 3, 30, 19, 1})}); // four tokens a page
  const std::int32_t ids[] = {12, 13, 14, 15, 16, 0, -1, 79, 80, 2147483647};
  std::int32_t narrow[2 * 7];
  std::fill_n(narrow, 14, -9);
  CHECK(machine.host->translate(machine.device, 0, ids, 32, 2, 5, narrow, 32, 7) == UT_OK);
  const std::int32_t wanted[] = {120, 121, 122, 123, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0};
  CHECK(std::equal(narrow, narrow + 14, wanted));
  const std::int64_t wide_ids[] = {15, std::int64_t{1} << 40, -1, 76};
  std::int64_t wide[4] = {-9, -9, -9, -9};
  CHECK(machine.host->translate(machine.device, 0, wide_ids, 64, 1, 4, wide, 64, 4) == UT_OK);
  CHECK(wide[0] == 123 && wide[1] == 0 && wide[2] == 0 && wide[3] == 4);
  CHECK(machine.host->translate(machine.device, 0, wide_ids, 64, 4, 1, narrow, 32, 1) == UT_OK);
  CHECK(narrow[0] == 123 && narrow[3] == 4);
  CHECK(machine.host->translate(machine.device, 0, ids, 32, 1, 4, wide, 64, 4) == UT_OK);
  CHECK(wide[0] == 120 && wide[3] == 123);
  CHECK(machine.host->translate(machine.device, 0, nullptr, 32, 0, 5, nullptr, 32, 5) == UT_OK);
  CHECK(machine.host->translate(machine.device, 3, ids, 32, 1, 1, narrow, 32, 1) == UT_INVALID);
  CHECK(machine.host->translate(machine.device, 0, ids, 16, 1, 1, narrow, 32, 1) == UT_INVALID);
  CHECK(machine.host->translate(machine.device, 0, ids, 32, 1, 2, narrow, 32, 1) == UT_INVALID);
}

void copies_to_the_host_and_back() {
  Machine machine;
  machine.run({verb(UT_STAMP, {0, 1, 3, 2, 55}), verb(UT_STAMP, {2, 1, 9, 0, 66}), // bytes 768 and 4608
               verb(UT_HOSTCOPY, {1, 0, 0, 2, 0, 3, 0, 2, 9, 1}), verb(UT_WAIT, {1}), verb(UT_ZERO, {0, 1, 3}),
               verb(UT_ZERO, {2, 1, 9}), verb(UT_HOSTCOPY, {2, 1, 0, 2, 0, 5, 0, 2, 10, 1}), verb(UT_HOSTWAIT, {2})});
  CHECK((machine.stamps(0, 3) == Stamps{0, 0, 0, 0}));
  CHECK((machine.stamps(0, 5) == Stamps{0, 0, 55, 0}));
  CHECK((machine.stamps(2, 10) == Stamps{66}));
  CHECK(machine.query(2) == 1);
  CHECK(machine.query(3) < 0);
  machine.run({verb(UT_FORGET, {2})});
  CHECK(machine.query(2) < 0);
}

void forwards_write_and_count() {
  Machine machine;
  machine.run({verb(UT_BIND, {0, 1, 1, 4, 8}), verb(UT_BIND, {2, 1, 1, 3, 15}), verb(UT_ROW, {1, 0, 1, 4}),
               verb(UT_FORWARD, {1, 0, 1, 1, 2, /* row */ 1, 1, /* state */ 2, 3, /* writes */ 0, 4, 1, 3, 100, 9, 2, 3,
                                 0, 1, 103, 9}),
               verb(UT_FORWARD, {2, 0, 2, 0, 0, 1, 1, 3, 0}), verb(UT_RECORD, {2}), verb(UT_HOSTWAIT, {2})});
  CHECK((machine.stamps(0, 8) == Stamps{0, ut_stamp_of(9, 101), ut_stamp_of(9, 102), 0}));
  CHECK((machine.stamps(2, 15) == Stamps{ut_stamp_of(9, 103)}));
  CHECK((machine.table(2, 0, 5) == Words{0, 2, 0, 1, 0}));
  machine.run({verb(UT_RESET, {2, 1, 2})});
  CHECK((machine.table(2, 0, 5) == Words{0, 0, 0, 1, 0}));
  CHECK(machine.faults().empty()); // what the first wrote the second expected and found
}

void sends_and_receives() {
  Machine machine;
  machine.run({verb(UT_RECEIVE, {7, 0, 1, 0, 6, 1, 4, 40, 5}), verb(UT_HOSTWAIT, {7})});
  const Stamps wanted{0, ut_stamp_of(5, 41), ut_stamp_of(5, 42), ut_stamp_of(5, 43)};
  CHECK(machine.stamps(0, 6) == wanted);
  const std::int32_t all = bits(hash_of(wanted).a);
  const std::int32_t part = bits(hash_of({0, wanted[1], 0, 0}).a);
  machine.run({verb(UT_SEND, {8, 0, 2, 2, 0, 6, all, 0xf, 0, 0, 6, part, 0x3, bits(0xffffffff)}), verb(UT_HOSTWAIT, {8})});
  CHECK(machine.faults().empty());
  machine.run({verb(UT_SEND, {9, 0, 1, 1, 0, 6, part, 0xf}), verb(UT_HOSTWAIT, {9})});
  const std::vector<ut_fault> faults = machine.faults();
  CHECK(faults.size() == 1);
  if (faults.empty()) return;
  CHECK(faults[0].kind == 2 && faults[0].handle == 9 && faults[0].band == 0 && faults[0].page == 6);
  CHECK(bits(faults[0].expected) == part && bits(faults[0].found) == all);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      {
          {"opens full of zeros or poison", opens_full_of_zeros_or_poison},
          {"stamps and hashes", stamps_and_hashes},
          {"tells torn units", tells_torn_units},
          {"moves all at once or in order", moves_all_at_once_or_in_order},
          {"moves and zeros pages of any words", moves_and_zeros_pages_of_any_words},
          {"binds and fills rows", binds_and_fills_rows},
          {"translates", translates},
          {"copies to the host and back", copies_to_the_host_and_back},
          {"forwards write and count", forwards_write_and_count},
          {"sends and receives", sends_and_receives},
      },
      count, arguments);
}
