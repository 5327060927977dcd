// A backend as a JavaScript object, and how one is found: the host's is built in, any other is a library with one symbol.
#pragma once
#include <napi.h>

#include <string>

#include "values.hpp"

namespace ut {

// The table behind `path`, or the host's for undefined. Throws UT_UNAVAILABLE with one line: no library, no symbol, another ABI.
// A library stays open until the process ends: a device runtime does not survive being unloaded.
const ut_backend *find_backend(const Napi::Value &path);

// Opens a small arena, stamps a unit and hashes its page. Empty when the hash is right, else why not.
std::string prove_backend(const ut_backend *backend);

class BackendObject : public Napi::ObjectWrap<BackendObject> {
public:
  struct Origin {
    const ut_backend *backend;
    const Napi::FunctionReference *arena; // constructor of arenas; lives as long as the environment
  };

  static Napi::Function define(Napi::Env env);
  explicit BackendObject(const Napi::CallbackInfo &info); // (external Origin)

private:
  Napi::Value name(const Napi::CallbackInfo &info);
  Napi::Value device_count(const Napi::CallbackInfo &info);
  Napi::Value capabilities(const Napi::CallbackInfo &info);
  Napi::Value open(const Napi::CallbackInfo &info);

  Origin origin_ = {};
};

} // namespace ut
