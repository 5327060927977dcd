// Stamped units: written and hashed. Translation of token ids. Pages to the host and back.
#include <algorithm>
#include <cstring>

#include "hash.cuh"
#include "hostcopy.cuh"
#include "sections.hpp"
#include "stamp.cuh"
#include "translate.cuh"
#include "ut/payload.h"

namespace ut::bench {
namespace {

constexpr uint32_t kSets = 8;

template <typename T> T *device_memory(uint64_t count) {
  T *memory = nullptr;
  must(UT_CUDA(cudaMalloc(&memory, count * sizeof(T))));
  return memory;
}

// What the table says of pages that were written whole by one writer.
void expect_hashes(Bench &bench, uint32_t band, const std::vector<int32_t> &pages, uint32_t writer,
                   const std::string &what) {
  const uint32_t units = bench.band(band).units;
  const auto n = static_cast<uint32_t>(pages.size());
  const std::vector<uint32_t> masks(static_cast<size_t>(n) * mask_words(bench.band(band)), 0xffffffffu);
  std::vector<uint32_t> out(3ull * n, 0xeeeeeeeeu);
  must(bench.backend->hash_pages(bench.device, band, n, pages.data(), masks.data(), out.data()));
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t a = 0, b = 0;
    for (uint32_t unit = 0; unit < units; unit++) {
      const uint32_t stamp = ut_stamp_of(writer, i * units + unit);
      a += ut_mix_a(UT_UNIT_FIELD, unit, stamp);
      b += ut_mix_b(UT_UNIT_FIELD, unit, stamp);
    }
    if (out[3 * i] != a || out[3 * i + 1] != b || out[3 * i + 2] != 0) wrong++;
  }
  expect(wrong == 0, what + ": " + std::to_string(wrong) + " pages");
}

// All units of the pages, positions counted through.
std::vector<int32_t> whole_pages(const Bench &bench, uint32_t band, const std::vector<int32_t> &pages,
                                 uint32_t writer) {
  std::vector<int32_t> places;
  const auto units = static_cast<int32_t>(bench.band(band).units);
  for (size_t i = 0; i < pages.size(); i++)
    places.insert(places.end(), {static_cast<int32_t>(band), pages[i], 0, units, static_cast<int32_t>(i) * units,
                                 static_cast<int32_t>(writer)});
  return places;
}

// One page word for word, on the host.
void expect_words(Bench &bench, uint32_t band, int32_t page, uint32_t first_position, uint32_t writer) {
  const uint64_t page_bytes = bench.band(band).page_bytes, each = unit_bytes(bench.band(band));
  std::vector<uint8_t> bytes(page_bytes);
  must(bench.backend->read_bytes(bench.device, static_cast<uint64_t>(page) * page_bytes, page_bytes, bytes.data()));
  uint64_t wrong = 0;
  for (uint32_t unit = 0; unit < bench.band(band).units; unit++) {
    const uint32_t stamp = ut_stamp_of(writer, first_position + unit);
    for (uint32_t i = 0; i < each / 4; i++) {
      uint32_t word;
      std::memcpy(&word, bytes.data() + unit * each + 4ull * i, 4);
      wrong += word != ut_payload_word(stamp, i) ? 1 : 0;
    }
  }
  expect(wrong == 0, "the words of a stamped page");
}

} // namespace

void measure_units(Bench &bench) {
  Clock clock(bench.stream());
  std::printf("\nstamped units, 16 a page; written: %% of memset, hashed: %% of the copy\n");
  for (const uint32_t n : {256u, 4096u}) {
    for (uint32_t band = 0; band < bench.band_count(); band++) {
      const double bytes = static_cast<double>(n) * static_cast<double>(bench.band(band).page_bytes);
      const std::string what = std::to_string(n) + " x " + size_word(bench.band(band).page_bytes);
      std::vector<std::vector<int32_t>> pages;
      std::vector<const int32_t *> places;
      for (uint32_t i = 0; i < kSets; i++) {
        pages.push_back(bench.pages(band, n));
        places.push_back(bench.pinned(whole_pages(bench, band, pages.back(), 1000 + i)));
      }
      const Times written = clock.time(11, [&](uint32_t i) {
        return cuda::launch_write_units(bench.view(), reinterpret_cast<const cuda::WritePlace *>(places[i % kSets]), n,
                                        bench.stream());
      });
      print_rate("stamp " + what, written, bytes, bench.zero_ceiling, 0);
      must(UT_CUDA(cuda::launch_write_units(bench.view(), reinterpret_cast<const cuda::WritePlace *>(places[0]), n,
                                            bench.stream())));
      must(UT_CUDA(cudaStreamSynchronize(bench.stream())));
      expect_hashes(bench, band, pages[0], 1000, "stamp and hash " + what);
      expect_words(bench, band, pages[0][1], bench.band(band).units, 1000);

      auto *out = device_memory<uint32_t>(3ull * n);
      auto *ones = device_memory<uint32_t>(static_cast<uint64_t>(n) * mask_words(bench.band(band)));
      auto *on_device = device_memory<int32_t>(static_cast<uint64_t>(n) * kSets);
      must(UT_CUDA(cudaMemset(ones, 0xff, static_cast<uint64_t>(n) * mask_words(bench.band(band)) * 4)));
      for (uint32_t i = 0; i < kSets; i++)
        must(UT_CUDA(
            cudaMemcpy(on_device + static_cast<uint64_t>(i) * n, pages[i].data(), n * 4ull, cudaMemcpyHostToDevice)));
      must(UT_CUDA(cudaStreamSynchronize(nullptr)));
      const Times hashed = clock.time(11, [&](uint32_t i) {
        return cuda::launch_hash(bench.view(), band, static_cast<uint32_t>(unit_bytes(bench.band(band))),
                                 bench.band(band).units, on_device + static_cast<uint64_t>(i % kSets) * n, ones, n, out,
                                 bench.device->properties.multiprocessors, bench.stream());
      });
      print_rate("hash " + what, hashed, bytes, bench.copy_ceiling, 0);
      for (void *memory : {static_cast<void *>(out), static_cast<void *>(ones), static_cast<void *>(on_device)})
        must(UT_CUDA(cudaFree(memory)));
    }
  }
}

namespace {

// Tokens of the whole table in some sets, so that launches can meet ones that are not in the cache.
template <typename Id> class Translated {
public:
  static constexpr uint32_t kTokens = 1 << 20, kTokenSets = 24;

  explicit Translated(Bench &bench)
      : bench_(bench), clock_(bench.stream()), in_(device_memory<Id>(uint64_t{kTokens} * kTokenSets)),
        out_(device_memory<Id>(uint64_t{kTokens} * kTokenSets)) {
    const uint32_t units = bench.band(0).units, ids = bench.band(0).ids;
    std::vector<Id> tokens(static_cast<size_t>(kTokens) * kTokenSets);
    for (Id &token : tokens) token = static_cast<Id>(bench.random() % (static_cast<uint64_t>(ids) * units));
    must(UT_CUDA(cudaMemcpy(in_, tokens.data(), tokens.size() * sizeof(Id), cudaMemcpyHostToDevice)));
    must(UT_CUDA(cudaStreamSynchronize(nullptr)));
    std::vector<int32_t> v2p(ids);
    must(bench.backend->read_table(bench.device, 0, 0, ids, v2p.data()));
    for (uint32_t i = 0; i < kTokens; i++) {
      const int64_t page = v2p[static_cast<size_t>(tokens[i] / static_cast<Id>(units))];
      const int64_t place = page * units + static_cast<int64_t>(tokens[i]) % units;
      wanted_.push_back(tokens[i] == 0 || page == 0 ? Id{0} : static_cast<Id>(place));
    }
  }
  Translated(const Translated &) = delete;
  Translated &operator=(const Translated &) = delete;
  ~Translated() {
    (void)cudaFree(in_);
    (void)cudaFree(out_);
  }

  Times cold(const cuda::TranslatePlan &plan) {
    return clock_.time(21, [&](uint32_t i) { return launch(plan, i % kTokenSets); });
  }
  Times warm(const cuda::TranslatePlan &plan) {
    return clock_.time(21, [&](uint32_t) { return launch(plan, 0); });
  }
  void check(const cuda::TranslatePlan &plan) {
    must(UT_CUDA(cudaMemsetAsync(out_, 0xee, kTokens * sizeof(Id), bench_.stream())));
    must(UT_CUDA(launch(plan, 0)));
    std::vector<Id> found(kTokens);
    must(UT_CUDA(
        cudaMemcpyAsync(found.data(), out_, kTokens * sizeof(Id), cudaMemcpyDeviceToHost, bench_.stream())));
    must(UT_CUDA(cudaStreamSynchronize(bench_.stream())));
    expect(found == wanted_, "translate");
  }

private:
  cudaError_t launch(const cuda::TranslatePlan &plan, uint32_t set) {
    const cuda::Translation all{
        bench_.arena().v2p_of(0), bench_.band(0).ids, bench_.band(0).units, kTokens, kTokens, 0, kTokens, 0};
    const uint64_t first = static_cast<uint64_t>(set) * kTokens;
    return cuda::launch_translate(all, in_ + first, sizeof(Id) * 8, out_ + first, sizeof(Id) * 8, bench_.stream(),
                                  plan);
  }
  Bench &bench_;
  Clock clock_;
  Id *in_;
  Id *out_;
  std::vector<Id> wanted_; // of the first set
};

template <typename Id> void translate_as(Bench &bench, const char *what, double want_us, bool sweeps) {
  Translated<Id> tokens(bench);
  const Times cold = tokens.cold(cuda::kTranslatePlan), warm = tokens.warm(cuda::kTranslatePlan);
  tokens.check(cuda::kTranslatePlan);
  const bool is_met = want_us == 0 || cold.single_us <= want_us || warm.single_us <= want_us;
  if (!is_met) missed_targets++;
  std::printf("translate 1 Mi %-14s %6.2f us cold, %6.2f us in the cache; queued %6.2f and %6.2f us%s\n", what,
              cold.single_us, warm.single_us, cold.queued_us, warm.queued_us,
              want_us == 0 ? ""
              : is_met     ? "  want 9.4 met"
                           : "  want 9.4 MISSED");
  if (!sweeps) return;
  for (const uint32_t packs : {1u, 2u, 4u}) {
    for (const uint32_t threads : {128u, 256u, 512u}) {
      for (const bool skips_l1 : {false, true}) {
        const cuda::TranslatePlan plan{packs, threads, skips_l1};
        const Times one = tokens.cold(plan), again = tokens.warm(plan);
        tokens.check(plan);
        std::printf("  {%u, %u, %s}: %.2f us cold, %.2f us in the cache\n", packs, threads, skips_l1 ? "true" : "false",
                    one.single_us, again.single_us);
      }
    }
  }
}

} // namespace

void measure_translate(Bench &bench, bool sweeps) {
  std::printf("\ntranslation of token ids\n");
  const uint32_t ids = bench.band(0).ids;
  std::vector<int32_t> script;
  for (uint32_t first = 1; first < ids; first += 100000) {
    const uint32_t n = std::min(100000u, ids - first);
    script.insert(script.end(), {UT_BIND, static_cast<int32_t>(5 + 2 * n), 0, 0, static_cast<int32_t>(n)});
    for (uint32_t id = first; id < first + n; id++)
      script.insert(script.end(),
                    {static_cast<int32_t>(id),
                     id % 7 == 0 ? 0 : static_cast<int32_t>(1 + bench.random() % (bench.band(0).pages - 1))});
  }
  must(bench.backend->submit(bench.device, script.data(), script.size()));
  translate_as<int32_t>(bench, "int32", 9.4, sweeps);
  translate_as<int64_t>(bench, "int64", 0, sweeps);
}

void measure_host_copies(Bench &bench) {
  std::printf("\nhost copies through pinned memory; %% of one large memcpy that way\n");
  constexpr uint32_t band = 2, n = 256;
  const uint64_t page_bytes = bench.band(band).page_bytes;
  const uint64_t bytes = page_bytes * n;
  Clock clock(bench.stream());
  uint8_t *host = nullptr;
  must(UT_CUDA(cudaHostAlloc(&host, bytes, cudaHostAllocDefault)));
  const std::vector<int32_t> pages = bench.pages(band, 2 * n);
  std::vector<int32_t> entries, back;
  for (uint32_t i = 0; i < n; i++) {
    entries.insert(entries.end(), {static_cast<int32_t>(band), pages[i], static_cast<int32_t>(i)});
    back.insert(back.end(), {static_cast<int32_t>(band), pages[n + i], static_cast<int32_t>(i)});
  }
  const std::vector<int32_t> first(pages.begin(), pages.begin() + n), second(pages.begin() + n, pages.end());
  const int32_t *places = bench.pinned(whole_pages(bench, band, first, 77));
  const int32_t *lists[2] = {bench.pinned(entries), bench.pinned(back)};
  for (const bool is_load : {false, true}) {
    const Times whole = clock.time(5, [&](uint32_t) {
      return is_load ? cudaMemcpyAsync(bench.view().arena, host, bytes, cudaMemcpyHostToDevice, bench.stream())
                     : cudaMemcpyAsync(host, bench.view().arena, bytes, cudaMemcpyDeviceToHost, bench.stream());
    });
    const double ceiling = static_cast<double>(bytes) / whole.single_us / 1e3;
    const std::string way = is_load ? "load" : "back up";
    std::printf("%s: memcpy of %s %.1f GB/s\n", way.c_str(), size_word(bytes).c_str(), ceiling);
    // Everything is written anew first, so that what is read back afterwards was really copied.
    if (!is_load)
      must(UT_CUDA(cuda::launch_write_units(bench.view(), reinterpret_cast<const cuda::WritePlace *>(places), n,
                                            bench.stream())));
    for (const uint32_t chunk : {4u << 10, 8u << 10, 32u << 10}) {
      for (const uint32_t blocks : {16u, 32u, 64u, 128u, 264u}) {
        const Times times = clock.time(3, [&](uint32_t) {
          return cuda::launch_host_copy(bench.view(), lists[is_load ? 1 : 0], n, is_load, page_bytes, {chunk, blocks},
                                        bench.stream());
        });
        print_rate(way + ", chunk " + size_word(chunk) + ", " + std::to_string(blocks) + " blocks", times,
                   static_cast<double>(bytes), ceiling, 0);
      }
    }
  }
  must(UT_CUDA(cudaStreamSynchronize(bench.stream())));
  expect_hashes(bench, band, second, 77, "pages to the host and back");
  must(UT_CUDA(cudaFreeHost(host)));
}

} // namespace ut::bench
