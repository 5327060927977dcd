// Random scripts, whole and broken: a valid one is never refused, a broken one is refused or runs, and a refusal leaves nothing.
#include <memory>

#include "support/script_maker.hpp"
#include "ut/script.hpp"

namespace {

using namespace test;

// In memory of exactly its size, so that the address sanitizer sees a check that reads on.
bool check(ut::ScriptChecker &checker, const Words &words) {
  const auto exact = std::make_unique<std::int32_t[]>(words.size());
  std::copy(words.begin(), words.end(), exact.get());
  return checker.check(exact.get(), words.size());
}

Words mutate(Words words, ScriptMaker &maker) {
  constexpr std::int32_t corners[] = {0, 1, -1, 2, 4, 64, 65535, 65536, 0x7fffffff, -0x7fffffff - 1};
  for (std::int32_t i = maker.pick(1, 3); i > 0 && !words.empty(); i--) {
    const auto at = static_cast<std::size_t>(maker.pick(0, static_cast<std::int32_t>(words.size()) - 1));
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
    switch (maker.pick(0, 5)) {
    case 0: *place = maker.any(); break;
    case 1: *place = corners[maker.pick(0, 9)]; break;
    case 2: *place = maker.pick(-2, 70); break;
    case 3: words.erase(place); break;
    case 4: words.insert(place, maker.pick(-2, 70)); break;
    default: words.resize(at); break;
    }
  }
  return words;
}

// Surely broken: most of it is valid and its end is not.
Words broken(Words words, ScriptMaker &maker) {
  switch (maker.pick(0, 3)) {
  case 0: words.push_back(UT_SYNCHRONIZE); break;
  case 1: words.insert(words.end(), {UT_SYNCHRONIZE, 2 + maker.pick(1, 99)}); break;
  case 2: words.insert(words.end(), {UT_ZERO, 5, maker.pick(0, 2), 1, maker.pick(40, 99)}); break;
  default: words.insert(words.end(), {UT_FORGET, 3, 60000 + maker.pick(0, 9000)}); break;
  }
  return words;
}

// The longest rest in an accepted script; a visitor of its own beside the device's.
struct LongestRest {
  std::uint32_t us = 0;
  void operator()(const ut::ForwardVerb &verb) { us = std::max(us, verb.delay_us); }
  void operator()(const ut::HostCopyVerb &verb) { us = std::max(us, verb.delay_us); }
  void operator()(const ut::FillVerb &verb) { us = std::max(us, verb.delay_us); }
  void operator()(const ut::SendVerb &verb) { us = std::max(us, verb.delay_us); }
  void operator()(const ut::ReceiveVerb &verb) { us = std::max(us, verb.delay_us); }
  void operator()(const ut::DelayVerb &verb) { us = std::max(us, verb.delay_us); }
  template <class Other> void operator()(const Other &) {}
};

void checker_survives_anything() {
  const ut_config config = small_config();
  int refused = 0, accepted = 0;
  for (std::uint32_t seed = 0; seed < 400; seed++) {
    ut::ScriptChecker checker;
    CHECK(checker.prepare(config));
    ScriptMaker maker(seed);
    const Words valid = maker.make(40);
    for (std::uint32_t i = 0; i < 50; i++) {
      if (check(checker, mutate(valid, maker))) {
        accepted++;
        break; // its handles are in use now
      }
      refused++;
      CHECK(checker.reason()[0] != '\0');
      for (std::uint32_t handle = 0; handle < 100; handle++) CHECK(checker.kind_of(handle) == ut::HandleKind::none);
    }
    ut::ScriptChecker fresh;
    CHECK(fresh.prepare(config));
    CHECK(!check(fresh, {1, 1}));
    CHECK(check(fresh, valid));
  }
  CHECK(refused > 1000 && accepted > 10); // both were tried
}

void refusals_leave_the_device_alone() {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 30; seed++) {
    Machine machine;
    ScriptMaker maker(seed);
    CHECK(machine.submit(maker.make(60)) == UT_OK);
    const std::vector<std::uint8_t> bytes = machine.bytes();
    const std::vector<Words> tables = machine.tables();
    ScriptMaker ahead = maker; // the very handles that are in use
    const Words next = ahead.make(20);
    for (std::uint32_t i = 0; i < 20; i++) {
      CHECK(machine.submit(broken(next, maker)) == UT_INVALID);
      refused++;
    }
    CHECK(machine.bytes() == bytes);
    CHECK(machine.tables() == tables);
    CHECK(machine.submit(next) == UT_OK);
  }
  CHECK(refused == 600);
}

void mutants_run() {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < 60; seed++) {
    Machine machine;
    ut::ScriptChecker mirror; // says what a script would do before it runs
    CHECK(mirror.prepare(small_config()));
    ScriptMaker maker(1000 + seed);
    for (std::uint32_t i = 0; i < 20; i++) {
      const Words words = mutate(ScriptMaker(seed * 20 + i).make(10), maker);
      ut::ScriptChecker alone;
      CHECK(alone.prepare(small_config()));
      LongestRest rest;
      if (alone.check(words.data(), words.size())) ut::walk_script(words.data(), words.size(), rest);
      if (rest.us > 1000) continue;
      const bool is_valid = mirror.check(words.data(), words.size());
      CHECK((machine.submit(words) == UT_OK) == is_valid);
      if (is_valid) ran++;
    }
    machine.faults();
    machine.bytes();
  }
  CHECK(ran > 20);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(
      {
          {"checker survives anything", checker_survives_anything},
          {"refusals leave the device alone", refusals_leave_the_device_alone},
          {"mutants run", mutants_run},
      },
      count, arguments);
}
