#include "library.hpp"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ut {

#if defined(_WIN32)

OpenedLibrary open_library(const std::string &path_utf8) {
  const int units = MultiByteToWideChar(CP_UTF8, 0, path_utf8.c_str(), -1, nullptr, 0);
  std::wstring path(static_cast<std::size_t>(units), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, path_utf8.c_str(), -1, path.data(), units);
  HMODULE module = LoadLibraryW(path.c_str());
  if (module != nullptr) return {module, ""};
  return {nullptr, "cannot load " + path_utf8 + ": Windows error " + std::to_string(GetLastError())};
}

void *find_symbol(void *handle, const char *name) noexcept {
  return reinterpret_cast<void *>(GetProcAddress(static_cast<HMODULE>(handle), name));
}

#else

OpenedLibrary open_library(const std::string &path_utf8) {
  void *handle = dlopen(path_utf8.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return {handle, ""};
  const char *reason = dlerror();
  return {nullptr, reason != nullptr ? reason : "unknown loader error"};
}

void *find_symbol(void *handle, const char *name) noexcept { return dlsym(handle, name); }

#endif

} // namespace ut
