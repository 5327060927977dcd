#include "arena.hpp"

#include <algorithm>
#include <cstring>

#include "pause.cuh"

namespace ut::cuda {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint32_t kPoison = 0x7fc17fc1u;

uint64_t round_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

// Hands out one range after the other. First run over nothing to learn the sum, then over the memory.
struct Layout {
  uint8_t *base;
  uint64_t bytes = 0;

  template <typename T> T *next(uint64_t count) {
    auto *at = base == nullptr ? nullptr : reinterpret_cast<T *>(base + bytes);
    bytes += round_up(count * sizeof(T), kAlignment);
    return at;
  }
};

uint32_t step_capacity(const ut_config &config, const ut_band &band) {
  const uint64_t cells = static_cast<uint64_t>(config.rows) * config.row_pages;
  return is_state(band) || band.ids < cells ? band.ids : static_cast<uint32_t>(cells);
}

void lay_band(const ut_config &config, const ut_band &band, BandView &view, Layout &layout) {
  view.page_bytes = band.page_bytes;
  view.unit_bytes = static_cast<uint32_t>(unit_bytes(band));
  view.units = band.units;
  view.pages = band.pages;
  view.ids = band.ids;
  view.is_state = is_state(band) ? 1 : 0;
  view.v2p = layout.next<int32_t>(band.ids);
  if ((config.flags & UT_CHECK_READS) == 0) return;
  const uint64_t entries = view.step_capacity = step_capacity(config, band);
  view.expected = layout.next<uint32_t>(static_cast<uint64_t>(band.ids) * band.units);
  view.marks = layout.next<uint32_t>(band.ids);
  view.step_places = layout.next<StepPlace>(entries);
  view.step_expected = layout.next<uint32_t>(entries * band.units);
  view.step_counts = layout.next<uint32_t>(2);
}

} // namespace

Status Arena::take(const ut_config &wanted, const Arena *reuse) {
  config = wanted;
  std::copy(wanted.bands, wanted.bands + wanted.band_count, bands);
  config.bands = bands;
  for (uint32_t i = 0; i < config.band_count; i++) {
    if (bands[i].page_bytes > uint64_t{UINT32_MAX} / 4) return refuse("band %u: a page of 1 GiB or more", i);
    if (bands[i].units > kUnitsMax) return refuse("band %u: more than %u units a page", i, kUnitsMax);
  }
  if (reuse != nullptr && reuse->arena_.bytes() >= config.arena_bytes) {
    view.arena = reuse->arena_.data();
  } else {
    UT_TRY(arena_.take(round_up(config.arena_bytes, kAlignment)));
    view.arena = arena_.data();
  }
  view.band_count = config.band_count;
  view.row_pages = config.row_pages;
  UT_TRY(take_host());
  UT_TRY(take_tables());
  return send_bands();
}

void Arena::adopt(Arena &old) {
  if (arena_.data() == nullptr) arena_ = std::move(old.arena_);
}

Status Arena::take_tables() {
  const auto lay = [&](Layout &layout) {
    view.bands = layout.next<BandView>(config.band_count);
    view.faults.count = layout.next<uint32_t>(1);
    view.rows = layout.next<int32_t>((config.rows + 1ull) * config.row_pages);
    view.counters = layout.next<uint32_t>(config.rows + 1ull);
    for (uint32_t i = 0; i < config.band_count; i++) lay_band(config, bands[i], views_[i], layout);
    write_places = layout.next<WritePlace>(kWritesMax);
    scratch = layout.next<uint8_t>(kScratchBytes);
  };
  Layout sizes{nullptr};
  lay(sizes);
  UT_TRY(tables_.take(sizes.bytes));
  Layout real{tables_.data()};
  lay(real);
  return UT_CUDA(cudaMemset(tables_.data(), 0, sizes.bytes));
}

Status Arena::take_host() {
  Layout sizes{nullptr};
  for (uint32_t i = 0; i < config.band_count; i++)
    (void)sizes.next<uint8_t>(static_cast<uint64_t>(bands[i].host_pages) * bands[i].page_bytes);
  (void)sizes.next<uint8_t>(kScratchBytes);
  (void)sizes.next<ut_fault>(kFaultsMax);
  UT_TRY(host_.take(sizes.bytes));
  std::memset(host_.data(), 0, sizes.bytes);
  Layout on_device{host_.device()};
  for (uint32_t i = 0; i < config.band_count; i++)
    views_[i].host_pool = on_device.next<uint8_t>(static_cast<uint64_t>(bands[i].host_pages) * bands[i].page_bytes);
  staging_device = on_device.next<uint8_t>(kScratchBytes);
  view.faults.ring = on_device.next<ut_fault>(kFaultsMax);
  view.faults.capacity = kFaultsMax;
  staging = host_.data() + (staging_device - host_.device());
  faults =
      reinterpret_cast<ut_fault *>(host_.data() + (reinterpret_cast<uint8_t *>(view.faults.ring) - host_.device()));
  return UT_OK;
}

Status Arena::send_bands() {
  UT_TRY(UT_CUDA(cudaMemcpy(const_cast<BandView *>(view.bands), views_, config.band_count * sizeof(BandView),
                            cudaMemcpyHostToDevice)));
  return UT_CUDA(cudaStreamSynchronize(nullptr)); // our own streams do not wait for this one
}

Status Arena::fill(cudaStream_t stream) {
  const uint64_t bytes = round_up(config.arena_bytes, kAlignment);
  const uint32_t word = (config.flags & UT_FILL_POISON) != 0 ? kPoison : 0;
  UT_TRY(UT_CUDA(launch_fill(reinterpret_cast<uint32_t *>(view.arena), bytes / 4, word, stream)));
  return UT_CUDA(cudaStreamSynchronize(stream));
}

} // namespace ut::cuda
