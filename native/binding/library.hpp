// Opening a shared library by path, on each operating system.
#pragma once
#include <string>

namespace ut {

struct OpenedLibrary {
  void *handle = nullptr; // null when it could not be opened
  std::string reason;     // the loader's own words; empty when it was opened
};

OpenedLibrary open_library(const std::string &path_utf8);

// Null when the library has no such symbol.
void *find_symbol(void *handle, const char *name) noexcept;

} // namespace ut
