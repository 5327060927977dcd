#include "values.hpp"

#include <cmath>

namespace ut {
namespace {

const char *word_of(std::int32_t code) {
  switch (code) {
  case UT_INVALID: return "UT_INVALID";
  case UT_NO_MEMORY: return "UT_NO_MEMORY";
  case UT_UNAVAILABLE: return "UT_UNAVAILABLE";
  default: return "UT_LOST"; // a code that nobody knows is no reason to go on
  }
}

double to_integer(const Napi::Value &value, const char *name, double limit) {
  if (value.IsNumber()) {
    const double number = value.As<Napi::Number>().DoubleValue();
    if (number >= 0 && number < limit && std::floor(number) == number) return number;
  }
  throw failure(value.Env(), UT_INVALID, std::string(name) + " is no whole number in its range");
}

Napi::Object to_object(const Napi::Value &value, const char *name) {
  if (!value.IsObject()) throw failure(value.Env(), UT_INVALID, std::string(name) + " is no object");
  return value.As<Napi::Object>();
}

ut_band to_band(const Napi::Value &value) {
  const Napi::Object band = to_object(value, "a band");
  ut_band made = {};
  made.page_bytes = to_u64(band.Get("pageBytes"), "pageBytes");
  made.pages = to_u32(band.Get("pages"), "pages");
  made.first_page = to_u32(band.Get("firstPage"), "firstPage");
  made.units = to_u32(band.Get("units"), "units");
  made.ids = to_u32(band.Get("ids"), "ids");
  made.host_pages = to_u32(band.Get("hostPages"), "hostPages");
  made.flags = to_bool(band.Get("isState"), "isState") ? UT_BAND_STATE : 0;
  return made;
}

} // namespace

Napi::Error failure(Napi::Env env, std::int32_t code, const std::string &message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, word_of(code)));
  return error;
}

std::uint32_t to_u32(const Napi::Value &value, const char *name) {
  return static_cast<std::uint32_t>(to_integer(value, name, 4294967296.0));
}

std::uint64_t to_u64(const Napi::Value &value, const char *name) {
  return static_cast<std::uint64_t>(to_integer(value, name, 9007199254740992.0));
}

bool to_bool(const Napi::Value &value, const char *name) {
  if (!value.IsBoolean()) throw failure(value.Env(), UT_INVALID, std::string(name) + " is neither true nor false");
  return value.As<Napi::Boolean>().Value();
}

Elements to_elements(const Napi::Value &value, const char *name) {
  Elements elements = {};
  // One call answers all; it fails for any other value.
  if (napi_get_typedarray_info(value.Env(), value, &elements.type, &elements.length, &elements.data, nullptr,
                               nullptr) != napi_ok) {
    throw failure(value.Env(), UT_INVALID, std::string(name) + " is no typed array");
  }
  return elements;
}

OwnedConfig::OwnedConfig(const Napi::Value &value) : config{} {
  const Napi::Object object = to_object(value, "the configuration");
  const Napi::Value list = object.Get("bands");
  if (!list.IsArray()) throw failure(value.Env(), UT_INVALID, "bands is no array");
  const auto array = list.As<Napi::Array>();
  for (std::uint32_t i = 0; i < array.Length(); i++) bands.push_back(to_band(array.Get(i)));
  config.arena_bytes = to_u64(object.Get("arenaBytes"), "arenaBytes");
  config.bands = bands.data();
  config.band_count = static_cast<std::uint32_t>(bands.size());
  config.rows = to_u32(object.Get("rows"), "rows");
  config.row_pages = to_u32(object.Get("rowPages"), "rowPages");
  config.flags = (to_bool(object.Get("poison"), "poison") ? UT_FILL_POISON : 0u) |
                 (to_bool(object.Get("checkReads"), "checkReads") ? UT_CHECK_READS : 0u);
  config.device = to_u32(object.Get("device"), "device");
}

} // namespace ut
