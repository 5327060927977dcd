// The heap of this machine behind the adapter protocol: --candidate cmd:build/kits/system_heap
// malloc, aligned_alloc, realloc and free of whatever library the program is linked or started with, such as
// LD_PRELOAD=libjemalloc.so or libmimalloc.so. Addresses are the machine's own and are not told: no two runs agree in them.
// With "arena_bytes" in the configuration, objects are refused once the bytes asked for would pass it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "unified_trace_kit.hpp"

namespace ut = unified_trace;

class SystemHeap : public ut::Implementation {
 public:
  static constexpr const char* domain = "heap";
  static ut::Operations<SystemHeap> operations() {
    return {{"heap.alloc", &SystemHeap::alloc},     {"heap.free", &SystemHeap::free},
            {"heap.realloc", &SystemHeap::realloc}, {"heap.copy", &SystemHeap::copy},
            {"heap.release", &SystemHeap::nothing}, {"heap.coalesce", &SystemHeap::nothing},
            {"pool.make", &SystemHeap::nothing}};
  }

  explicit SystemHeap(const ut::Opening& opening)
      : arena_bytes_(opening.config.integer_or("arena_bytes", 0)) {
    if (arena_bytes_ < 0) throw ut::RefusedConfiguration("\"arena_bytes\" is below 0");
  }
  SystemHeap(const SystemHeap&) = delete;
  SystemHeap& operator=(const SystemHeap&) = delete;
  ~SystemHeap() override {
    for (const auto& entry : objects_) std::free(entry.second.at);
    std::fprintf(stderr, "peak of bytes asked for: %lld\n", static_cast<long long>(peak_bytes_));
  }

  ut::Answer alloc(const ut::Json& args) {
    const std::string& id = args.text("id");
    if (objects_.count(id) > 0) return ut::invalid("name_state", id);
    const std::int64_t bytes = args.integer("size_bytes");
    if (!fits(bytes)) return refused();
    void* at = take(bytes, args.integer_or("align_bytes", 1));
    if (at == nullptr) return refused();
    mark(at, bytes);
    objects_[id] = {at, bytes};
    count(bytes);
    return ut::granted();
  }

  ut::Answer free(const ut::Json& args) {
    const auto found = objects_.find(args.text("id"));
    if (found == objects_.end()) return ut::invalid("unknown_request", args.text("id"));
    check(found->second);
    std::free(found->second.at);
    count(-found->second.bytes);
    objects_.erase(found);
    return ut::granted();
  }

  ut::Answer realloc(const ut::Json& args) {
    const auto found = objects_.find(args.text("id"));
    if (found == objects_.end()) return ut::invalid("unknown_request", args.text("id"));
    Object& object = found->second;
    const std::int64_t bytes = args.integer("size_bytes");
    if (!fits(bytes - object.bytes)) return refused();
    check(object);
    void* at = std::realloc(object.at, place_of(bytes));
    if (at == nullptr) return refused();
    count(bytes - object.bytes);
    object = {at, bytes};
    mark(at, bytes);
    return ut::granted();
  }

  ut::Answer copy(const ut::Json& args) {
    const auto from = objects_.find(args.text("from"));
    const auto to = objects_.find(args.text("to"));
    if (from == objects_.end()) return ut::invalid("unknown_request", args.text("from"));
    if (to == objects_.end()) return ut::invalid("unknown_request", args.text("to"));
    // the first and the last byte of an object are marks of its own
    const std::int64_t most = std::min(from->second.bytes, to->second.bytes) - 2;
    const std::int64_t bytes = std::min(most, args.integer("bytes"));
    if (bytes > 0)
      std::memmove(static_cast<char*>(to->second.at) + 1, static_cast<char*>(from->second.at) + 1,
                   static_cast<std::size_t>(bytes));
    return ut::granted();
  }

  ut::Answer nothing(const ut::Json&) { return ut::granted(); }

 private:
  struct Object {
    void* at;
    std::int64_t bytes;
  };

  static std::size_t place_of(std::int64_t bytes) {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, bytes));
  }

  static void* take(std::int64_t bytes, std::int64_t align) {
    if (align <= static_cast<std::int64_t>(alignof(std::max_align_t))) return std::malloc(place_of(bytes));
    const auto unit = static_cast<std::size_t>(align);
    return std::aligned_alloc(unit, (place_of(bytes) + unit - 1) / unit * unit);
  }

  // What is written at both ends must still be there when the object goes: two objects that overlap would lose it.
  static unsigned char sign(const void* at) {
    return static_cast<unsigned char>((reinterpret_cast<std::uintptr_t>(at) >> 4) * 131u + 7u);
  }
  static void mark(void* at, std::int64_t bytes) {
    if (bytes == 0) return;
    auto* first = static_cast<unsigned char*>(at);
    first[0] = first[bytes - 1] = sign(at);
  }
  static void check(const Object& object) {
    if (object.bytes == 0) return;
    const auto* first = static_cast<const unsigned char*>(object.at);
    if (first[0] != sign(object.at) || first[object.bytes - 1] != sign(object.at))
      throw ut::InvariantBroken("an object lost what was written to it");
  }

  bool fits(std::int64_t more) const { return arena_bytes_ == 0 || live_bytes_ + more <= arena_bytes_; }
  void count(std::int64_t bytes) {
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  }
  static ut::Answer refused() { return ut::refused("refused_capacity", {{"limit", "bytes"}}); }

  std::int64_t arena_bytes_;  // 0: no limit
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::unordered_map<std::string, Object> objects_;  // by lifetime
};

int main() { return ut::serve<SystemHeap>("system-heap", "1"); }
