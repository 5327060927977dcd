// Adapter kit of unified-trace for C++17 and newer on POSIX systems: one header, the standard library only.
//
// It does two things for a program that holds an allocator:
//
//   serve          puts the allocator behind the adapter protocol, so that traces can be replayed on it
//   LiveRecorder   writes down what the allocator does inside its own program, when UNIFIED_TRACE=FILE is set
//
// docs/adapter-kits.md of unified-trace explains both, docs/adapter-protocol.md the protocol itself.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace unified_trace {

constexpr int protocol_version = 1;
constexpr std::size_t line_bytes_max = std::size_t{64} * 1024 * 1024;  // of one line, both ways
constexpr int depth_max = 64;                                          // nesting of one line, both ways

// --- JSON -----------------------------------------------------------------------------------------------------

struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A JSON value. Members of an object stand in the order in which they were put there.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(long value) : value_(static_cast<std::int64_t>(value)) {}
  Json(long long value) : value_(static_cast<std::int64_t>(value)) {}
  Json(unsigned long value) : value_(static_cast<std::int64_t>(value)) {}
  Json(unsigned value) : value_(std::int64_t{value}) {}
  Json(unsigned long long value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(Array items) : value_(std::move(items)) {}
  Json(Object members) : value_(std::move(members)) {}

  // Throws ParseError with what is wrong.
  static Json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* as_bool() const { return std::get_if<bool>(&value_); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&value_); }
  const std::string* as_text() const { return std::get_if<std::string>(&value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }

  // The member of an object, or null where there is none.
  const Json* find(std::string_view key) const {
    if (const Object* members = as_object())
      for (const Member& member : *members)
        if (member.first == key) return &member.second;
    return nullptr;
  }
  // An integer member. Throws std::out_of_range without one.
  std::int64_t integer(std::string_view key) const {
    const Json* found = find(key);
    const std::int64_t* value = found == nullptr ? nullptr : found->as_integer();
    if (value == nullptr) throw std::out_of_range("no integer \"" + std::string(key) + "\"");
    return *value;
  }
  std::int64_t integer_or(std::string_view key, std::int64_t otherwise) const {
    const Json* found = find(key);
    const std::int64_t* value = found == nullptr ? nullptr : found->as_integer();
    return value == nullptr ? otherwise : *value;
  }
  // A text member. Throws std::out_of_range without one.
  const std::string& text(std::string_view key) const {
    const Json* found = find(key);
    const std::string* value = found == nullptr ? nullptr : found->as_text();
    if (value == nullptr) throw std::out_of_range("no text \"" + std::string(key) + "\"");
    return *value;
  }

  void write(std::string& out) const;
  std::string to_text() const {
    std::string out;
    write(out);
    return out;
  }

 private:
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_ = nullptr;
};

// An object of these members, in this order.
inline Json object(std::initializer_list<Json::Member> members) { return Json(Json::Object(members)); }
inline Json array(std::initializer_list<Json> items) { return Json(Json::Array(items)); }

namespace detail {

inline void write_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text, begin, at - begin);
    begin = at + 1;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += static_cast<char>(byte);
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    }
  }
  out.append(text, begin, text.size() - begin);
  out += '"';
}

inline void write_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end.ptr);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  Json whole() {
    Json value = parse(0);
    skip();
    if (at_ != end_) fail();
    return value;
  }

 private:
  [[noreturn]] static void fail() { throw ParseError("not JSON"); }

  void skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool take(char expected) {
    if (at_ == end_ || *at_ != expected) return false;
    ++at_;
    return true;
  }
  void take_word(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word) fail();
    at_ += word.size();
  }

  Json parse(int depth) {
    skip();
    if (at_ == end_) fail();
    switch (*at_) {
      case '{':
        return members(depth + 1);
      case '[':
        return items(depth + 1);
      case '"':
        return Json(string());
      case 't':
        take_word("true");
        return Json(true);
      case 'f':
        take_word("false");
        return Json(false);
      case 'n':
        take_word("null");
        return Json();
      default:
        return number();
    }
  }

  static void check(int depth) {
    if (depth > depth_max) throw ParseError("nested deeper than 64 levels");
  }

  Json members(int depth) {
    check(depth);
    ++at_;
    Json::Object found;
    skip();
    if (take('}')) return Json(std::move(found));
    found.reserve(4);
    do {
      skip();
      if (at_ == end_ || *at_ != '"') fail();
      std::string key = string();
      skip();
      if (!take(':')) fail();
      found.emplace_back(std::move(key), parse(depth));
      skip();
    } while (take(','));
    if (!take('}')) fail();
    return Json(std::move(found));
  }

  Json items(int depth) {
    check(depth);
    ++at_;
    Json::Array found;
    skip();
    if (take(']')) return Json(std::move(found));
    do {
      found.push_back(parse(depth));
      skip();
    } while (take(','));
    if (!take(']')) fail();
    return Json(std::move(found));
  }

  Json number() {
    const char* begin = at_;
    if (at_ != end_ && *at_ == '-') ++at_;
    const char* digits = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    if (at_ == digits || (*digits == '0' && at_ - digits > 1)) fail();
    if (at_ == end_ || (*at_ != '.' && *at_ != 'e' && *at_ != 'E')) {
      std::int64_t value = 0;
      if (std::from_chars(begin, at_, value).ec == std::errc()) return Json(value);
    }
    if (take('.')) digits_of_fraction();
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      digits_of_fraction();
    }
    return Json(std::strtod(std::string(begin, at_).c_str(), nullptr));
  }
  void digits_of_fraction() {
    const char* begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    if (at_ == begin) fail();
  }

  std::string string() {
    ++at_;
    const char* begin = at_;
    std::string text;
    for (;;) {
      if (at_ == end_) fail();
      const unsigned char byte = static_cast<unsigned char>(*at_);
      if (byte == '"') break;
      if (byte < 0x20) fail();
      if (byte == '\\') {
        text.append(begin, at_);
        ++at_;
        escape(text);
        begin = at_;
      } else if (byte < 0x80) {
        ++at_;
      } else {
        at_ += sequence();
      }
    }
    text.append(begin, at_);
    ++at_;
    return text;
  }

  // The length of the UTF-8 sequence here; bytes that are none are refused.
  std::size_t sequence() const {
    const auto byte = [this](std::size_t index) {
      return at_ + index < end_ ? static_cast<unsigned char>(at_[index]) : 0U;
    };
    const unsigned first = byte(0);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    unsigned code = first & (0xffU >> (length + 1));
    for (std::size_t index = 1; index < length; ++index) {
      if ((byte(index) & 0xc0U) != 0x80U) throw ParseError("not UTF-8");
      code = (code << 6U) | (byte(index) & 0x3fU);
    }
    static constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_wrong = first < 0xc0 || first > 0xf4 || code < least[length] || code > 0x10ffff;
    if (is_wrong || (code >= 0xd800 && code <= 0xdfff)) throw ParseError("not UTF-8");
    return length;
  }

  void escape(std::string& text) {
    if (at_ == end_) fail();
    const char letter = *at_++;
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (const std::size_t index = letters.find(letter); index != std::string_view::npos) {
      text += meant[index];
      return;
    }
    if (letter != 'u') fail();
    unsigned code = hex();
    if (code >= 0xd800 && code < 0xdc00 && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
      at_ += 2;
      const unsigned low = hex();
      if (low < 0xdc00 || low > 0xdfff) fail();
      code = 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;  // half of a pair has no bytes
    append_code(text, code);
  }
  unsigned hex() {
    if (end_ - at_ < 4) fail();
    unsigned code = 0;
    const auto read = std::from_chars(at_, at_ + 4, code, 16);
    if (read.ptr != at_ + 4) fail();
    at_ += 4;
    return code;
  }
  static void append_code(std::string& text, unsigned code) {
    if (code < 0x80) {
      text += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr unsigned marks[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(marks[more] | (code >> (6U * static_cast<unsigned>(more))));
    for (int left = more - 1; left >= 0; --left)
      text += static_cast<char>(0x80U | ((code >> (6U * static_cast<unsigned>(left))) & 0x3fU));
  }

  const char* at_;
  const char* end_;
};

// Control characters and runs of spaces as one space each.
inline std::string one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool is_space = static_cast<unsigned char>(letter) <= 0x20 || letter == 0x7f;
    if (!is_space) line += letter;
    else if (!line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

inline std::string quoted(std::string_view text) {
  std::string line = one_line(text.substr(0, 200));
  if (line.size() > 60) line = line.substr(0, 57) + "...";
  for (char& letter : line)
    if ((static_cast<unsigned char>(letter) & 0x80U) != 0) letter = '?';  // it may be half a character
  std::string out;
  write_text(out, line);
  return out;
}

// Writes everything; false where nobody reads, or the disk is full: errno tells.
inline bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace detail

inline Json Json::parse(std::string_view text) { return detail::Parser(text).whole(); }

inline void Json::write(std::string& out) const {
  if (const Object* members = as_object()) {
    out += '{';
    bool is_first = true;
    for (const auto& [key, value] : *members) {
      if (!is_first) out += ',';
      is_first = false;
      detail::write_text(out, key);
      out += ':';
      value.write(out);
    }
    out += '}';
  } else if (const Array* items = as_array()) {
    out += '[';
    bool is_first = true;
    for (const Json& item : *items) {
      if (!is_first) out += ',';
      is_first = false;
      item.write(out);
    }
    out += ']';
  } else if (const std::string* text = as_text()) {
    detail::write_text(out, *text);
  } else if (const std::int64_t* integer = as_integer()) {
    detail::write_integer(out, *integer);
  } else if (const bool* truth = as_bool()) {
    out += *truth ? "true" : "false";
  } else if (const double* number = std::get_if<double>(&value_)) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", *number);
    out += digits;
  } else {
    out += "null";
  }
}

// --- what a program writes ------------------------------------------------------------------------------------

// Thrown by a constructor: this configuration is not taken. Another run may be opened.
struct RefusedConfiguration : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Thrown by an operation that cannot do what is asked: that says nothing about the allocator.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Thrown by an operation or `close` that finds the allocator itself broken.
struct InvariantBroken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a run is opened with.
struct Opening {
  std::string run;
  std::string domain;  // "heap" or "kv"
  Json config;
  std::optional<std::string> digest_depth;  // "light", "layout", "deep" or none
  std::optional<Json> state;                // to go on from, only where `from_state` is true
};

// The outcome of one operation. A refused one must have changed nothing.
struct Answer {
  bool is_granted = true;
  Json body = object({});  // of `ok` or of `err`
  Json fx = {};            // a list of effects, null for none
  Json digest = {};        // the components that changed, 16 hex digits each, null for none
  std::string message = {};  // a remark beside `ok`, never compared
};

inline Answer granted(Json ok = object({})) { return Answer{true, std::move(ok)}; }

// The refusal `code`, such as "refused_capacity", with the fields that the trace format gives it, in any order.
inline Answer refused(std::string_view code, std::initializer_list<Json::Member> fields = {}) {
  static constexpr std::string_view order[] = {"rule",  "req",   "band",      "page",    "need",   "free", "demand",
                                               "limit", "terms", "transfers", "holders", "message"};
  Json::Object err;
  err.emplace_back("code", Json(std::string(code)));
  for (const std::string_view name : order)
    for (const Json::Member& field : fields)
      if (field.first == name) err.push_back(field);
  return Answer{false, Json(std::move(err))};
}

// A broken contract of the caller: which rule, and whom it names.
inline Answer invalid(std::string_view rule, std::string req) {
  return refused("invalid", {{"rule", Json(std::string(rule))}, {"req", Json(std::move(req))}});
}

// One run of an allocator. A subclass names its `domain`, lists its `operations()` and is made from an Opening.
class Implementation {
 public:
  static constexpr const char* digest = nullptr;  // the deepest digest that its answers have
  static constexpr bool fx = false;               // whether its answers tell effects
  static constexpr bool from_state = false;       // whether a run may start from a state

  virtual ~Implementation() = default;
  // The full state after the last operation, or null.
  virtual Json state() { return {}; }
  // Ends the run; the folded digest, or none.
  virtual std::optional<std::string> close() { return std::nullopt; }
};

// The operations of an implementation and the methods that answer them.
template <class T>
using Operations = std::vector<std::pair<std::string, Answer (T::*)(const Json& args)>>;

// --- the protocol ---------------------------------------------------------------------------------------------

// One conversation: lines in, lines out.
class Session {
 public:
  enum Exit { ok = 0, broken = 1, bad_line = 3 };

  Session(std::string name, std::string version) : name_(std::move(name)), version_(std::move(version)) {}

  template <class T>
  void add() {
    Kind kind;
    kind.domain = T::domain;
    kind.make = [](const Opening& opening) -> std::unique_ptr<Implementation> {
      return std::make_unique<T>(opening);
    };
    for (const auto& [op, method] : T::operations()) {
      kind.order.push_back(op);
      kind.handlers.emplace(op, [method = method](Implementation& run, const Json& args) {
        return (static_cast<T&>(run).*method)(args);
      });
    }
    kind.from_state = T::from_state;
    has_fx_ = has_fx_ || T::fx;
    if (T::digest != nullptr && rank(T::digest) > rank(digest_)) digest_ = T::digest;
    kinds_.push_back(std::move(kind));
  }

  // How the conversation ended; none while it goes on.
  std::optional<Exit> exit() const { return exit_; }

  // Appends the reply to one line, line feed included.
  void take(std::string_view line, std::string& out) {
    try {
      const Json message = read(line);
      if (const Json* n = message.find("n")) return apply(*n, message, out);
      const Json::Object& members = *message.as_object();
      const std::string_view word = members.empty() ? std::string_view() : members.front().first;
      const bool is_known = word == "hello" || word == "open" || word == "state" || word == "close";
      if (!is_known || members.front().second.as_object() == nullptr)
        throw ParseError("no message of the protocol: " + detail::quoted(line));
      const Json& body = members.front().second;
      if (word == "hello") return greet(body, out);
      if (!is_greeted_) throw ParseError("\"" + std::string(word) + "\" before the hello");
      if (word == "open") return open(body, out);
      if (run_ == nullptr) throw ParseError("\"" + std::string(word) + "\" where no run is open");
      if (word == "state") return put(object({{"state", run_->state()}}), out);
      close(body, out);
    } catch (const ParseError& error) {
      refuse(error.what(), out);
    }
  }

  // Appends the error line after which nothing is answered.
  void refuse(const std::string& message, std::string& out) {
    exit_ = bad_line;
    error("protocol", message, out);
  }

 private:
  struct Kind {
    std::string domain;
    std::vector<std::string> order;  // its operations
    std::unordered_map<std::string, std::function<Answer(Implementation&, const Json&)>> handlers;
    std::function<std::unique_ptr<Implementation>(const Opening&)> make;
    bool from_state = false;
  };

  static int rank(const char* depth) {
    if (depth == nullptr) return 0;
    return std::strcmp(depth, "light") == 0 ? 1 : std::strcmp(depth, "layout") == 0 ? 2 : 3;
  }

  static Json read(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) throw ParseError("an empty line");
    Json value;
    try {
      value = Json::parse(line);
    } catch (const ParseError& error) {
      throw ParseError(error.what() + (": " + detail::quoted(line)));
    }
    if (value.as_object() == nullptr) throw ParseError("not an object: " + detail::quoted(line));
    return value;
  }

  static void put(const Json& message, std::string& out) {
    message.write(out);
    out += '\n';
  }
  static void error(const char* code, const std::string& message, std::string& out) {
    put(object({{"error", object({{"code", code}, {"message", message}})}}), out);
  }

  void greet(const Json& body, std::string& out) {
    if (is_greeted_) throw ParseError("a second hello");
    if (body.integer_or("protocol", 0) != protocol_version) throw ParseError("this side speaks protocol 1 only");
    is_greeted_ = true;
    Json::Array domains, ops;
    bool from_state = false;
    for (const Kind& kind : kinds_) {
      domains.push_back(kind.domain);
      from_state = from_state || kind.from_state;
      for (const std::string& op : kind.order) ops.push_back(op);
    }
    const Json hello = object({{"protocol", protocol_version},
                               {"name", name_},
                               {"version", version_},
                               {"revision", Json()},
                               {"dirty", Json()},
                               {"domains", std::move(domains)},
                               {"ops", std::move(ops)},
                               {"digest", digest_ == nullptr ? Json() : Json(digest_)},
                               {"fx", has_fx_},
                               {"from_state", from_state}});
    put(object({{"hello", hello}}), out);
  }

  void open(const Json& body, std::string& out) {
    if (run_ != nullptr) throw ParseError("\"open\" before run \"" + run_name_ + "\" was closed");
    const Json* run = body.find("run");
    const Json* config = body.find("config");
    if (run == nullptr || run->as_text() == nullptr || config == nullptr || config->as_object() == nullptr)
      throw ParseError("\"open\" without \"run\" or \"config\"");
    const Json* domain = body.find("domain");
    Opening opening{*run->as_text(), "kv", *config, std::nullopt, std::nullopt};
    if (domain != nullptr && domain->as_text() != nullptr) opening.domain = *domain->as_text();
    const Json* depth = body.find("digest_depth");
    if (depth != nullptr && depth->as_text() != nullptr) opening.digest_depth = *depth->as_text();
    if (const Json* state = body.find("state")) opening.state = *state;
    const Kind* found = nullptr;
    for (const Kind& kind : kinds_)
      if (kind.domain == opening.domain) found = &kind;
    if (found == nullptr) {
      const std::string message = "domain " + detail::quoted(opening.domain) + " is not answered here";
      return error("candidate_handshake", message, out);
    }
    if (opening.state && !found->from_state)
      return error("candidate_handshake", "a run cannot start from a state here", out);
    try {
      run_ = found->make(opening);
    } catch (const std::exception& reason) {  // the conversation goes on: nothing was opened
      return error("config", detail::one_line(reason.what()), out);
    }
    kind_ = found;
    run_name_ = opening.run;
    next_ = 0;
    put(object({{"opened", object({{"run", run_name_}})}}), out);
  }

  void apply(const Json& number, const Json& message, std::string& out) {
    if (run_ == nullptr) throw ParseError("an operation where no run is open");
    const std::int64_t* n = number.as_integer();
    if (n == nullptr || *n != next_) {
      throw ParseError("operation " + number.to_text() + " where operation " + std::to_string(next_) + " is next");
    }
    const Json* op = message.find("op");
    const Json* args = message.find("args");
    if (op == nullptr || op->as_text() == nullptr || args == nullptr || args->as_object() == nullptr)
      throw ParseError("operation " + std::to_string(*n) + " without \"op\" or \"args\"");
    const auto handler = kind_->handlers.find(*op->as_text());
    if (handler == kind_->handlers.end()) {
      throw ParseError("operation " + std::to_string(*n) + " is of a kind that is not answered here: " +
                       detail::quoted(*op->as_text()));
    }
    try {
      put_answer(handler->second(*run_, *args), out);
    } catch (const InvariantBroken& found) {
      return fail("invariant", found.what(), out);
    } catch (const Unsupported& reason) {
      put_answer(refused("unsupported", {{"message", detail::one_line(reason.what())}}), out);
    } catch (const std::exception& error) {
      return fail("crash", error.what(), out);
    }
    next_ += 1;
  }

  void put_answer(const Answer& answer, std::string& out) const {
    out += "{\"n\":";
    detail::write_integer(out, next_);
    out += answer.is_granted ? ",\"ok\":" : ",\"err\":";
    answer.body.write(out);
    if (answer.fx.as_array() != nullptr && !answer.fx.as_array()->empty()) {
      out += ",\"fx\":";
      answer.fx.write(out);
    }
    if (answer.digest.as_object() != nullptr && !answer.digest.as_object()->empty()) {
      out += ",\"digest\":";
      answer.digest.write(out);
    }
    if (!answer.message.empty() && answer.is_granted) {
      out += ",\"message\":";
      detail::write_text(out, answer.message);
    }
    out += "}\n";
  }

  void close(const Json& body, std::string& out) {
    const Json* run = body.find("run");
    if (run == nullptr || run->as_text() == nullptr || *run->as_text() != run_name_)
      throw ParseError("\"close\" of another run than \"" + run_name_ + "\"");
    std::optional<std::string> digest;
    try {
      digest = run_->close();
      run_ = nullptr;
    } catch (const InvariantBroken& found) {
      return fail("invariant", found.what(), out);
    } catch (const std::exception& error) {
      return fail("crash", error.what(), out);
    }
    put(object({{"closed", object({{"run", run_name_}, {"digest", digest ? Json(*digest) : Json()}})}}), out);
  }

  void fail(const char* kind, const std::string& message, std::string& out) {
    exit_ = broken;
    const Json fail = object({{"kind", kind}, {"message", detail::one_line(message)}});
    put(object({{"n", next_}, {"fail", fail}}), out);
  }

  std::string name_;
  std::string version_;
  std::vector<Kind> kinds_;
  const char* digest_ = nullptr;
  bool has_fx_ = false;
  bool is_greeted_ = false;
  std::unique_ptr<Implementation> run_;
  const Kind* kind_ = nullptr;
  std::string run_name_;
  std::int64_t next_ = 0;
  std::optional<Exit> exit_;
};

// Answers the protocol on standard input and output until the input ends; returns the exit code. Standard output
// belongs to the protocol from then on: what the program itself prints goes to standard error.
template <class... Kinds>
int serve(std::string name, std::string version) {
  Session session(std::move(name), std::move(version));
  (session.add<Kinds>(), ...);
  std::signal(SIGPIPE, SIG_IGN);
  std::fflush(stdout);
  const int output = ::dup(1);
  ::dup2(2, 1);
  std::vector<char> buffer(256 * 1024);  // a whole window of operations
  std::string held;                      // the beginning of a line whose end is still to come
  std::string replies;
  while (!session.exit()) {
    const ssize_t count = ::read(0, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    replies.clear();
    if (count <= 0) {
      if (!held.empty()) session.refuse("the input ends in the middle of a line", replies);
      detail::write_all(output, replies);
      break;
    }
    std::string_view chunk(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t end; !session.exit() && (end = chunk.find('\n')) != std::string_view::npos;) {
      if (held.size() + end > line_bytes_max) {
        session.refuse("a line is longer than 64 MiB", replies);
      } else if (held.empty()) {
        session.take(chunk.substr(0, end), replies);
      } else {
        held.append(chunk, 0, end);
        session.take(held, replies);
        held.clear();
      }
      chunk.remove_prefix(end + 1);
    }
    held += chunk;
    if (held.size() > line_bytes_max && !session.exit()) session.refuse("a line is longer than 64 MiB", replies);
    // all answers to one read in one write: that is what makes a window of operations fast
    if (!detail::write_all(output, replies)) return Session::ok;  // the tool went away
  }
  return session.exit().value_or(Session::ok);
}

// --- live recording -------------------------------------------------------------------------------------------

class LiveRecorder;

// A recorded call. Tell its outcome with `granted` or `refused` before it goes out of scope.
class LiveCall {
 public:
  LiveCall() = default;  // not recorded
  LiveCall(const LiveCall&) = delete;
  LiveCall& operator=(const LiveCall&) = delete;
  LiveCall(LiveCall&& other) noexcept { *this = std::move(other); }
  LiveCall& operator=(LiveCall&& other) noexcept {
    std::swap(recorder_, other.recorder_);
    std::swap(lock_, other.lock_);
    std::swap(before_, other.before_);
    std::swap(id_, other.id_);
    std::swap(op_, other.op_);
    std::swap(args_, other.args_);
    std::swap(is_told_, other.is_told_);
    return *this;
  }
  ~LiveCall();

  // Granted, with a result; effects as well.
  void granted(const Json& ok = object({}), const Json& fx = {});
  // Granted: where the object lies.
  void granted_at(std::uintptr_t address);
  void granted_at(const void* address) { granted_at(reinterpret_cast<std::uintptr_t>(address)); }
  // Refused; it changed nothing.
  void refused(std::string_view code, std::initializer_list<Json::Member> fields = {});

 private:
  friend class LiveRecorder;
  LiveRecorder* recorder_ = nullptr;
  std::unique_lock<std::recursive_timed_mutex> lock_;
  std::optional<std::uintptr_t> before_;  // where the object lay
  std::string id_;
  std::string op_;
  std::string args_;  // as JSON
  bool is_told_ = false;
};

// Writes down what an allocator does inside its own program, as a trace with one run.
//
// It records when UNIFIED_TRACE names a file (`%p` in it is the process's number), and does nothing otherwise. With
// UNIFIED_TRACE_CRASH_SAFE=1 each call is written before it is made, so that the trace of a program that died names
// the call that never returned. Lines go to FILE.PID.partial; only a whole trace gets the name FILE, when the recorder
// is closed or destroyed, or the program exits. A recording that cannot go on says so once on standard error and never
// disturbs the program. Calls are serialised, and a call inside a recorded call is not recorded: what the recorder
// itself allocates is none of the trace's business.
class LiveRecorder {
 public:
  struct Options {
    std::string domain = "heap";
    std::string run = "live";
    std::optional<std::uintptr_t> base = 0;  // the address that offsets count from; none: offsets are not recorded
  };

  LiveRecorder(std::string name, std::string version, const Json& config)
      : LiveRecorder(std::move(name), std::move(version), config, Options()) {}
  LiveRecorder(std::string name, std::string version, const Json& config, Options options)
      : options_(std::move(options)), pid_(::getpid()) {
    const char* path = std::getenv("UNIFIED_TRACE");
    const char* safe = std::getenv("UNIFIED_TRACE_CRASH_SAFE");
    is_crash_safe_ = safe != nullptr && *safe != '\0' && std::strcmp(safe, "0") != 0;
    if (path == nullptr || *path == '\0') return;
    path_ = path;
    for (std::size_t at; (at = path_.find("%p")) != std::string::npos;) path_.replace(at, 2, std::to_string(pid_));
    if (path_ == "-" || ends_with(".gz") || ends_with(".zst")) {
      complain("a live recording needs the name of a plain .jsonl file");
      return;
    }
    partial_ = path_ + "." + std::to_string(pid_) + ".partial";
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) {
      complain(std::string("cannot be written: ") + std::strerror(errno));
      return;
    }
    const std::lock_guard lock(mutex_);
    const Json producer = object({{"name", name}, {"version", version}, {"revision", Json()}, {"dirty", Json()}});
    put(object({{"kind", "trace"},
                {"format", "unified-trace"},
                {"version", 1},
                {"producer", producer},
                {"created", Json()},
                {"note", Json()}}));
    put(object({{"kind", "run"},
                {"run", options_.run},
                {"domain", options_.domain},
                {"config", config},
                {"source", object({{"type", "live"}, {"name", name}})},
                {"digest_depth", Json()}}));
    remember(this);
  }
  LiveRecorder(const LiveRecorder&) = delete;
  LiveRecorder& operator=(const LiveRecorder&) = delete;
  ~LiveRecorder() { close(); }

  bool is_recording() const { return file_ >= 0; }

  // Any operation, with its arguments in the order that the trace format gives them.
  LiveCall call(std::string_view op, const Json& args) {
    LiveCall call = begin(op);
    if (call.recorder_ != nullptr) start(call, args);
    return call;
  }

  // An allocation: a new lifetime with an id of its own. An alignment of 0 is not told.
  LiveCall alloc(std::size_t size_bytes, std::size_t align_bytes = 0) {
    LiveCall call = begin("heap.alloc");
    if (call.recorder_ == nullptr) return call;
    call.id_ = "a" + std::to_string(++lifetimes_);
    Json::Object args{{"id", call.id_}, {"size_bytes", size_bytes}};
    if (align_bytes > 0) args.emplace_back("align_bytes", align_bytes);
    start(call, Json(std::move(args)));
    return call;
  }
  // The end of the lifetime of the object at an address.
  LiveCall free(std::uintptr_t address) {
    LiveCall call = begin("heap.free");
    if (call.recorder_ != nullptr) start(call, object({{"id", id_at(address)}}));
    return call;
  }
  LiveCall free(const void* address) { return free(reinterpret_cast<std::uintptr_t>(address)); }
  // Another size for the object at an address; `granted_at` tells where it lies then.
  LiveCall realloc(std::uintptr_t address, std::size_t size_bytes) {
    LiveCall call = begin("heap.realloc");
    if (call.recorder_ == nullptr) return call;
    call.before_ = address;
    call.id_ = id_at(address);
    start(call, object({{"id", call.id_}, {"size_bytes", size_bytes}}));
    return call;
  }
  LiveCall realloc(const void* address, std::size_t size_bytes) {
    return realloc(reinterpret_cast<std::uintptr_t>(address), size_bytes);
  }

  // The id of the object at an address, or of the last one there.
  const std::string& id_at(std::uintptr_t address) {
    std::string& id = ids_[address];
    if (id.empty()) id = "u" + std::to_string(++lifetimes_);  // never allocated here: a name that nothing opens
    return id;
  }

  // Ends the recording; the trace gets its name.
  void close() {
    forget(this);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!lock.try_lock_for(std::chrono::seconds(2))) return;  // a thread that hangs in a call must not keep the exit
    if (file_ < 0 || ::getpid() != pid_) return;  // a forked child leaves its parent's file alone
    if (is_inside_) return give_up("the program ended inside a call");
    put(object({{"kind", "end"}, {"run", options_.run}, {"ops", n_}}));
    flush();
    if (file_ < 0) return;
    const bool is_whole = ::close(file_) == 0 && std::rename(partial_.c_str(), path_.c_str()) == 0;
    file_ = -1;
    if (!is_whole) complain(std::string("cannot be written: ") + std::strerror(errno));
  }

 private:
  friend class LiveCall;
  static constexpr std::size_t buffer_bytes = 256 * 1024;

  // Recorders that are closed when the program exits without destroying them.
  struct Registry {
    std::mutex mutex;
    std::vector<LiveRecorder*> open;
  };
  static Registry& registry() {
    static Registry* const all = new Registry;  // outlives every recorder, static ones too
    return *all;
  }
  static void remember(LiveRecorder* recorder) {
    static const int registered = std::atexit([] {
      std::vector<LiveRecorder*> open;
      {
        const std::lock_guard lock(registry().mutex);
        open = registry().open;
      }
      for (LiveRecorder* each : open) each->close();
    });
    static_cast<void>(registered);
    const std::lock_guard lock(registry().mutex);
    registry().open.push_back(recorder);
  }
  static void forget(LiveRecorder* recorder) {
    const std::lock_guard lock(registry().mutex);
    std::vector<LiveRecorder*>& open = registry().open;
    for (std::size_t at = 0; at < open.size(); ++at)
      if (open[at] == recorder) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at--));
  }

  bool ends_with(std::string_view ending) const {
    return path_.size() >= ending.size() && path_.compare(path_.size() - ending.size(), ending.size(), ending) == 0;
  }

  // From here on this thread is inside: what it allocates for the recording is not recorded.
  LiveCall begin(std::string_view op) {
    LiveCall call;
    if (file_ < 0) return call;
    std::unique_lock lock(mutex_);
    if (is_inside_ || file_ < 0 || ::getpid() != pid_) return call;
    is_inside_ = true;
    call.recorder_ = this;
    call.lock_ = std::move(lock);
    call.op_ = op;
    return call;
  }
  void start(LiveCall& call, const Json& args) {
    args.write(call.args_);
    if (!is_crash_safe_) return;
    head("call", call);
    buffer_ += "}\n";
    flush();
  }
  void head(const char* kind, const LiveCall& call) {
    buffer_ += "{\"kind\":\"";
    buffer_ += kind;
    buffer_ += "\",\"n\":";
    detail::write_integer(buffer_, n_);
    buffer_ += ",\"op\":";
    detail::write_text(buffer_, call.op_);
    buffer_ += ",\"args\":";
    buffer_ += call.args_;
  }
  void tell(LiveCall& call, const char* word, const Json& body, const Json& fx) {
    if (call.is_told_) return;
    call.is_told_ = true;
    head("op", call);
    buffer_ += word;
    body.write(buffer_);
    if (fx.as_array() != nullptr && !fx.as_array()->empty()) {
      buffer_ += ",\"fx\":";
      fx.write(buffer_);
    }
    buffer_ += "}\n";
    n_ += 1;
    if (is_crash_safe_ || buffer_.size() >= buffer_bytes) flush();
  }
  void place(LiveCall& call, std::uintptr_t address) {
    if (call.before_) ids_.erase(*call.before_);
    ids_[address] = call.id_;
    const auto offset = static_cast<std::int64_t>(address - options_.base.value_or(0));
    tell(call, ",\"ok\":", options_.base ? object({{"address_offset", offset}}) : object({}), {});
  }
  void leave(LiveCall& call) {
    if (!call.is_told_) give_up(call.op_ + " told no outcome");
    is_inside_ = false;
  }

  void put(const Json& line) {
    line.write(buffer_);
    buffer_ += '\n';
  }
  void flush() {
    if (file_ < 0 || buffer_.empty()) return;
    if (!detail::write_all(file_, buffer_)) {
      const int reason = errno;
      ::close(file_);
      file_ = -1;
      complain(std::string("cannot be written: ") + std::strerror(reason));
    }
    buffer_.clear();
  }
  void give_up(const std::string& reason) {
    flush();
    if (file_ < 0) return;
    ::close(file_);
    file_ = -1;
    complain(reason + "; what was recorded until then is in " + partial_);
  }
  void complain(const std::string& message) const {
    std::fprintf(stderr, "UNIFIED_TRACE=%s: %s\n", path_.c_str(), message.c_str());
  }

  std::recursive_timed_mutex mutex_;
  Options options_;
  pid_t pid_;
  bool is_crash_safe_ = false;
  std::string path_;
  std::string partial_;
  std::atomic<int> file_{-1};
  std::string buffer_;
  std::int64_t n_ = 0;
  std::int64_t lifetimes_ = 0;
  std::unordered_map<std::uintptr_t, std::string> ids_;  // by address: the object there, or the last one that was
  bool is_inside_ = false;                               // of a recorded call
};

inline LiveCall::~LiveCall() {
  if (recorder_ != nullptr) recorder_->leave(*this);
}
inline void LiveCall::granted(const Json& ok, const Json& fx) {
  if (recorder_ != nullptr) recorder_->tell(*this, ",\"ok\":", ok, fx);
}
inline void LiveCall::granted_at(std::uintptr_t address) {
  if (recorder_ != nullptr && !is_told_) recorder_->place(*this, address);
}
inline void LiveCall::refused(std::string_view code, std::initializer_list<Json::Member> fields) {
  if (recorder_ != nullptr) recorder_->tell(*this, ",\"err\":", unified_trace::refused(code, fields).body, {});
}

}  // namespace unified_trace
