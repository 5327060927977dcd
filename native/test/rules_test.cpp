// Every rule of a script and of a configuration, broken one at a time: refused with a line that says where, and nothing done.
#include <cstring>
#include <limits>

#include "support/machine.hpp"

namespace {

using namespace test;

constexpr std::int32_t big = std::numeric_limits<std::int32_t>::max();

// A device with something in every place, forward 1 recorded, forward 2 not, host copy 3, transfer 4.
void fill(Machine &machine) {
  machine.run({verb(UT_STAMP, {0, 2, 3, 1, 5, 4, 0, 6}), verb(UT_BIND, {0, 1, 2, 4, 8, 5, 9}), verb(UT_ROW, {1, 0, 2, 4, 5}),
               verb(UT_FORWARD, {1, 0, 1, 0, 1, 1, 2, 0, 4, 0, 4, 0, 7}), verb(UT_RECORD, {1}),
               verb(UT_FORWARD, {2, 0, 0, 0, 0}), verb(UT_HOSTCOPY, {3, 0, 0, 1, 0, 8, 0}),
               verb(UT_RECEIVE, {4, 0, 1, 0, 12, 0, 1, 0, 3}), verb(UT_SYNCHRONIZE)});
}

struct Broken {
  Words words;
  const char *reason; // part of the line
};

// The verb stands behind one that would leave a mark, so that a check that ran half of a script is seen.
void refuses(const std::vector<Broken> &all) {
  Machine machine;
  fill(machine);
  const std::vector<std::uint8_t> bytes = machine.bytes();
  const std::vector<Words> tables = machine.tables();
  for (const Broken &broken : all) {
    Words words = script({verb(UT_STAMP, {0, 1, 20, 0, 99}), verb(UT_FORWARD, {50, 0, 0, 0, 0}), verb(UT_FORGET, {3})});
    words.insert(words.end(), broken.words.begin(), broken.words.end());
    CHECK(machine.submit(words) == UT_INVALID);
    const std::string reason = machine.error();
    const bool is_told = reason.find(broken.reason) != std::string::npos && reason.rfind("verb 4", 0) == 0 &&
                         reason.find('\n') == std::string::npos;
    if (!is_told) std::fprintf(stderr, "wanted: %s\nsaid:   %s\n", broken.reason, reason.c_str());
    CHECK(is_told);
    CHECK(machine.query(50) < 0);  // not taken
    CHECK(machine.query(3) == 1); // not given back
  }
  CHECK(machine.bytes() == bytes);
  CHECK(machine.tables() == tables);
  machine.run({verb(UT_FORWARD, {50, 0, 0, 0, 0}), verb(UT_WAIT, {3})}); // what was refused hangs on nowhere
}

void checks_lengths() {
  refuses({
      {{UT_SYNCHRONIZE}, "at least two words"},
      {{UT_SYNCHRONIZE, 1}, "a length of 1"},
      {{UT_SYNCHRONIZE, -2}, "a length of -2"},
      {{UT_SYNCHRONIZE, 3}, "a length of 3 where 2 words are left"},
      {{UT_SYNCHRONIZE, 3, 0}, "a length of 3, its arguments make 2"},
      {{0, 2}, "there is no verb 0"},
      {{21, 2}, "there is no verb 21"},
      {{UT_ZERO, 2}, "too few"},
      {{UT_ZERO, 4, 0, 1}, "a length of 4, its arguments make 5"},
      {{UT_ZERO, 4, 0, -1}, "a count of -1"},
      {{UT_ZERO, 4, 0, big}, "entries in 4 words"},
      {{UT_EXPECT, 3, 0}, "too few"},
      {{UT_EXPECT, 8, 0, 1, 4, 1, 2, 3}, "its arguments make 9"},
      {{UT_FORWARD, 6, 9, 0, 0, 0}, "too few"},
      {{UT_FORWARD, 7, 9, 0, -1, 0, 0}, "a count of -1"},
      {{UT_FORWARD, 7, 9, 0, big, big, big}, "its arguments make"},
      {{UT_SEND, 5, 9, 0, 1}, "too few"},
      {{UT_SEND, 6, 9, 0, -1, 0}, "a mask of -1 words"},
      {{UT_SEND, 6, 9, 0, big, 6}, "its arguments make"},
      {{UT_HOSTCOPY, 2}, "too few"},
      {{UT_RECORD, 2}, "its arguments make 3"},
  });
}

void checks_places() {
  refuses({
      {verb(UT_ZERO, {3, 0}), "band 3 is outside 0..2"},
      {verb(UT_ZERO, {-1, 0}), "band -1"},
      {verb(UT_ZERO, {0, 2, 1, 0}), "page 0 is outside 1..31"},
      {verb(UT_ZERO, {1, 1, 1}), "page 1 is outside 2..39"}, // before its first
      {verb(UT_ZERO, {0, 1, 32}), "page 32"},
      {verb(UT_ZERO, {0, 1, -1}), "page -1"},
      {verb(UT_MOVE, {0, 2, 0}), "2 where 0 or 1"},
      {verb(UT_MOVE, {0, 1, 1, 1, 40}), "page 40"},
      {verb(UT_MOVE, {0, 0, 2, 1, 2, 3, 1}), "page 1 is named twice"},
      {verb(UT_MOVE, {0, 0, 1, 5, 5}), "page 5 is named twice"},
      {verb(UT_BIND, {0, 0, 1, 0, 4}), "id 0 is outside 1..19"},
      {verb(UT_BIND, {2, 0, 1, 6, 4}), "id 6 is outside 1..5"},
      {verb(UT_BIND, {0, 0, 1, 1, 32}), "page 32"},
      {verb(UT_BIND, {0, 3, 0}), "3 where 0 or 1"},
      {verb(UT_BIND, {0, 0, 3, 1, 4, 2, 5, 1, 6}), "id 1 is named twice"},
      {verb(UT_ROW, {0, 0, 0}), "row 0 is outside 1..4"},
      {verb(UT_ROW, {5, 0, 0}), "row 5"},
      {verb(UT_ROW, {1, 7, 2, 0, 0}), "a row has 8"},
      {verb(UT_ROW, {1, -1, 1, 0}), "a row has 8"},
      {verb(UT_ROW, {1, big, 1, 0}), "a row has 8"},
      {verb(UT_ROW, {1, 0, 1, 20}), "id 20 of a row"},
      {verb(UT_ROW, {1, 0, 1, -1}), "id -1 of a row"},
      {verb(UT_EXPECT, {0, 1, 20, 0, 0, 0, 0}), "id 20"},
      {verb(UT_STAMP, {0, 1, 1, 4, 9}), "unit 4 is outside 0..3"},
      {verb(UT_STAMP, {2, 1, 1, 1, 9}), "unit 1 is outside 0..0"},
      {verb(UT_STAMP, {0, 1, 1, -1, 9}), "unit -1"},
      {verb(UT_RESET, {2, 1, 5}), "row 5"},
      {verb(UT_HOSTCOPY, {9, 2, 0, 0}), "2 where 0 or 1"},
      {verb(UT_HOSTCOPY, {9, 0, 0, 1, 0, 1, 4}), "host page 4 is not below 4"},
      {verb(UT_HOSTCOPY, {9, 0, 0, 1, 0, 1, -1}), "host page -1"},
      {verb(UT_HOSTCOPY, {9, 0, 0, 1, 7, 1, 0}), "band 7"},
      {verb(UT_SEND, {9, 0, 0, 1, 0, 1, 0}), "a mask of 0 words is too short for band 0"},
      {verb(UT_SEND, {9, 0, 1, 1, 0, 0, 0, 15}), "page 0"},
      {verb(UT_RECEIVE, {9, 0, 1, 0, 1, 0, 5, 0, 0}), "units 0 to 5 of a page that has 4"},
      {verb(UT_RECEIVE, {9, 0, 1, 0, 1, 3, 2, 0, 0}), "units 3 to 2"},
      {verb(UT_RECEIVE, {9, 0, 1, 0, 1, -1, 2, 0, 0}), "units -1 to 2"},
      {verb(UT_FILL, {9, 0, 1, 0, 1, 0, 5, 0, 0}), "units 0 to 5 of a page that has 4"},
      {verb(UT_FILL, {9, 0, 1, 0, 0, 0, 1, 0, 0}), "page 0"},
      {verb(UT_FILL, {9, 0, 1, 3, 1, 0, 1, 0, 0}), "band 3"},
      {verb(UT_FILL, {9, 10000001, 0}), "a delay of 10000001 us"},
      {verb(UT_DELAY, {4, 0}), "there is no stream 4"},
      {verb(UT_DELAY, {-1, 0}), "there is no stream -1"},
      {verb(UT_DELAY, {0, -1}), "a delay of -1 us"},
      {verb(UT_DELAY, {0, 10000001}), "a delay of 10000001 us"},
  });
}

void checks_forwards_and_handles() {
  refuses({
      {verb(UT_FORWARD, {9, 0, 1, 0, 0, 5, 0}), "row 5"},
      {verb(UT_FORWARD, {9, 0, 1, 0, 0, 1, 9}), "9 cells are read of a row that has 8"},
      {verb(UT_FORWARD, {9, 0, 1, 0, 0, 1, -1}), "-1 cells"},
      {verb(UT_FORWARD, {9, 0, 0, 1, 0, 2, 6}), "id 6"},
      {verb(UT_FORWARD, {9, 0, 0, 1, 0, 0, 4}), "band 0 holds no states"},
      {verb(UT_FORWARD, {9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}), "id 0"},
      {verb(UT_FORWARD, {9, 0, 0, 0, 1, 0, 1, 0, 5, 0, 0}), "units 0 to 5"},
      {verb(UT_FORWARD, {9, -5, 0, 0, 0}), "a delay of -5 us"},
      {verb(UT_FORWARD, {0, 0, 0, 0, 0}), "handle 0 is outside 1..65535"},
      {verb(UT_FORWARD, {65536, 0, 0, 0, 0}), "handle 65536"},
      {verb(UT_FORWARD, {-1, 0, 0, 0, 0}), "handle -1"},
      {verb(UT_FORWARD, {1, 0, 0, 0, 0}), "handle 1 is in use"},
      {verb(UT_FORWARD, {50, 0, 0, 0, 0}), "handle 50 is in use"}, // by this very script
      {verb(UT_HOSTCOPY, {2, 0, 0, 0}), "handle 2 is in use"},
      {verb(UT_SEND, {4, 0, 0, 0}), "handle 4 is in use"},
      {verb(UT_RECEIVE, {1, 0, 0}), "handle 1 is in use"},
      {verb(UT_FILL, {1, 0, 0}), "handle 1 is in use"},
      {verb(UT_RECORD, {9}), "handle 9 is unknown"},
      {verb(UT_RECORD, {4}), "handle 4 is no forward's"},
      {verb(UT_WAIT, {2}), "forward 2 was never recorded"},
      {verb(UT_WAIT, {4}), "no stream waits for a transfer"},
      {verb(UT_WAIT, {9}), "handle 9 is unknown"},
      {verb(UT_WAIT, {3}), "handle 3 is unknown"}, // this very script forgot it
      {verb(UT_BARRIER, {4}), "handle 4 is no forward's"},
      {verb(UT_BARRIER, {9}), "unknown"},
      {verb(UT_HOSTWAIT, {9}), "unknown"},
      {verb(UT_FORGET, {9}), "unknown"},
      {verb(UT_FORGET, {70000}), "outside 1..65535"},
  });
}

void names_the_word() {
  Machine machine;
  CHECK(machine.submit(script({verb(UT_HOSTREAD), verb(UT_ZERO, {0, 3, 1, 2, 40})})) == UT_INVALID);
  CHECK(machine.error() == "verb 2 ZERO, word 8: page 40 is outside 1..31");
  CHECK(machine.submit({}) == UT_OK);
  CHECK(machine.error().empty());
  CHECK(machine.host->submit(machine.device, nullptr, 4) == UT_INVALID);
}

void accepts_what_is_allowed() {
  Machine machine;
  machine.run({verb(UT_ZERO, {0, 0}), verb(UT_MOVE, {0, 0, 0}), verb(UT_BIND, {1, 1, 0}), verb(UT_ROW, {4, 8, 0}),
               verb(UT_EXPECT, {2, 0}), verb(UT_STAMP, {2, 0}), verb(UT_RESET, {0}), verb(UT_DELAY, {3, 0})});
  machine.run({verb(UT_ZERO, {0, 3, 1, 31, 1}), verb(UT_BIND, {0, 0, 2, 1, 5, 2, 5}), verb(UT_MOVE, {0, 1, 1, 5, 5}),
               verb(UT_MOVE, {0, 0, 1, 30, 31}), verb(UT_FORWARD, {65535, 0, 1, 0, 0, 4, 8}), verb(UT_RECORD, {65535}),
               verb(UT_RECORD, {65535}), verb(UT_WAIT, {65535}), verb(UT_FORGET, {65535}), verb(UT_SEND, {65535, 0, 3, 0}),
               verb(UT_FORGET, {65535}), verb(UT_RECEIVE, {65535, 0, 1, 0, 1, 4, 4, -7, -8}), verb(UT_SYNCHRONIZE)});
}

void refuses_configurations() {
  const auto refused = [](ut_config config, std::int32_t code, const char *reason) {
    ut_device *device = nullptr;
    CHECK(ut::host_backend()->open(&config, &device) == code);
    CHECK(device == nullptr);
    const bool is_told = std::strstr(ut::host_backend()->last_error(), reason) != nullptr;
    if (!is_told) std::fprintf(stderr, "wanted: %s\nsaid:   %s\n", reason, ut::host_backend()->last_error());
    CHECK(is_told);
  };
  const auto with_band = [&refused](auto change, const char *reason) {
    ut_band band = bands[0];
    change(band);
    ut_config config = small_config();
    config.bands = &band;
    config.band_count = 1;
    refused(config, UT_INVALID, reason);
  };
  with_band([](ut_band &band) { band.page_bytes = 0; }, "no multiple of 4");
  with_band([](ut_band &band) { band.page_bytes = 254; }, "no multiple of 4");
  with_band([](ut_band &band) { band.pages = 33; }, "exceed the arena");
  with_band([](ut_band &band) { band.pages = 0x80000000u; }, "below 2^31");
  with_band([](ut_band &band) { band.page_bytes = std::uint64_t{1} << 63; }, "exceed the arena");
  with_band([](ut_band &band) { band.first_page = 0; }, "first page 0");
  with_band([](ut_band &band) { band.first_page = 33; }, "first page 33");
  with_band([](ut_band &band) { band.units = 0; }, "0 units");
  with_band([](ut_band &band) { band.units = 65; }, "65 units do not fit");
  with_band([](ut_band &band) { band.ids = 0; }, "no ids");
  with_band([](ut_band &band) { band.flags = 2; }, "unknown flags 0x2");
  ut_config config = small_config();
  config.band_count = 0;
  refused(config, UT_INVALID, "0 bands");
  config.band_count = 65;
  refused(config, UT_INVALID, "65 bands");
  config = small_config(4);
  refused(config, UT_INVALID, "unknown flags 0x4");
  config = small_config();
  config.reserved = 1;
  refused(config, UT_INVALID, "reserved");
  config = small_config();
  config.rows = 0x80000000u;
  refused(config, UT_INVALID, "below 2^31");
  config = small_config();
  config.device = 1;
  refused(config, UT_UNAVAILABLE, "no device 1");
  config = small_config();
  config.arena_bytes = std::uint64_t{1} << 60;
  refused(config, UT_NO_MEMORY, "three quarters of this machine's memory");
  config = small_config();
  config.rows = config.row_pages = 0x7fffffffu;
  refused(config, UT_NO_MEMORY, "three quarters");
  ut_device *device = nullptr;
  CHECK(ut::host_backend()->open(nullptr, &device) == UT_INVALID);
  CHECK(ut::host_backend()->open(&config, nullptr) == UT_INVALID);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      {
          {"checks lengths", checks_lengths},
          {"checks places", checks_places},
          {"checks forwards and handles", checks_forwards_and_handles},
          {"names the word", names_the_word},
          {"accepts what is allowed", accepts_what_is_allowed},
          {"refuses configurations", refuses_configurations},
      },
      count, arguments);
}
