#include "backend_object.hpp"

#include <algorithm>

#include "arena_object.hpp"
#include "library.hpp"
#include "ut/host_backend.hpp"
#include "ut/payload.h"

namespace ut {
namespace {

// One line of whatever a loader says.
std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

// The ABI number that a library speaks, where it is a small one; 0 otherwise.
std::uint32_t spoken_abi(ut_backend_open_fn open) {
  constexpr std::uint32_t asked_max = 64;
  for (std::uint32_t abi = 1; abi <= asked_max; abi++) {
    if (const ut_backend *const backend = open(abi)) return backend->abi;
  }
  return 0;
}

std::string other_abi(ut_backend_open_fn open) {
  const std::uint32_t spoken = spoken_abi(open);
  return "the backend speaks ABI " + (spoken == 0 ? std::string("of an unknown number") : std::to_string(spoken)) +
         ", the addon ABI " + std::to_string(UT_BACKEND_ABI) + ": build both anew";
}

} // namespace

const ut_backend *find_backend(const Napi::Value &path) {
  const Napi::Env env = path.Env();
  if (path.IsUndefined()) return host_backend();
  if (!path.IsString()) throw failure(env, UT_INVALID, "the path of a backend is no string");
  const OpenedLibrary library = open_library(path.As<Napi::String>());
  if (library.handle == nullptr) throw failure(env, UT_UNAVAILABLE, first_line(library.reason));
  const auto open = reinterpret_cast<ut_backend_open_fn>(find_symbol(library.handle, "ut_backend_open"));
  if (open == nullptr) throw failure(env, UT_UNAVAILABLE, "not a backend: the library has no symbol ut_backend_open");
  const ut_backend *const backend = open(UT_BACKEND_ABI);
  if (backend == nullptr || backend->abi != UT_BACKEND_ABI) throw failure(env, UT_UNAVAILABLE, other_abi(open));
  return backend;
}

std::string prove_backend(const ut_backend *backend) {
  const ut_band band = {4096, 3, 1, 4, 2, 0, 0};
  ut_config config = {};
  config.arena_bytes = band.page_bytes * band.pages;
  config.bands = &band;
  config.band_count = 1;
  config.flags = UT_FILL_POISON;
  ut_device *device = nullptr;
  if (backend->open(&config, &device) != UT_OK) return first_line(backend->last_error());
  constexpr std::int32_t page = 1, unit = 2, stamp = 7;
  const std::int32_t script[] = {UT_ZERO, 5, 0, 1, page, UT_STAMP, 7, 0, 1, page, unit, stamp};
  const std::uint32_t mask = 0xf;
  std::uint32_t hash[3] = {};
  std::string reason;
  if (backend->submit(device, script, std::size(script)) != UT_OK ||
      backend->hash_pages(device, 0, 1, &page, &mask, hash) != UT_OK) {
    reason = first_line(backend->last_error());
  } else if (hash[0] != ut_mix_a(UT_UNIT_FIELD, unit, stamp) || hash[1] != ut_mix_b(UT_UNIT_FIELD, unit, stamp) ||
             hash[2] != 0) {
    reason = "device memory did not keep what was written";
  }
  backend->close(device);
  return reason;
}

Napi::Function BackendObject::define(Napi::Env env) {
  return DefineClass(env, "Backend",
                     {
                         InstanceAccessor<&BackendObject::name>("name", napi_enumerable),
                         InstanceMethod<&BackendObject::device_count>("deviceCount"),
                         InstanceMethod<&BackendObject::capabilities>("capabilities"),
                         InstanceMethod<&BackendObject::open>("open"),
                     });
}

BackendObject::BackendObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<BackendObject>(info) {
  if (!info[0].IsExternal()) throw failure(info.Env(), UT_INVALID, "a backend comes from openBackend");
  origin_ = *info[0].As<Napi::External<Origin>>().Data();
}

Napi::Value BackendObject::name(const Napi::CallbackInfo &info) { return Napi::String::New(info.Env(), origin_.backend->name); }

Napi::Value BackendObject::device_count(const Napi::CallbackInfo &info) {
  return Napi::Number::New(info.Env(), std::max(origin_.backend->device_count(), 0));
}

// capabilities(device: number): what the device can do, see ut_capabilities
Napi::Value BackendObject::capabilities(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  ut_capabilities found = {};
  const std::int32_t code = origin_.backend->capabilities(to_u32(info[0], "device"), &found);
  if (code != UT_OK) throw failure(env, code, origin_.backend->last_error());
  auto answer = Napi::Object::New(env);
  answer.Set("memoryBytes", static_cast<double>(found.memory_bytes));
  answer.Set("memoryFreeBytes", static_cast<double>(found.memory_free_bytes));
  answer.Set("readEnd", found.read_end != 0);
  answer.Set("concurrentStreams", found.concurrent_streams != 0);
  answer.Set("computeMajor", found.compute_major);
  answer.Set("computeMinor", found.compute_minor);
  found.name[sizeof found.name - 1] = '\0';
  answer.Set("name", found.name);
  return answer;
}

// open(config): Arena
Napi::Value BackendObject::open(const Napi::CallbackInfo &info) { return ArenaObject::open(*origin_.arena, origin_.backend, info[0]); }

} // namespace ut
