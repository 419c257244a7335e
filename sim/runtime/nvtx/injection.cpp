// The program's NVTX ranges, through NVTX's public injection: its header loads the library that NVTX_INJECTION64_PATH names, calls
// InitializeInjectionNvtx2 and lets it put functions into a table.
//
// Source:  NVTX 3, nvToolsExt.h and nvtxDetail/nvtxTypes.h (github.com/NVIDIA/NVTX): numbers of tables and functions, attributes' layout.
//          Written out here, so that no NVTX header is needed; version 2 programs (libnvToolsExt) load the same.
// Ignores: marks, payloads, colours, categories, resources.
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

namespace {

using foretrace::runtime::Clock;

using Function = void (*)();
enum Module : int { kCore = 1, kCore2 = 5 };
enum Core : unsigned { kStartEx = 4, kStartA, kStartW, kEnd, kPushEx, kPushA, kPushW, kPop };
enum Core2 : unsigned {
  kDomainStartEx = 2,
  kDomainEnd,
  kDomainPushEx,
  kDomainPop,
  kRegisterA = 10,
  kRegisterW,
  kDomainCreateA,
  kDomainCreateW
};
struct Callbacks {
  std::size_t size;
  int (*table)(int module, Function*** functions, unsigned* count);
};
constexpr std::uint32_t kCallbacks = 1;

enum Message : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
struct Attributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
static_assert(sizeof(Attributes) == 48);

/// Strings that handles of domains and registered strings point to; they live as long as the process.
const std::string* keep(std::string text) {
  static std::mutex mutex;
  static std::deque<std::string>& kept = *new std::deque<std::string>;
  const std::lock_guard lock(mutex);
  return &kept.emplace_back(std::move(text));
}

std::string narrow(const wchar_t* text) {
  std::string all;
  for (; text != nullptr && *text != 0; ++text) {
    const auto c = static_cast<std::uint32_t>(*text);
    const auto tail = [&](unsigned shift) { all += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
    if (c < 0x80)
      all += static_cast<char>(c);
    else if (c < 0x800)
      all += static_cast<char>(0xc0 | (c >> 6)), tail(0);
    else if (c < 0x10000)
      all += static_cast<char>(0xe0 | (c >> 12)), tail(6), tail(0);
    else
      all += static_cast<char>(0xf0 | (c >> 18)), tail(12), tail(6), tail(0);
  }
  return all;
}
std::string plain(const char* text) { return text == nullptr ? "" : text; }

std::string name_of(const std::string* domain, const Attributes* attributes) {
  std::string name;
  if (attributes != nullptr && attributes->message != nullptr) {
    if (attributes->message_type == kAscii) name = plain(static_cast<const char*>(attributes->message));
    if (attributes->message_type == kUnicode) name = narrow(static_cast<const wchar_t*>(attributes->message));
    if (attributes->message_type == kRegistered) name = *static_cast<const std::string*>(attributes->message);
  }
  return domain == nullptr ? name : *domain + "/" + name;
}

template <class Body>
auto with_clock(Body body) {
  foretrace::runtime::State& state = foretrace::runtime::state();
  const std::lock_guard lock(state.mutex);
  const foretrace::runtime::InCall in_call(state);
  return body(*state.clock);
}

int push(const std::string* domain, std::string name) {
  return with_clock([&](Clock& clock) { return clock.push_range(domain, std::move(name)); });
}
int pop(const std::string* domain) {
  return with_clock([&](Clock& clock) { return clock.pop_range(domain); });
}
std::uint64_t start(std::string name) {
  return with_clock([&](Clock& clock) { return clock.start_range(std::move(name)); });
}
void end(std::uint64_t range) {
  with_clock([&](Clock& clock) { clock.end_range(range); });
}

std::uint64_t start_ex(const Attributes* a) { return start(name_of(nullptr, a)); }
std::uint64_t start_a(const char* name) { return start(plain(name)); }
std::uint64_t start_w(const wchar_t* name) { return start(narrow(name)); }
int push_ex(const Attributes* a) { return push(nullptr, name_of(nullptr, a)); }
int push_a(const char* name) { return push(nullptr, plain(name)); }
int push_w(const wchar_t* name) { return push(nullptr, narrow(name)); }
int pop_plain() { return pop(nullptr); }
std::uint64_t domain_start(const std::string* domain, const Attributes* a) {
  return start(name_of(domain, a));
}
void domain_end(const std::string*, std::uint64_t range) { end(range); }
int domain_push(const std::string* domain, const Attributes* a) { return push(domain, name_of(domain, a)); }
int domain_pop(const std::string* domain) { return pop(domain); }
const std::string* register_a(const std::string*, const char* text) { return keep(plain(text)); }
const std::string* register_w(const std::string*, const wchar_t* text) { return keep(narrow(text)); }
const std::string* create_a(const char* name) { return keep(plain(name)); }
const std::string* create_w(const wchar_t* name) { return keep(narrow(name)); }

/// A module's functions; programs of older headers have fewer.
class Table {
 public:
  Table(const Callbacks& callbacks, Module module) {
    if (callbacks.table(module, &functions_, &count_) == 0) count_ = 0;
  }
  template <class Own>
  void put(unsigned number, Own* function) const {
    if (number < count_ && functions_[number] != nullptr)
      *functions_[number] = reinterpret_cast<Function>(function);
  }

 private:
  Function** functions_ = nullptr;
  unsigned count_ = 0;
};

}  // namespace

/// Returns 1: the ranges are taken.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*table_of)(std::uint32_t)) {
  const auto* const callbacks = static_cast<const Callbacks*>(table_of(kCallbacks));
  if (callbacks == nullptr || callbacks->size < sizeof(Callbacks) || callbacks->table == nullptr) return 0;
  const Table core(*callbacks, kCore), core2(*callbacks, kCore2);
  core.put(kStartEx, start_ex);
  core.put(kStartA, start_a);
  core.put(kStartW, start_w);
  core.put(kEnd, end);
  core.put(kPushEx, push_ex);
  core.put(kPushA, push_a);
  core.put(kPushW, push_w);
  core.put(kPop, pop_plain);
  core2.put(kDomainStartEx, domain_start);
  core2.put(kDomainEnd, domain_end);
  core2.put(kDomainPushEx, domain_push);
  core2.put(kDomainPop, domain_pop);
  core2.put(kRegisterA, register_a);
  core2.put(kRegisterW, register_w);
  core2.put(kDomainCreateA, create_a);
  core2.put(kDomainCreateW, create_w);
  return 1;
}
