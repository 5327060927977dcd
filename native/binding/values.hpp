// JavaScript values to numbers and arrays, and failures to JavaScript errors. Every failure is an Error whose `code` is a word of
// ut_code and whose message is one line.
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ut/backend.h"

namespace ut {

// `code` is a ut_code that is not UT_OK.
Napi::Error failure(Napi::Env env, std::int32_t code, const std::string &message);

// Integers in [0, 2^32) and [0, 2^53); UT_INVALID otherwise.
std::uint32_t to_u32(const Napi::Value &value, const char *name);
std::uint64_t to_u64(const Napi::Value &value, const char *name);
bool to_bool(const Napi::Value &value, const char *name);

// The elements of a typed array, valid until JavaScript runs again. UT_INVALID for any other value.
struct Elements {
  napi_typedarray_type type;
  std::size_t length;
  void *data;
};
Elements to_elements(const Napi::Value &value, const char *name);
// The same where one type alone is right, with at least `length` elements.
template <class Element>
Element *to_array(const Napi::Value &value, const char *name, napi_typedarray_type type, std::uint64_t length) {
  const Elements elements = to_elements(value, name);
  if (elements.type != type) throw failure(value.Env(), UT_INVALID, std::string(name) + " is an array of another type");
  if (elements.length < length) throw failure(value.Env(), UT_INVALID, std::string(name) + " is too short");
  return static_cast<Element *>(elements.data);
}

// A configuration with the bands that it points to.
struct OwnedConfig {
  std::vector<ut_band> bands;
  ut_config config;

  explicit OwnedConfig(const Napi::Value &value); // throws UT_INVALID
};

} // namespace ut
