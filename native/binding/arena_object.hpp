// An opened arena as a JavaScript object. Closes itself when it is collected; after `close` every other call throws UT_INVALID.
#pragma once
#include <napi.h>

#include <vector>

#include "values.hpp"

namespace ut {

class ArenaObject : public Napi::ObjectWrap<ArenaObject> {
public:
  static Napi::Function define(Napi::Env env);
  // Opens a device of the backend. `constructor` is what `define` made. Throws with the backend's code and reason.
  static Napi::Value open(const Napi::FunctionReference &constructor, const ut_backend *backend, const Napi::Value &config);

  explicit ArenaObject(const Napi::CallbackInfo &info); // by `open` alone
  ~ArenaObject() override;

private:
  Napi::Value submit(const Napi::CallbackInfo &info);
  Napi::Value hash_pages(const Napi::CallbackInfo &info);
  Napi::Value translate(const Napi::CallbackInfo &info);
  Napi::Value faults(const Napi::CallbackInfo &info);
  Napi::Value read_bytes(const Napi::CallbackInfo &info);
  Napi::Value read_table(const Napi::CallbackInfo &info);
  Napi::Value query(const Napi::CallbackInfo &info);
  Napi::Value resize(const Napi::CallbackInfo &info);
  Napi::Value close(const Napi::CallbackInfo &info);

  ut_device *device(Napi::Env env) const; // throws when closed
  void demand(Napi::Env env, std::int32_t code) const;
  void release();

  const ut_backend *backend_ = nullptr;
  ut_device *device_ = nullptr;
  std::vector<ut_band> bands_;
};

} // namespace ut
