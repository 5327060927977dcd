// The example allocators behind the adapter protocol: --candidate cmd:build/kits/adapter
// Domain `heap` is a first-fit heap. Domain `kv` knows request rows only: the least that one can begin with.
#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "first_fit.hpp"
#include "unified_trace_kit.hpp"

namespace ut = unified_trace;

class Heap : public ut::Implementation {
 public:
  static constexpr const char* domain = "heap";
  static ut::Operations<Heap> operations() {
    return {{"heap.alloc", &Heap::alloc}, {"heap.free", &Heap::free}, {"heap.realloc", &Heap::realloc}};
  }

  explicit Heap(const ut::Opening& opening) : heap_(arena_of(opening.config)) {}

  ut::Answer alloc(const ut::Json& args) {
    const std::string& id = args.text("id");
    if (offsets_.count(id) > 0) return ut::invalid("name_state", id);
    const auto offset = heap_.allocate(args.integer("size_bytes"), args.integer_or("align_bytes", 1));
    if (!offset) return ut::refused("refused_capacity", {{"limit", "bytes"}});
    offsets_[id] = *offset;
    return ut::granted(ut::object({{"address_offset", *offset}}));
  }

  ut::Answer free(const ut::Json& args) {
    const auto found = offsets_.find(args.text("id"));
    if (found == offsets_.end()) return ut::invalid("unknown_request", args.text("id"));
    heap_.free(found->second);
    offsets_.erase(found);
    return ut::granted();
  }

  ut::Answer realloc(const ut::Json& args) {
    const auto found = offsets_.find(args.text("id"));
    if (found == offsets_.end()) return ut::invalid("unknown_request", args.text("id"));
    const auto moved = heap_.resize(found->second, args.integer("size_bytes"));
    if (!moved) return ut::refused("refused_capacity", {{"limit", "bytes"}});
    found->second = *moved;
    return ut::granted(ut::object({{"address_offset", *moved}}));
  }

 private:
  static std::int64_t arena_of(const ut::Json& config) {
    const std::int64_t bytes = config.integer_or("arena_bytes", 0);
    if (bytes <= 0) throw ut::RefusedConfiguration("\"arena_bytes\" is not a number above 0");
    return bytes;
  }

  FirstFit heap_;
  std::unordered_map<std::string, std::int64_t> offsets_;  // by lifetime
};

class Rows : public ut::Implementation {
 public:
  static constexpr const char* domain = "kv";
  static constexpr bool fx = true;  // rows need no effect, so there is never one to tell
  static ut::Operations<Rows> operations() {
    return {{"boot", &Rows::boot}, {"row.alloc", &Rows::alloc}, {"row.free", &Rows::free}};
  }

  explicit Rows(const ut::Opening& opening) : config_(opening.config) {
    const ut::Json* pools = config_.find("sub_pools");
    const bool has_pools = pools != nullptr && pools->as_array() != nullptr && !pools->as_array()->empty();
    if (!has_pools || config_.integer_or("page_size", 0) < 1 || config_.integer_or("rows", 0) < 1)
      throw ut::RefusedConfiguration("\"sub_pools\", \"page_size\" and \"rows\" are needed");
    for (std::int64_t row = 1; row <= config_.integer("rows"); ++row) free_.push_back(row);
  }

  // The page grids, as docs/trace-format.md defines them.
  ut::Answer boot(const ut::Json&) {
    std::vector<ut::Json> chain = *config_.find("sub_pools")->as_array();
    std::stable_sort(chain.begin(), chain.end(),
                     [](const ut::Json& a, const ut::Json& b) { return rank(a) < rank(b); });
    std::int64_t sink_bytes = 0;
    for (const ut::Json& pool : chain)
      sink_bytes = std::max(sink_bytes, pool.integer("unit_bytes") * page_tokens(pool));
    ut::Json::Object bands;
    for (const ut::Json& pool : chain) {
      const std::int64_t unit_bytes = pool.integer("unit_bytes"), tokens = page_tokens(pool);
      const bool is_last = bands.size() + 1 == chain.size();
      bands.emplace_back(pool.text("name"),
                         ut::object({{"grow", is_last ? "down" : bands.empty() ? "up" : "float"},
                                     {"unit_bytes", unit_bytes},
                                     {"page_bytes", unit_bytes * tokens},
                                     {"pages", config_.integer("arena_bytes") / unit_bytes / tokens},
                                     {"first_page", ceiling(ceiling(sink_bytes, unit_bytes), tokens)}}));
    }
    return ut::granted(ut::object({{"bands", std::move(bands)}, {"sink_bytes", sink_bytes}}));
  }

  ut::Answer alloc(const ut::Json& args) {
    const ut::Json::Array& reqs = *args.find("reqs")->as_array();
    for (const ut::Json& req : reqs)
      if (rows_.count(*req.as_text()) > 0) return ut::invalid("row_in_use", *req.as_text());
    if (reqs.size() > free_.size())
      return ut::refused("refused_rows", {{"need", reqs.size()}, {"free", free_.size()}});
    ut::Json::Object rows;
    for (const ut::Json& req : reqs) {
      rows.emplace_back(*req.as_text(), free_.front());
      rows_[*req.as_text()] = free_.front();
      free_.pop_front();
    }
    return ut::granted(ut::object({{"rows", std::move(rows)}}));
  }

  ut::Answer free(const ut::Json& args) {
    const auto found = rows_.find(args.text("req"));
    if (found == rows_.end()) return ut::invalid("unknown_request", args.text("req"));
    free_.push_back(found->second);
    rows_.erase(found);
    return ut::granted();
  }

 private:
  std::int64_t page_tokens(const ut::Json& pool) const {
    return pool.text("kind") == "state" ? 1 : config_.integer("page_size");
  }
  // state first, then windows from the longest, then full
  static std::int64_t rank(const ut::Json& pool) {
    if (pool.text("kind") == "state") return std::numeric_limits<std::int64_t>::min();
    const std::int64_t window = pool.integer_or("window", 0);
    return window == 0 ? std::numeric_limits<std::int64_t>::max() : -window;
  }
  static std::int64_t ceiling(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

  ut::Json config_;
  std::deque<std::int64_t> free_;  // handed out first in, first out
  std::unordered_map<std::string, std::int64_t> rows_;
};

int main() { return ut::serve<Heap, Rows>("first-fit", "1"); }
