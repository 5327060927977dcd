#include "arena_object.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ut/config.hpp"

namespace ut {
namespace {

// What `open` hands to the constructor.
struct Opened {
  const ut_backend *backend;
  ut_device *device;
  std::vector<ut_band> bands;
};

constexpr std::uint32_t fault_words = sizeof(ut_fault) / sizeof(std::uint32_t);
constexpr std::uint32_t faults_max = 65536; // of one call

} // namespace

Napi::Function ArenaObject::define(Napi::Env env) {
  return DefineClass(env, "Arena",
                     {
                         InstanceMethod<&ArenaObject::submit>("submit"),
                         InstanceMethod<&ArenaObject::hash_pages>("hashPages"),
                         InstanceMethod<&ArenaObject::translate>("translate"),
                         InstanceMethod<&ArenaObject::faults>("faults"),
                         InstanceMethod<&ArenaObject::read_bytes>("readBytes"),
                         InstanceMethod<&ArenaObject::read_table>("readTable"),
                         InstanceMethod<&ArenaObject::query>("query"),
                         InstanceMethod<&ArenaObject::resize>("resize"),
                         InstanceMethod<&ArenaObject::close>("close"),
                     });
}

Napi::Value ArenaObject::open(const Napi::FunctionReference &constructor, const ut_backend *backend,
                              const Napi::Value &config) {
  OwnedConfig owned(config);
  Opened opened{backend, nullptr, {}};
  const std::int32_t code = backend->open(&owned.config, &opened.device);
  if (code != UT_OK) throw failure(config.Env(), code, backend->last_error());
  opened.bands = std::move(owned.bands);
  return constructor.New({Napi::External<Opened>::New(config.Env(), &opened)});
}

ArenaObject::ArenaObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<ArenaObject>(info) {
  if (!info[0].IsExternal()) throw failure(info.Env(), UT_INVALID, "an arena comes from a backend's open");
  Opened *const opened = info[0].As<Napi::External<Opened>>().Data();
  backend_ = opened->backend;
  device_ = opened->device;
  bands_ = std::move(opened->bands);
}

ArenaObject::~ArenaObject() { release(); }

void ArenaObject::release() {
  if (device_ != nullptr) backend_->close(device_);
  device_ = nullptr;
}

ut_device *ArenaObject::device(Napi::Env env) const {
  if (device_ == nullptr) throw failure(env, UT_INVALID, "the arena is closed");
  return device_;
}

void ArenaObject::demand(Napi::Env env, std::int32_t code) const {
  if (code != UT_OK) throw failure(env, code, backend_->last_error());
}

// submit(words: Int32Array, count: number): void
Napi::Value ArenaObject::submit(const Napi::CallbackInfo &info) {
  ut_device *const opened = device(info.Env());
  const std::uint32_t count = to_u32(info[1], "count");
  demand(info.Env(), backend_->submit(opened, to_array<std::int32_t>(info[0], "words", napi_int32_array, count), count));
  return info.Env().Undefined();
}

// hashPages(band: number, pages: Int32Array, masks: Uint32Array): Uint32Array, three words a page
Napi::Value ArenaObject::hash_pages(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  ut_device *const opened = device(env);
  const std::uint32_t band = to_u32(info[0], "band");
  if (band >= bands_.size()) throw failure(env, UT_INVALID, "there is no band " + std::to_string(band));
  const std::size_t count = to_elements(info[1], "pages").length;
  if (count > std::numeric_limits<std::uint32_t>::max()) throw failure(env, UT_INVALID, "too many pages");
  const auto *const pages = to_array<std::int32_t>(info[1], "pages", napi_int32_array, count);
  const auto *const masks =
      to_array<std::uint32_t>(info[2], "masks", napi_uint32_array, std::uint64_t{count} * mask_words(bands_[band]));
  auto out = Napi::Uint32Array::New(env, 3 * count);
  demand(env, backend_->hash_pages(opened, band, static_cast<std::uint32_t>(count), pages, masks, out.Data()));
  return out;
}

// translate(band, ids: Int32Array | BigInt64Array, rows, columns, out: Int32Array | BigInt64Array, outColumns): void
Napi::Value ArenaObject::translate(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  ut_device *const opened = device(env);
  const std::uint64_t rows = to_u32(info[2], "rows"), columns = to_u32(info[3], "columns"),
                      out_columns = to_u32(info[5], "outColumns");
  const auto bits_of = [env](const Elements &elements, std::uint64_t length, const char *name) -> std::uint32_t {
    if (elements.length < length) throw failure(env, UT_INVALID, std::string(name) + " is too short");
    if (elements.type == napi_int32_array) return 32;
    if (elements.type == napi_bigint64_array) return 64;
    throw failure(env, UT_INVALID, std::string(name) + " is neither an Int32Array nor a BigInt64Array");
  };
  const Elements ids = to_elements(info[1], "ids");
  const Elements out = to_elements(info[4], "out");
  const std::uint32_t bits = bits_of(ids, rows * columns, "ids");
  const std::uint32_t out_bits = bits_of(out, rows * out_columns, "out");
  demand(env, backend_->translate(opened, to_u32(info[0], "band"), ids.data, bits, rows, columns, out.data, out_bits,
                                  out_columns));
  return env.Undefined();
}

// faults(max: number): { count: number, words: Uint32Array }, eight words a fault in the order of ut_fault
Napi::Value ArenaObject::faults(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  ut_device *const opened = device(env);
  std::vector<ut_fault> found(std::min(to_u32(info[0], "max"), faults_max));
  std::uint32_t count = 0;
  demand(env, backend_->faults(opened, found.data(), static_cast<std::uint32_t>(found.size()), &count));
  // A backend keeps a bounded number of what it counted; a place that it left alone has kind 0.
  const auto end = std::find_if(found.begin(), found.end(), [](const ut_fault &fault) { return fault.kind == 0; });
  const auto kept = static_cast<std::size_t>(end - found.begin());
  auto words = Napi::Uint32Array::New(env, kept * fault_words);
  if (kept > 0) std::copy_n(reinterpret_cast<const std::uint32_t *>(found.data()), kept * fault_words, words.Data());
  auto answer = Napi::Object::New(env);
  answer.Set("count", count);
  answer.Set("words", words);
  return answer;
}

// readBytes(offset: number, bytes: number): Uint8Array
Napi::Value ArenaObject::read_bytes(const Napi::CallbackInfo &info) {
  ut_device *const opened = device(info.Env());
  const std::uint64_t offset = to_u64(info[0], "offset");
  auto out = Napi::Uint8Array::New(info.Env(), to_u32(info[1], "bytes"));
  demand(info.Env(), backend_->read_bytes(opened, offset, out.ByteLength(), out.Data()));
  return out;
}

// readTable(table: number, index: number, count: number): Int32Array
Napi::Value ArenaObject::read_table(const Napi::CallbackInfo &info) {
  ut_device *const opened = device(info.Env());
  const std::uint32_t count = to_u32(info[2], "count");
  auto out = Napi::Int32Array::New(info.Env(), count);
  demand(info.Env(),
         backend_->read_table(opened, to_u32(info[0], "table"), to_u32(info[1], "index"), count, out.Data()));
  return out;
}

// query(handle: number): 1 over, 0 not yet, negative: no such handle
Napi::Value ArenaObject::query(const Napi::CallbackInfo &info) {
  ut_device *const opened = device(info.Env());
  const std::int32_t answer = backend_->query(opened, to_u32(info[0], "handle"));
  if (answer == -UT_LOST) throw failure(info.Env(), UT_LOST, backend_->last_error());
  return Napi::Number::New(info.Env(), answer);
}

// resize(config): void
Napi::Value ArenaObject::resize(const Napi::CallbackInfo &info) {
  ut_device *const opened = device(info.Env());
  OwnedConfig owned(info[0]);
  demand(info.Env(), backend_->resize(opened, &owned.config));
  bands_ = std::move(owned.bands);
  return info.Env().Undefined();
}

// close(): void; a second time it does nothing
Napi::Value ArenaObject::close(const Napi::CallbackInfo &info) {
  release();
  return info.Env().Undefined();
}

} // namespace ut
