#include "memory.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace ut::host {

#if defined(_WIN32)

MachineMemory machine_memory() noexcept {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return {0, 0};
  return {status.ullTotalPhys, status.ullAvailPhys};
}

#else

namespace {

// Of /proc/meminfo; 0 where there is none.
std::uint64_t available_bytes() noexcept {
  std::FILE *file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return 0;
  unsigned long long kib = 0;
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  }
  std::fclose(file);
  return kib * 1024;
}

// What a container may use at most, by either version of control groups; the largest number where it is not limited.
std::uint64_t container_bytes() noexcept {
  constexpr const char *places[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (const char *place : places) {
    std::FILE *file = std::fopen(place, "r");
    if (file == nullptr) continue;
    unsigned long long bytes = 0;
    const bool is_number = std::fscanf(file, "%llu", &bytes) == 1; // else the word `max`
    std::fclose(file);
    if (is_number) return bytes;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

} // namespace

MachineMemory machine_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return {0, 0};
  const std::uint64_t physical = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  const std::uint64_t total = std::min(physical, container_bytes());
  const std::uint64_t available = available_bytes();
  return {total, available == 0 ? total : std::min(total, available)};
}

#endif

} // namespace ut::host
