// What the host pays: single calls of the runtime, and operations as the allocator submits them.
#include <cstring>

#include "deal.cuh"
#include "schedule.cuh"
#include "sections.hpp"

namespace ut::bench {
namespace {

struct Words {
  std::vector<int32_t> words;
  void verb(int32_t number, const std::vector<int32_t> &arguments) {
    words.insert(words.end(), {number, static_cast<int32_t>(arguments.size() + 2)});
    words.insert(words.end(), arguments.begin(), arguments.end());
  }
};

void submit(Bench &bench, ut_device *device, const std::vector<int32_t> &words) {
  if (bench.backend->submit(device, words.data(), words.size()) == UT_OK) return;
  std::printf("FAILED: submit: %s\n", bench.backend->last_error());
  std::exit(1);
}

double submit_us(Bench &bench, ut_device *device, const std::vector<int32_t> &words) {
  const std::vector<int32_t> synchronize = {UT_SYNCHRONIZE, 2};
  return host_us(60, 24, [&] { submit(bench, device, words); }, [&] { submit(bench, device, synchronize); });
}

// Two bands of 16 tokens a page and 64 KiB, 256 open requests of 64 pages, reads checked.
ut_device *open_serving(Bench &bench) {
  std::vector<ut_band> bands;
  for (uint32_t i = 0; i < 2; i++) bands.push_back({64 << 10, 32768, 1, 16, 32768, 0, 0});
  const ut_config config{uint64_t{2} << 30, bands.data(), 2, 512, 1024, UT_CHECK_READS, 0, 0};
  ut_device *device = nullptr;
  if (bench.backend->open(&config, &device) != UT_OK) {
    std::printf("FAILED: open: %s\n", bench.backend->last_error());
    std::exit(1);
  }
  return device;
}

// What an operation brings that gives `pages` pages in both bands to `rows` rows: zeroed, bound, in the row cells.
Words operation(Bench &bench, uint32_t pages, uint32_t rows, uint32_t cells) {
  Words made;
  std::vector<std::vector<int32_t>> taken;
  std::vector<bool> used(32768);
  for (uint32_t band = 0; band < 2; band++) {
    std::vector<int32_t> zero = {static_cast<int32_t>(band), static_cast<int32_t>(pages)};
    taken.emplace_back();
    while (taken.back().size() < pages) {
      const auto page =
          static_cast<int32_t>(1 + band * 16000 + bench.random() % 16000); // each band its own half of the bytes
      if (used[static_cast<size_t>(page)]) continue;
      used[static_cast<size_t>(page)] = true;
      taken.back().push_back(page);
    }
    zero.insert(zero.end(), taken.back().begin(), taken.back().end());
    made.verb(UT_ZERO, zero);
  }
  for (uint32_t band = 0; band < 2; band++) {
    std::vector<int32_t> bind = {static_cast<int32_t>(band), 1, static_cast<int32_t>(pages)};
    for (uint32_t i = 0; i < pages; i++) bind.insert(bind.end(), {static_cast<int32_t>(i + 1), taken[band][i]});
    made.verb(UT_BIND, bind);
  }
  for (uint32_t row = 1; row <= rows; row++) {
    std::vector<int32_t> ids = {static_cast<int32_t>(row), 0, static_cast<int32_t>(cells)};
    for (uint32_t i = 0; i < cells; i++) ids.push_back(static_cast<int32_t>(1 + (row * cells + i) % pages));
    made.verb(UT_ROW, ids);
  }
  return made;
}

void print_operation(const char *what, double us, double want_us) {
  const bool is_met = want_us == 0 || us <= want_us;
  if (!is_met) missed_targets++;
  std::printf("  %-66s %6.2f us%s\n", what, us, want_us == 0 ? "" : is_met ? "  want 12 met" : "  want 12 MISSED");
}

void measure_operations(Bench &bench) {
  std::printf("host time of one submit, median (check, launches; nothing waited for)\n");
  ut_device *device = open_serving(bench);
  Words forward;
  std::vector<int32_t> arguments = {1, 0, 256, 0, 512};
  for (int32_t row = 1; row <= 256; row++) arguments.insert(arguments.end(), {row, 64});
  for (int32_t row = 1; row <= 256; row++) {
    for (int32_t band = 0; band < 2; band++) arguments.insert(arguments.end(), {band, row, 3, 4, row * 16, 99});
  }
  const Words big = operation(bench, 256, 256, 64); // rows first, so that forwards have something to read
  submit(bench, device, big.words);
  forward.verb(UT_FORWARD, arguments);
  forward.verb(UT_RECORD, {1});
  Words step = forward;
  step.verb(UT_WAIT, {1});
  step.verb(UT_FORGET, {1});
  print_operation("forward of 256 rows x 64 pages, 512 writes; record, wait", submit_us(bench, device, step.words), 0);
  std::vector<ut_fault> faults(16);
  uint32_t count = 0;
  must(bench.backend->faults(device, faults.data(), 16, &count));
  expect(count == 0, "faults of the forwards: " + std::to_string(count));
  submit(bench, device, forward.words); // its handle is what the operations below wait for
  Words plain = operation(bench, 16, 1, 16), wide = operation(bench, 16, 1, 256), decode = operation(bench, 16, 16, 1);
  const auto with_wait = [](const Words &words) {
    Words made;
    made.verb(UT_WAIT, {1});
    made.words.insert(made.words.end(), words.words.begin(), words.words.end());
    return made.words;
  };
  print_operation("wait, zero 2 x 16, bind 2 x 16, row of 16 cells", submit_us(bench, device, with_wait(plain)), 12);
  print_operation("the same, row of 256 cells", submit_us(bench, device, with_wait(wide)), 12);
  print_operation("decode step of 256: zero 2 x 16, bind 2 x 16, 16 rows a cell",
                  submit_us(bench, device, with_wait(decode)), 12);
  print_operation("extend by 1000 pages: zero and bind 2 x 1000, row of 1000",
                  submit_us(bench, device, operation(bench, 1000, 1, 1000).words), 0);
  Words only_wait;
  only_wait.verb(UT_WAIT, {1});
  print_operation("a wait alone", submit_us(bench, device, only_wait.words), 0);
  print_operation("nothing", submit_us(bench, device, {}), 0);
  Words move;
  std::vector<int32_t> pairs = {0, 0, 16};
  for (int32_t i = 1; i <= 16; i++) pairs.insert(pairs.end(), {i, i + 100});
  move.verb(UT_MOVE, pairs);
  print_operation("move of 16 pages", submit_us(bench, device, move.words), 0);
  bench.backend->close(device);
}

} // namespace

void measure_host_side(Bench &bench) {
  cudaStream_t stream = bench.stream();
  cudaStream_t other = bench.device->streams.of(cuda::kForward);
  cudaEvent_t event = nullptr;
  must(UT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)));
  const auto settle = [&] {
    must(UT_CUDA(cudaStreamSynchronize(stream)));
    must(UT_CUDA(cudaStreamSynchronize(other)));
  };
  std::printf("\nhost time of single calls, median\n");
  // One verb and its one task.
  const std::vector<int32_t> cell = {UT_ROW, 6, 1, 0, 1, 1, 0, 0};
  std::vector<int32_t> cells = {UT_ROW, 998, 1, 0, 993};
  cells.resize(1000);
  const cuda::ScheduleList short_list{{cell.data(), 8, nullptr}, 0, 6, 1};
  const cuda::ScheduleList long_list{{cells.data(), 1000, nullptr}, 0, 998, 1};
  const auto launch = [&](const cuda::ScheduleList &list) {
    must(UT_CUDA(cuda::launch_schedule(bench.view(), list, 0, false, {16, 1, cuda::kEvenly, false, false}, stream)));
  };
  std::printf(
      "  launch with 1 KiB of parameters %.2f us, with 4 KiB %.2f us\n",
      host_us(40, 32, [&] { launch(short_list); }, settle), host_us(40, 32, [&] { launch(long_list); }, settle));
  std::printf("  event record %.2f us, stream wait %.2f us\n",
              host_us(
                  40, 32, [&] { must(UT_CUDA(cudaEventRecord(event, stream))); }, settle),
              host_us(40, 32, [&] { must(UT_CUDA(cudaStreamWaitEvent(other, event, 0))); }, settle));
  std::printf("  cudaMallocAsync + cudaFreeAsync of 2 MiB %.2f us\n",
              host_us(
                  40, 32,
                  [&] {
                    void *memory = nullptr;
                    must(UT_CUDA(cudaMallocAsync(&memory, 2 << 20, stream)));
                    must(UT_CUDA(cudaFreeAsync(memory, stream)));
                  },
                  settle));
  must(UT_CUDA(cudaEventDestroy(event)));
  measure_operations(bench);
}

} // namespace ut::bench
