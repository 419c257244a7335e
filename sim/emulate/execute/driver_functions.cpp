#include "sim/emulate/execute/driver_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

namespace {

enum Function : std::uint64_t {
  vprintf_,
  malloc_,
  free_,
  assertfail_,
  set_condition_,
  grid_handle_,
  grid_wait_,
  grid_wait_only_,
  grid_size_,
  grid_rank_,
  provided
};
constexpr std::array<std::string_view, provided> kProvided = {"vprintf",
                                                              "malloc",
                                                              "free",
                                                              "__assertfail",
                                                              "cudaGraphSetConditional",
                                                              "cudaCGGetIntrinsicHandle",
                                                              "cudaCGSynchronize",
                                                              "cudaCGSynchronizeGrid",
                                                              "cudaCGGetSize",
                                                              "cudaCGGetRank"};
constexpr std::uint32_t kGridScope = 1;  // cudaCGScopeGrid

constexpr std::uint64_t kKnown = provided + kDeviceFunctions.size();

/// Names that were asked for and are not provided, in that order, so that a call of one can say which.
struct Others {
  std::mutex mutex;
  std::deque<std::string> names;  // never shrinks: views of them stay valid
};
Others& others() {
  static Others all;
  return all;
}
constexpr std::size_t kMostOthers = 220;  // within the addresses of the driver's code

constexpr std::size_t kMostText = 1 << 20;  // of one string: that of the device's own buffer
constexpr std::int32_t kMostArguments = 32;

std::string read_text(std::uint64_t address, const ByteReader& read) {
  std::string text;
  while (text.size() < kMostText) {
    const char c = read(address + text.size());
    if (c == '\0') break;
    text += c;
  }
  return text;
}

/// The arguments, one after the other.
class Arguments {
 public:
  Arguments(std::uint64_t address, const ByteReader& read) : next_(address), read_(read) {}
  std::uint64_t take(std::uint64_t bytes) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(read_(next_ + i))} << (8 * i);
    }
    next_ += bytes;
    ++taken;
    return value;
  }
  std::int32_t taken = 0;

 private:
  std::uint64_t next_;
  const ByteReader& read_;
};

/// One conversion by the C library; `how` is a whole specification for a value of that type.
template <class... T>
std::string by_library(const std::string& how, T... values) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(nullptr, 0, how.c_str(), values...);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), how.c_str(), values...);
#pragma GCC diagnostic pop
  text.pop_back();
  return text;
}

std::string integer_text(const std::string& flags, std::string_view size, char kind, Arguments& arguments) {
  const bool is_signed = kind == 'd' || kind == 'i';
  const bool wide = size == "l" || size == "ll" || size == "j" || size == "z" || size == "t";
  const std::uint64_t bits = arguments.take(wide ? 8 : 4);
  const std::string how = flags + "ll" + kind;
  if (is_signed) {
    auto value = static_cast<long long>(bits);
    if (!wide) value = static_cast<std::int32_t>(bits);
    if (size == "h") value = static_cast<std::int16_t>(bits);
    if (size == "hh") value = static_cast<std::int8_t>(bits);
    return by_library(how, value);
  }
  auto value = static_cast<unsigned long long>(bits);
  if (size == "h") value &= 0xffff;
  if (size == "hh") value &= 0xff;
  return by_library(how, value);
}

}  // namespace

void to_standard_output(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void to_standard_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

std::uint64_t driver_function_address(std::string_view name) {
  const auto known = std::find(kProvided.begin(), kProvided.end(), name);
  if (known != kProvided.end())
    return kDriverCode + 16 * static_cast<std::uint64_t>(known - kProvided.begin());
  for (std::size_t i = 0; i < kDeviceFunctions.size(); ++i) {
    if (kDeviceFunctions[i].name == name) return kDriverCode + 16 * (provided + i);
  }
  const std::lock_guard lock(others().mutex);
  auto& names = others().names;
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() && names.size() < kMostOthers)
    found = names.insert(names.end(), std::string(name));
  return kDriverCode + 16 * (kKnown + static_cast<std::uint64_t>(found - names.begin()));
}

std::string_view driver_function_name(std::uint64_t address) {
  if (address < kDriverCode) return {};
  const std::uint64_t i = (address - kDriverCode) / 16;
  if (i < provided) return kProvided[i];
  if (i < kKnown) return kDeviceFunctions[i - provided].name;
  const std::lock_guard lock(others().mutex);
  return i - kKnown < others().names.size() ? std::string_view(others().names[i - kKnown])
                                            : std::string_view{};
}

Formatted format_device_text(std::string_view format, std::uint64_t arguments, const ByteReader& read) {
  Formatted out;
  Arguments values(arguments, read);
  for (std::size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out.text += format[i++];
      continue;
    }
    const std::size_t start = i++;
    std::string flags = "%";
    const auto copy_while = [&](std::string_view set) {
      while (i < format.size() && set.find(format[i]) != std::string_view::npos) flags += format[i++];
    };
    const auto number = [&] {
      if (i < format.size() && format[i] == '*') {
        ++i;
        flags += std::to_string(static_cast<std::int32_t>(values.take(4)));
      } else {
        copy_while("0123456789");
      }
    };
    copy_while("-+ #0");
    number();
    if (i < format.size() && format[i] == '.') {
      flags += format[i++];
      number();
    }
    const std::size_t size_at = i;
    while (i < format.size() && std::strchr("hljztL", format[i]) != nullptr) ++i;
    const std::string_view size = format.substr(size_at, i - size_at);
    const char kind = i < format.size() ? format[i++] : '\0';
    if (kind == '%') {
      out.text += '%';
      continue;
    }
    if (kind == '\0' || std::strchr("diuoxXcspfFeEgGaA", kind) == nullptr || values.taken >= kMostArguments) {
      out.text += format.substr(start, i - start);  // as it stands
      continue;
    }
    switch (kind) {
      case 'c': out.text += by_library(flags + 'c', static_cast<int>(values.take(4))); break;
      case 's': {
        const std::uint64_t address = values.take(8);
        const std::string text = address == 0 ? "(null)" : read_text(address, read);
        out.text += by_library(flags + 's', text.c_str());
        break;
      }
      case 'p': {
        const std::uint64_t address = values.take(8);
        // A null pointer has no name of its own there.
        out.text += address == 0 ? by_library(flags + 's', "(nil)")
                                 : by_library(flags + 'p', std::bit_cast<void*>(address));
        break;
      }
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': out.text += integer_text(flags, size, kind, values); break;
      default: out.text += by_library(flags + kind, std::bit_cast<double>(values.take(8))); break;
    }
  }
  out.arguments = values.taken;
  return out;
}

/// The functions of a grid (cooperative groups) for a lane: cudaCGSynchronize and its like. True: it has to ask again.
bool call_grid(Execution& x, std::uint64_t function, int lane) {
  const auto word = [&](int index) -> std::uint32_t& {
    return x.warp->registers[kFirstRegisterWord + static_cast<std::uint32_t>(index) * 32 +
                             static_cast<std::uint32_t>(lane)];
  };
  const auto pair = [&](int index) { return word(index) | std::uint64_t{word(index + 1)} << 32; };
  const auto store = [&](std::uint64_t at, std::uint64_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    if (at != 0) std::memcpy(x.memory.generic_at(at, sizeof narrow, lane), &narrow, sizeof narrow);
  };
  const LaunchContext& context = x.launch().context;
  const Dim3 b = x.block_index(), t = x.thread_index(lane), &g = context.grid, &d = context.block;
  const std::uint64_t block = b.x + g.x * (b.y + std::uint64_t{g.y} * b.z);
  const std::uint64_t rank = block * d.count() + t.x + d.x * (t.y + std::uint64_t{d.y} * t.z);
  const std::uint64_t threads = g.count() * d.count();
  if (function == grid_handle_) {
    word(4) = word(4) == kGridScope ? 1 : 0;
    word(5) = 0;
    return false;
  }
  const bool waits = function == grid_wait_ || function == grid_wait_only_;
  if ((waits ? pair(4) : pair(8)) == 0) {
    word(4) = kInvalidValue;
    return false;
  }
  if (waits) {
    const GridBarrier::Answer answer = x.launch().grid_barrier.ask(rank, threads);
    if (answer == GridBarrier::Answer::came) x.progress.note();
    if (answer != GridBarrier::Answer::passes) return true;
  } else {
    store(pair(4), function == grid_size_ ? threads : rank);
    store(pair(6), function == grid_size_ ? 1 : 0);
  }
  word(4) = 0;
  return false;
}

namespace {

std::uint32_t& lane_register(Execution& x, int index, int lane) {
  return x.warp->registers[kFirstRegisterWord + static_cast<std::uint32_t>(index) * 32 +
                           static_cast<std::uint32_t>(lane)];
}

std::uint64_t lane_pair(Execution& x, int index, int lane) {
  return lane_register(x, index, lane) | std::uint64_t{lane_register(x, index + 1, lane)} << 32;
}

void free_on_heap(Execution& x, std::uint64_t at, int lane) {
  if (at == 0) return;
  const DeviceHeap::Released released = x.memory.heap().release(at);
  if (released == DeviceHeap::Released::yes) return;
  if (released == DeviceHeap::Released::twice) {
    x.fault(FaultKind::use_after_free, lane, fmt::format("free of 0x{:x}, which has been freed before", at));
  }
  x.fault(FaultKind::out_of_bounds, lane, fmt::format("free of 0x{:x}, which malloc did not give", at));
}

std::string asserted_text(Execution& x, int index, int lane, const ByteReader& read) {
  const std::uint64_t at = lane_pair(x, index, lane);
  return at == 0 ? std::string("?") : read_text(at, read);
}

void report_assertion(Execution& x, int lane, const ByteReader& read) {
  const auto text = [&](int index) { return asserted_text(x, index, lane, read); };
  const Dim3 b = x.block_index(), t = x.thread_index(lane);
  x.launch().context.report(
      fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", text(6),
                  lane_register(x, 8, lane), text(10), b.x, b.y, b.z, t.x, t.y, t.z, text(4)));
}

void call_for_lane(Execution& x, std::uint64_t address, std::uint64_t function, int lane,
                   const ByteReader& read) {
  switch (function) {
    case vprintf_: {
      const std::uint64_t format = lane_pair(x, 4, lane);
      std::int32_t result = -1;
      if (format != 0) {
        const Formatted text = format_device_text(read_text(format, read), lane_pair(x, 6, lane), read);
        x.launch().context.print(text.text);
        result = text.arguments;
      }
      lane_register(x, 4, lane) = static_cast<std::uint32_t>(result);
      break;
    }
    case malloc_: {
      const std::uint64_t at = x.memory.heap().allocate(lane_pair(x, 4, lane));
      lane_register(x, 4, lane) = static_cast<std::uint32_t>(at);
      lane_register(x, 5, lane) = static_cast<std::uint32_t>(at >> 32);
      break;
    }
    case free_: free_on_heap(x, lane_pair(x, 4, lane), lane); break;
    case set_condition_: {
      const std::uint32_t given = lane_register(x, 6, lane);
      std::memcpy(x.memory.generic_at(lane_pair(x, 4, lane), sizeof given, lane), &given, sizeof given);
      break;
    }
    case assertfail_: report_assertion(x, lane, read); break;
    default:
      if (function < kKnown) {
        call_device_runtime(x, kDeviceFunctions[function - provided], lane);
        break;
      }
      x.fault(FaultKind::unsupported, lane,
              fmt::format("unsupported call of a driver function: {}", driver_function_name(address)));
  }
}

}  // namespace

std::uint32_t call_driver(Execution& x, std::uint64_t address, std::uint32_t lanes) {
  const std::uint64_t function = (address - kDriverCode) / 16;
  if (function >= grid_handle_ && function < provided) {
    std::uint32_t again = 0;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      if (call_grid(x, function, std::countr_zero(m))) again |= 1u << std::countr_zero(m);
    }
    return again;
  }
  x.progress.at = x.progress.issued;
  int lane = 0;
  const ByteReader read = [&](std::uint64_t at) {
    return static_cast<char>(*x.memory.generic_at(at, 1, lane));
  };
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    lane = std::countr_zero(m);
    call_for_lane(x, address, function, lane, read);
  }
  if (function == assertfail_) {
    lane = std::countr_zero(lanes);
    x.fault(FaultKind::assertion, lane,
            fmt::format("assertion `{}` failed", asserted_text(x, 4, lane, read)));
  }
  return 0;
}

}  // namespace foretrace::emulate
