// Tests as named functions, and checks that stay on in release builds, unlike assert().
#pragma once
#include <cstdio>
#include <cstring>
#include <vector>

namespace test {

struct Test {
  const char *name;
  void (*run)();
};

inline int failed_checks = 0;

inline void check(bool holds, const char *claim, const char *file, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
  failed_checks++;
}

#define CHECK(claim) test::check((claim), #claim, __FILE__, __LINE__)

// Runs all tests, or the named ones; one line a test, `ok` or `FAILED`, for scripts/test-native.mjs.
inline int run_tests(const std::vector<Test> &tests, int count, char **arguments) {
  int failed_tests = 0;
  for (const Test &one : tests) {
    bool is_wanted = count < 2;
    for (int i = 1; i < count; i++) is_wanted = is_wanted || std::strcmp(arguments[i], one.name) == 0;
    if (!is_wanted) continue;
    const int before = failed_checks;
    one.run();
    const bool is_good = failed_checks == before;
    std::printf("%s %s\n", is_good ? "ok" : "FAILED", one.name);
    std::fflush(stdout);
    if (!is_good) failed_tests++;
  }
  return failed_tests == 0 ? 0 : 1;
}

} // namespace test
