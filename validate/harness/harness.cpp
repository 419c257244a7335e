// Runs the launches of a flat table on a real GPU: checks what they compute, and times them.
//
// Models:  a launch as docs/launch_files.md has it: buffers filled by the same header as the emulator's,
//          the kernel of the given cubin, the CPU reference; times by CUDA events, warm (repeated at
//          once) and cold (after 256 MB of other data went through L2).
// Ignores: hardware counters, which `measure` gets by running this program with --profile under ncu.
// Source:  the CUDA driver API. Needs the CUDA Toolkit and a C++17 compiler alone.
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "validate/harness/launch_table.h"
#include "validate/kernels/references.h"

namespace foretrace::harness {
namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(std::string(what) + ": " + (text ? text : "unknown error"));
}
#define CU(call) check((call), #call)

/// Elements [first, first + number) of a buffer, by all cores.
void fill(unsigned char* to, const Argument& a, std::uint64_t first, std::uint64_t number) {
  constexpr std::uint64_t kLeast = 1 << 16;  // elements worth a thread
  const std::uint64_t most = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t parts = std::max<std::uint64_t>(1, std::min(most, number / kLeast));
  std::vector<std::thread> threads;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t begin = number * part / parts, end = number * (part + 1) / parts;
    threads.emplace_back([=, &a] {
      frontend::fill_elements(to + begin * frontend::element_bytes(a.type), a.type, a.generator,
                              first + begin, end - begin, a.count);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// A buffer on both sides: the device's memory and the host's copy that the reference works on. Where nobody asks for the
/// host's copy, there is none, and the contents go through one chunk of memory.
struct Memory {
  frontend::ElementType type = frontend::ElementType::u8;
  std::uint64_t size = 0;  // bytes
  std::vector<unsigned char> host;
  CUdeviceptr device = 0, saved = 0;

  Memory(const Argument& a, const std::string& folder, bool keeps_host) : type(a.type), size(a.size()) {
    CU(cuMemAlloc(&device, std::max<std::size_t>(size, 1)));
    if (a.generator.kind == frontend::GeneratorKind::file) {
      host.resize(size);
      std::ifstream file(a.path.front() == '/' ? a.path : folder + a.path, std::ios::binary);
      file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(size));
      if (file.gcount() != static_cast<std::streamsize>(size)) {
        throw std::runtime_error(a.path + ": expected " + std::to_string(size) + " bytes");
      }
    } else if (keeps_host) {
      host.resize(size);
      fill(host.data(), a, 0, a.count);
    } else if (a.generator.kind == frontend::GeneratorKind::zero) {
      CU(cuMemsetD8(device, 0, size));
    } else {
      fill_device(a);
    }
    if (!host.empty()) CU(cuMemcpyHtoD(device, host.data(), size));
  }
  ~Memory() {
    cuMemFree(device);
    cuMemFree(saved);
  }
  void fill_device(const Argument& a) const {
    constexpr std::uint64_t kChunk = 1 << 24;  // elements
    const unsigned bytes = frontend::element_bytes(type);
    std::vector<unsigned char> chunk(std::min(a.count, kChunk) * bytes);
    for (std::uint64_t first = 0; first < a.count; first += kChunk) {
      const std::uint64_t number = std::min(kChunk, a.count - first);
      fill(chunk.data(), a, first, number);
      CU(cuMemcpyHtoD(device + first * bytes, chunk.data(), number * bytes));
    }
  }
  /// Keeps what the memory holds now; restore() brings it back.
  void save() {
    if (saved == 0) CU(cuMemAlloc(&saved, std::max<std::size_t>(size, 1)));
    CU(cuMemcpyDtoD(saved, device, size));
  }
  void restore() const { CU(cuMemcpyDtoDAsync(device, saved, size, nullptr)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

/// The buffers of a chain of launches by name, and those without one.
struct Chain {
  std::map<std::string, std::shared_ptr<Memory>> named;
  std::vector<std::shared_ptr<Memory>> unnamed;

  std::vector<std::shared_ptr<Memory>> all() const {
    std::vector<std::shared_ptr<Memory>> result = unnamed;
    for (const auto& [name, memory] : named) result.push_back(memory);
    return result;
  }
};

struct Options {
  std::string table, out;
  bool profile = false;  // every launch once, nothing else on the device
  int repeats = 21;
  std::uint64_t largest = UINT64_MAX;  // bytes of buffers of a launch's chain up to which it is run
  std::set<std::string> only;          // names of chain roots or launches; empty: all
};

struct Times {
  double median = 0, low = 0, high = 0;  // nanoseconds
};

Times summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.empty()) return {};
  return {values[values.size() / 2], values.front(), values.back()};
}

/// How far a checked buffer is off: the largest excess over the tolerance decides.
struct Outcome {
  bool ran = false, checked = false, correct = true;
  double worst_error = 0;
  std::string message;
  Times warm, cold;
  int registers = 0, static_shared = 0, local_bytes = 0, blocks_an_sm = 0;
};

double number_at(const unsigned char* p, frontend::ElementType type) {
  const unsigned bytes = frontend::element_bytes(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, bytes);
  if (frontend::type_info(type).is_float) return frontend::float_value(type, bits);
  bits = frontend::values::extend(type, bits);
  return frontend::type_info(type).is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                                             : static_cast<double>(bits);
}

void compare(const Memory& memory, const Check& wanted, Outcome& outcome) {
  std::vector<unsigned char> got(memory.host.size());
  CU(cuMemcpyDtoH(got.data(), memory.device, got.size()));
  outcome.checked = true;
  const unsigned bytes = frontend::element_bytes(memory.type);
  const bool exact = wanted.relative == 0 && wanted.absolute == 0;
  for (std::size_t at = 0; at < got.size(); at += bytes) {
    if (std::memcmp(&got[at], &memory.host[at], bytes) == 0) continue;
    const double a = number_at(&got[at], memory.type), b = number_at(&memory.host[at], memory.type);
    const double error = std::fabs(a - b);
    outcome.worst_error = std::max(outcome.worst_error, error);
    if (exact || !(error <= wanted.absolute + wanted.relative * std::fabs(b))) {
      if (outcome.correct) {
        outcome.message = wanted.buffer + "[" + std::to_string(at / bytes) + "] is " + std::to_string(a) +
                          ", expected " + std::to_string(b);
      }
      outcome.correct = false;
    }
  }
}

/// Writes a symbol's contents before the launch.
void set_symbol(CUmodule module, const Symbol& symbol, const Chain& chain, const std::string& folder) {
  CUdeviceptr place = 0;
  std::size_t size = 0;
  CU(cuModuleGetGlobal(&place, &size, module, symbol.name.c_str()));
  const Argument& a = symbol.contents;
  std::vector<unsigned char> bytes = a.bytes;
  if (a.kind == ArgumentKind::buffer) {
    bytes = Memory(a, folder, true).host;
  } else if (a.kind == ArgumentKind::reference) {
    const CUdeviceptr target = chain.named.at(a.name)->device + a.offset;
    bytes.resize(sizeof target);
    std::memcpy(bytes.data(), &target, sizeof target);
  } else if (a.kind == ArgumentKind::null) {
    bytes.assign(8, 0);
  }
  if (bytes.size() > size) {
    throw std::runtime_error("symbol " + symbol.name + " has " + std::to_string(size) + " bytes, given " +
                             std::to_string(bytes.size()));
  }
  CU(cuMemcpyHtoD(place, bytes.data(), bytes.size()));
}

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {
    const std::size_t slash = options.table.rfind('/');
    folder_ = slash == std::string::npos ? std::string() : options.table.substr(0, slash + 1);
    CU(cuInit(0));
    CU(cuDeviceGet(&device_, 0));
    CU(cuDevicePrimaryCtxRetain(&context_, device_));
    CU(cuCtxSetCurrent(context_));
    if (!options.profile) {
      CU(cuMemAlloc(&flush_, kFlushBytes));
      CU(cuEventCreate(&begin_, CU_EVENT_DEFAULT));
      CU(cuEventCreate(&end_, CU_EVENT_DEFAULT));
    }
  }

  Outcome run(const Launch& launch, Chain& chain) {
    Outcome outcome;
    CUmodule module = nullptr;
    CU(cuModuleLoad(&module, (launch.cubin.front() == '/' ? launch.cubin : folder_ + launch.cubin).c_str()));
    CUfunction function = nullptr;
    CU(cuModuleGetFunction(&function, module, launch.mangled.c_str()));
    attributes(function, launch, outcome);
    if (launch.shared > 48 * 1024) {
      CU(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                            static_cast<int>(launch.shared)));
    }

    std::vector<std::vector<unsigned char>> values;  // each argument's own bytes
    std::vector<references::ArgumentView> views;
    for (const Argument& a : launch.arguments) bind(a, chain, values, views);
    for (const Symbol& s : launch.symbols) set_symbol(module, s, chain, folder_);
    std::vector<void*> pointers;
    for (auto& v : values) pointers.push_back(v.data());

    if (!options_.profile) {
      for (const auto& memory : chain.all()) memory->save();
    }
    start(function, launch, pointers);
    CU(cuCtxSynchronize());
    outcome.ran = true;
    if (!options_.profile) {
      if (!launch.reference.empty()) refer(launch, chain, views, outcome);
      time(function, launch, chain, pointers, outcome);
      // Later launches of the chain find what one run left, on both sides.
      for (const auto& [name, memory] : chain.named) {
        if (!launch.reference.empty()) {
          CU(cuMemcpyHtoD(memory->device, memory->host.data(), memory->host.size()));
        }
      }
    }
    CU(cuModuleUnload(module));
    return outcome;
  }

 private:
  static constexpr std::size_t kFlushBytes = 256u << 20;

  void attributes(CUfunction function, const Launch& launch, Outcome& outcome) {
    CU(cuFuncGetAttribute(&outcome.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    CU(cuFuncGetAttribute(&outcome.static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    CU(cuFuncGetAttribute(&outcome.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &outcome.blocks_an_sm, function,
        static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]), launch.shared));
  }

  void bind(const Argument& a, Chain& chain, std::vector<std::vector<unsigned char>>& values,
            std::vector<references::ArgumentView>& views) {
    CUdeviceptr pointer = 0;
    references::ArgumentView view;
    if (a.kind == ArgumentKind::buffer) {
      auto memory = std::make_shared<Memory>(a, folder_, !options_.profile);
      (a.name.empty() ? (void)chain.unnamed.push_back(memory) : (void)(chain.named[a.name] = memory));
      pointer = memory->device;
      view = {memory->host.data(), memory->host.size()};
    } else if (a.kind == ArgumentKind::reference) {
      const auto found = chain.named.find(a.name);
      if (found == chain.named.end() || a.offset > found->second->size) {
        throw std::runtime_error("ref:" + a.name + ": no such buffer, or too short");
      }
      pointer = found->second->device + a.offset;
      if (!options_.profile)
        view = {found->second->host.data() + a.offset, found->second->host.size() - a.offset};
    }
    if (a.kind == ArgumentKind::value) {
      values.push_back(a.bytes);
    } else {
      values.emplace_back(sizeof pointer);
      std::memcpy(values.back().data(), &pointer, sizeof pointer);
    }
    views.push_back(view);
    if (a.kind == ArgumentKind::value) {  // the outer vector may grow; its elements' storage stays
      views.back() = {values.back().data(), values.back().size()};
    }
  }

  void start(CUfunction function, const Launch& launch, std::vector<void*>& pointers) {
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0], config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0], config.blockDimY = launch.block[1];
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.shared;
    CUlaunchAttribute cluster{};
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim.x = launch.cluster[0];
      cluster.value.clusterDim.y = launch.cluster[1];
      cluster.value.clusterDim.z = launch.cluster[2];
      config.attrs = &cluster;
      config.numAttrs = 1;
    }
    CU(cuLaunchKernelEx(&config, function, pointers.data(), nullptr));
  }

  void refer(const Launch& launch, Chain& chain, const std::vector<references::ArgumentView>& views,
             Outcome& outcome) {
    const references::Reference reference = references::find_reference(launch.reference);
    if (reference == nullptr) { throw std::runtime_error("no reference called " + launch.reference); }
    reference(views, {launch.grid[0], launch.grid[1], launch.grid[2]},
              {launch.block[0], launch.block[1], launch.block[2]});
    for (const Check& c : launch.checks) {
      const auto found = chain.named.find(c.buffer);
      if (found == chain.named.end()) throw std::runtime_error("check: no buffer " + c.buffer);
      compare(*found->second, c, outcome);
    }
  }

  /// Each repeat starts from what the first run found: a kernel that fills a table, or sorts in place, would have
  /// something else to do the second time.
  void time(CUfunction function, const Launch& launch, const Chain& chain, std::vector<void*>& pointers,
            Outcome& outcome) {
    const std::vector<std::shared_ptr<Memory>> memories = chain.all();
    for (bool cold : {false, true}) {
      std::vector<double> values;
      for (int r = -3; r < options_.repeats; ++r) {
        for (const auto& memory : memories) memory->restore();
        if (cold) CU(cuMemsetD8Async(flush_, static_cast<unsigned char>(r), kFlushBytes, nullptr));
        CU(cuEventRecord(begin_, nullptr));
        start(function, launch, pointers);
        CU(cuEventRecord(end_, nullptr));
        CU(cuEventSynchronize(end_));
        float milliseconds = 0;
        CU(cuEventElapsedTime(&milliseconds, begin_, end_));
        if (r >= 0) values.push_back(static_cast<double>(milliseconds) * 1e6);
      }
      (cold ? outcome.cold : outcome.warm) = summarize(values);
    }
  }

  Options options_;
  std::string folder_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUdeviceptr flush_ = 0;
  CUevent begin_ = nullptr, end_ = nullptr;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void print_times(std::FILE* file, const char* key, const Times& t) {
  std::fprintf(file, ", \"%s\": {\"median\": %.1f, \"low\": %.1f, \"high\": %.1f}", key, t.median, t.low,
               t.high);
}

void print_outcome(std::FILE* file, const Launch& launch, const Outcome& o, bool profile) {
  std::fprintf(file, "{\"name\": %s, \"ran\": %s", quoted(launch.name).c_str(), o.ran ? "true" : "false");
  if (!o.message.empty()) std::fprintf(file, ", \"message\": %s", quoted(o.message).c_str());
  if (o.ran && !profile) {
    std::fprintf(file, ", \"checked\": %s, \"correct\": %s, \"worst_error\": %.9g",
                 o.checked ? "true" : "false", o.correct ? "true" : "false", o.worst_error);
    std::fprintf(file,
                 ", \"registers\": %d, \"static_shared\": %d, \"local_bytes\": %d, "
                 "\"blocks_an_sm\": %d",
                 o.registers, o.static_shared, o.local_bytes, o.blocks_an_sm);
    print_times(file, "warm_ns", o.warm);
    print_times(file, "cold_ns", o.cold);
  }
  std::fprintf(file, "}\n");
  std::fflush(file);
}

Options read_options(int count, char** words) {
  Options o;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    auto next = [&]() -> std::string {
      if (i + 1 >= count) throw std::runtime_error(word + ": expected a value");
      return words[++i];
    };
    if (word == "--profile") {
      o.profile = true;
    } else if (word == "--repeats") {
      o.repeats = std::stoi(next());
    } else if (word == "--largest") {
      o.largest = std::stoull(next());
    } else if (word == "--out") {
      o.out = next();
    } else if (word == "--only") {
      o.only.insert(next());
    } else if (o.table.empty() && word[0] != '-') {
      o.table = word;
    } else {
      throw std::runtime_error(word +
                               ": expected TABLE [--only NAME]... [--repeats N] [--profile] "
                               "[--out FILE]");
    }
  }
  if (o.table.empty()) throw std::runtime_error("expected a launch table");
  return o;
}

int run_all(const Options& options) {
  const std::vector<Launch> launches = read_launch_table(options.table);
  std::FILE* file = options.out.empty() ? stdout : std::fopen(options.out.c_str(), "w");
  if (file == nullptr) throw std::runtime_error(options.out + ": cannot be written");
  Runner runner(options);
  std::map<std::string, std::string> root_of;     // launch name -> first launch of its chain
  std::map<std::string, std::size_t> last_of;     // chain -> its last launch
  std::map<std::string, std::uint64_t> bytes_of;  // chain -> bytes of all its buffers
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& l = launches[i];
    root_of[l.name] = l.after.empty() ? l.name : root_of.at(l.after);
    last_of[root_of[l.name]] = i;
    for (const Argument& a : l.arguments) {
      if (a.kind == ArgumentKind::buffer) bytes_of[root_of[l.name]] += a.size();
    }
  }
  std::map<std::string, Chain> chains;
  int wrong = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[i];
    const std::string& root = root_of[launch.name];
    if (!launch.fault.empty()) continue;  // not run on a real GPU
    if (bytes_of[root] > options.largest) continue;
    if (!options.only.empty() && !options.only.count(launch.name) && !options.only.count(root)) { continue; }
    Outcome outcome;
    try {
      outcome = runner.run(launch, chains[root]);
    } catch (const std::exception& e) { throw std::runtime_error("launch " + launch.name + ": " + e.what()); }
    wrong += outcome.correct ? 0 : 1;
    print_outcome(file, launch, outcome, options.profile);
    if (last_of[root] == i) chains.erase(root);
  }
  if (file != stdout) std::fclose(file);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace foretrace::harness

int main(int count, char** words) {
  try {
    return foretrace::harness::run_all(foretrace::harness::read_options(count, words));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "harness: %s\n", e.what());
    return 2;
  }
}
