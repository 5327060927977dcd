// Answers the operations that a benchmark sends with an empty result.
#include "unified_trace_kit.hpp"

namespace ut = unified_trace;

struct EchoHeap : ut::Implementation {
  static constexpr const char* domain = "heap";
  static ut::Operations<EchoHeap> operations() {
    return {{"heap.alloc", &EchoHeap::nothing}, {"heap.free", &EchoHeap::nothing}};
  }
  explicit EchoHeap(const ut::Opening&) {}
  ut::Answer nothing(const ut::Json&) { return ut::granted(); }
};

struct EchoKv : ut::Implementation {
  static constexpr const char* domain = "kv";
  static ut::Operations<EchoKv> operations() {
    return {{"boot", &EchoKv::nothing}, {"ask.fits", &EchoKv::nothing}};
  }
  explicit EchoKv(const ut::Opening&) {}
  ut::Answer nothing(const ut::Json&) { return ut::granted(); }
};

int main() { return ut::serve<EchoHeap, EchoKv>("echo", "1"); }
