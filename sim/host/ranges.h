// Ranges that a program names (NVTX) on its time line, and what was asked for within them.
//
// Models:  a thread's ranges nest, per domain; a process range lasts from any thread's start to any thread's end of it. A piece of work is
//          within the ranges that its call was made in, wherever it runs.
// Units:   nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/host/time_line.h"

namespace foretrace::host {

struct Range {
  std::string name;
  unsigned thread = 0;   ///< that began it
  bool process = false;  ///< of all threads' calls
  bool open = true;
  double begin = 0, end = 0;
  std::size_t first_call = 0, last_call = 0;  ///< calls of the line from the first to before the last
};

class Ranges {
 public:
  explicit Ranges(const TimeLine& line) : line_(line) {}
  /// Returns how many the thread has open in the domain before, as NVTX counts levels.
  int push(unsigned thread, const void* domain, std::string name);
  /// Returns the level of the range that ends; -1: none is open.
  int pop(unsigned thread, const void* domain);
  /// Of the process; returns its number, from 1.
  std::uint64_t start(unsigned thread, std::string name);
  /// A number that is not open: nothing.
  void end(std::uint64_t range, unsigned thread);
  /// Ends what is open at the line's end.
  void close();
  const std::vector<Range>& all() const { return ranges_; }

 private:
  std::size_t begin(unsigned thread, std::string name, bool process);
  void finish(Range& range, double now);

  const TimeLine& line_;
  std::vector<Range> ranges_;
  std::map<std::pair<unsigned, const void*>, std::vector<std::size_t>> open_;
};

/// All ranges of a name. Work in ranges of one name within each other counts once.
struct RangeSum {
  std::string name;
  std::uint64_t count = 0, kernels = 0;
  double host_ns = 0;     ///< between their begins and ends on the host
  double kernels_ns = 0;  ///< of the kernels, fills and copies within the device that were asked for in them
};
/// The longest kernels_ns first. The line must be settled.
std::vector<RangeSum> sum_ranges(const std::vector<Range>& ranges, const TimeLine& line);

}  // namespace foretrace::host
