// The Node-API binding: turns JavaScript values into calls of the core and of a backend's table.
// State lives in the Addon object, one per environment, so that worker threads and repeated loading are safe.
#include <napi.h>

#include <cstdint>
#include <string>

#include "arena_object.hpp"
#include "backend_object.hpp"
#include "library.hpp"
#include "ut/backend.h"
#include "ut/core.hpp"

namespace {

std::uint64_t to_bigint_u64(const Napi::Value &value, const char *name) {
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
                             InstanceMethod("openBackend", &Addon::open_backend, napi_enumerable),
                         });
    arena_ = Napi::Persistent(ut::ArenaObject::define(env));
    backend_ = Napi::Persistent(ut::BackendObject::define(env));
  }

private:
  // alignUp(bytes: bigint, pageBytes: bigint): bigint
  Napi::Value align_up(const Napi::CallbackInfo &info) {
    const auto aligned = ut::align_up(to_bigint_u64(info[0], "bytes"), to_bigint_u64(info[1], "pageBytes"));
    if (!aligned) throw Napi::RangeError::New(info.Env(), "pageBytes is 0 or the result exceeds 64 bits");
    return Napi::BigInt::New(info.Env(), *aligned);
  }

  // probeBackend(libraryPath?: string): { available, name?, devices?, reason? }
  // Without a path: the host backend. A library that is missing or finds no device is an answer with a reason, never
  // a throw; a library that is no backend, or one of another ABI number, is an error. A small arena is opened, stamped and
  // hashed, so `available` means that the device was used once.
  Napi::Value probe_backend(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    auto answer = Napi::Object::New(env);
    if (info[0].IsString()) {
      const ut::OpenedLibrary library = ut::open_library(info[0].As<Napi::String>());
      if (library.handle == nullptr) return unavailable(answer, library.reason);
    }
    const ut_backend *const backend = ut::find_backend(info[0]);
    const std::int32_t devices = backend->device_count();
    answer.Set("name", backend->name);
    answer.Set("devices", devices);
    if (devices <= 0) return unavailable(answer, "no device or no driver");
    ut_capabilities capabilities = {};
    if (backend->capabilities(0, &capabilities) != UT_OK) return unavailable(answer, backend->last_error());
    const std::string reason = ut::prove_backend(backend);
    if (!reason.empty()) return unavailable(answer, reason);
    answer.Set("available", true);
    return answer;
  }

  static Napi::Value unavailable(Napi::Object answer, const std::string &reason) {
    answer.Set("available", false);
    answer.Set("reason", reason.substr(0, reason.find('\n')));
    return answer;
  }

  // openBackend(libraryPath?: string): Backend
  Napi::Value open_backend(const Napi::CallbackInfo &info) {
    ut::BackendObject::Origin origin{ut::find_backend(info[0]), &arena_};
    return backend_.New({Napi::External<ut::BackendObject::Origin>::New(info.Env(), &origin)});
  }

  Napi::FunctionReference arena_;
  Napi::FunctionReference backend_;
};

} // namespace

NODE_API_ADDON(Addon)
