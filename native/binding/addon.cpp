// The Node-API binding: turns JavaScript values into calls of the core and of a backend's table.
// State lives in the Addon object, one per environment, so that worker threads and repeated loading are safe.
#include <napi.h>

#include <cstdint>
#include <limits>
#include <string>

#include "library.hpp"
#include "ut/backend.h"
#include "ut/core.hpp"
#include "ut/host_backend.hpp"

namespace {

std::uint64_t to_u64(const Napi::Value &value, const char *name) {
  if (!value.IsBigInt()) throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a BigInt");
  bool lossless = false;
  const std::uint64_t number = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) throw Napi::RangeError::New(value.Env(), std::string(name) + " must be in 0 .. 2^64-1");
  return number;
}

class Addon : public Napi::Addon<Addon> {
public:
  Addon(Napi::Env env, Napi::Object exports) {
    DefineAddon(exports, {
                             InstanceValue("version", Napi::String::New(env, UT_VERSION), napi_enumerable),
                             InstanceValue("napiVersion", Napi::Number::New(env, NAPI_VERSION), napi_enumerable),
                             InstanceValue("backendAbi", Napi::Number::New(env, UT_BACKEND_ABI), napi_enumerable),
                             InstanceMethod("alignUp", &Addon::align_up, napi_enumerable),
                             InstanceMethod("probeBackend", &Addon::probe_backend, napi_enumerable),
                         });
  }

private:
  // alignUp(bytes: bigint, pageBytes: bigint): bigint
  Napi::Value align_up(const Napi::CallbackInfo &info) {
    const auto aligned = ut::align_up(to_u64(info[0], "bytes"), to_u64(info[1], "pageBytes"));
    if (!aligned) throw Napi::RangeError::New(info.Env(), "pageBytes is 0 or the result exceeds 64 bits");
    return Napi::BigInt::New(info.Env(), *aligned);
  }

  // probeBackend(libraryPath?: string): { available, name?, devices?, reason? }
  // Without a path: the host backend. A library that is missing or finds no device is an answer with a reason, never
  // a throw; a library of another ABI number is an error. Fills and sums a little device memory, so `available`
  // means that it was used once.
  Napi::Value probe_backend(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    auto answer = Napi::Object::New(env);
    const ut_backend *backend = ut::host_backend();
    if (!info[0].IsUndefined()) {
      if (!info[0].IsString()) throw Napi::TypeError::New(env, "libraryPath must be a string");
      const ut::OpenedLibrary library = ut::open_library(info[0].As<Napi::String>());
      if (library.handle == nullptr) return unavailable(answer, library.reason);
      // Stays open until the process ends: a device runtime does not survive being unloaded.
      backend = open_table(env, library.handle);
    }
    const std::int32_t devices = backend->device_count();
    answer.Set("name", backend->name);
    answer.Set("devices", devices);
    if (devices <= 0) return unavailable(answer, "no device or no driver");
    constexpr std::uint32_t value = 3;
    constexpr std::uint64_t count = 1000;
    std::uint32_t sum = 0;
    if (backend->fill_u32(value, count, &sum) != 0) return unavailable(answer, backend->last_error());
    if (sum != value * count) return unavailable(answer, "device memory did not keep what was written");
    answer.Set("available", true);
    return answer;
  }

  static Napi::Value unavailable(Napi::Object answer, const std::string &reason) {
    answer.Set("available", false);
    answer.Set("reason", reason);
    return answer;
  }

  static const ut_backend *open_table(Napi::Env env, void *library) {
    const auto open = reinterpret_cast<ut_backend_open_fn>(ut::find_symbol(library, "ut_backend_open"));
    if (open == nullptr) throw Napi::Error::New(env, "not a backend: no symbol ut_backend_open");
    const ut_backend *backend = open(UT_BACKEND_ABI);
    if (backend == nullptr || backend->abi != UT_BACKEND_ABI) {
      throw Napi::Error::New(env, "the backend has another ABI number: rebuild it with the addon");
    }
    return backend;
  }
};

} // namespace

NODE_API_ADDON(Addon)
