// Foretrace as a library: a launch in, Nsight Compute's metrics out. This header is all that a program includes.
//
// Models:  what `foretrace predict` does with one launch, and `simulate` with a trace, on one chip; `occupancy` and `arch` (docs/library.md).
// Ignores: whole programs and timelines: `foretrace run` and `timeline`.
// Errors:  foretrace::Error with one line that says what, where and what was expected; a compiler's own words follow it. Nothing is printed
//          but what the kernel prints.
// Threads: calls may overlap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define FORETRACE_PUBLIC __attribute__((visibility("default")))

namespace foretrace {

/// The caller's fault: a file, an argument, a chip; a fault of the kernel; or a feature that Foretrace does not model.
class FORETRACE_PUBLIC Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// Somebody set Options::stop while a call was under way.
class FORETRACE_PUBLIC Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

/// Memory of the caller's that a buffer of the launch stands for.
struct Array {
  std::string buffer;              ///< the "name=" of an argument "buf:..."
  const void* contents = nullptr;  ///< what the buffer holds before the launch
  void* results = nullptr;         ///< gets what it holds afterwards; null: nobody reads it
  std::size_t bytes = 0;           ///< as many as the buffer has
};

struct Launch {
  std::string name;    ///< in reports; empty: none
  std::string file;    ///< CUDA source, or a cubin for the chip
  std::string kernel;  ///< as in the source, template arguments included, or mangled; empty: the only one
  std::vector<std::string> defines;               ///< for the compiler: "NAME" or "NAME=VALUE"
  std::string compiler_options;                   ///< further ones for nvcc
  std::array<std::uint32_t, 3> grid{1, 1, 1};     ///< blocks
  std::array<std::uint32_t, 3> block{1, 1, 1};    ///< threads per block
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks per cluster
  std::uint32_t dynamic_shared = 0;               ///< bytes per block
  std::vector<std::string>
      arguments;  ///< in order, as docs/launch_files.md writes them: "buf:f32:1000:uniform", "val:i32:1000"
  std::vector<std::string>
      symbols;                ///< __constant__ and __device__ variables: "NAME=buf:...", "NAME=val:..."
  std::vector<Array> arrays;  ///< instead of what `arguments` fill these buffers with
};

struct Options {
  std::string accuracy = "auto";  ///< "exact", "sampled", or "auto": sampled for large launches only
  std::string clock = "boost";    ///< "base", "boost", "observed", or "sm=MHZ[,l2=MHZ,dram=MHZ]"
  std::vector<std::string> set;   ///< what-if: "l2.bytes=33554432" (docs/configs.md)
  int threads = 1;                ///< host threads; any number gives the same result
  bool gains = false;             ///< simulate again without each limit (docs/json.md, gains)
  std::string trace;              ///< predict(): record the launch in this file; empty: do not
  const std::atomic<bool>* stop = nullptr;  ///< set by another thread: the call ends with Interrupted
  std::string configs;  ///< directory of the chips' configurations; empty: those of the installation
};

/// A launch on a chip.
struct FORETRACE_PUBLIC Result {
  std::string arch;    ///< the chip's name
  std::string kernel;  ///< as in the source
  /// All metrics by Nsight Compute's name, in its base units (ns, byte, cycle, %); no value where it would print n/a.
  std::vector<std::pair<std::string, std::optional<double>>> metrics;
  bool sampled = false;  ///< estimated from a part of the launch
  double cycles_low = 0,
         cycles_high = 0;  ///< interval of the elapsed cycles; equal where the launch was simulated whole
  std::string limiter;     ///< one word: "dram", "issue" (docs/json.md lists them)
  std::string advice;      ///< one sentence: the number that proves it, and what to try
  std::string json;        ///< the result document, as `foretrace predict --json` writes it

  /// "gpc__cycles_elapsed.max"; throws Error for a name that is none.
  std::optional<double> metric(std::string_view name) const;
};

/// Predicts a launch on a chip: "h100-sxm", an alias ("h100"), or the path of a configuration.
FORETRACE_PUBLIC Result predict(const Launch& launch, const std::string& arch, const Options& options = {});

/// Predicts from a trace that predict() or `foretrace predict --trace` recorded, on a chip of its machine code.
FORETRACE_PUBLIC Result simulate(const std::string& trace, const std::string& arch,
                                 const Options& options = {});

/// What a block asks of an SM.
struct Block {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;  ///< per thread
  std::uint64_t shared = 0;     ///< bytes, static and dynamic
  std::uint32_t barriers = 1;   ///< named ones
};

/// How many blocks an SM holds and what limits it: the document that `foretrace occupancy --json` writes.
FORETRACE_PUBLIC std::string occupancy(const Block& block, const std::string& arch,
                                       const Options& options = {});

/// A chip's numbers with their ranges and sources: the document that `foretrace arch CHIP --json` writes.
FORETRACE_PUBLIC std::string describe(const std::string& arch, const Options& options = {});

/// Names of the chips that there are, sorted.
FORETRACE_PUBLIC std::vector<std::string> chips(const std::string& configs = {});

/// "0.2.0".
FORETRACE_PUBLIC const char* version();

}  // namespace foretrace
