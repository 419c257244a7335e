// What a run says while it goes on and at its end: a line a launch, progress of long ones, a summary by kernel, the result document.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/report/document.h"
#include "sim/report/prediction.h"
#include "sim/runtime/settings.h"

namespace foretrace::runtime {

struct LaunchLine {
  std::uint64_t index = 0;  ///< from 0, of the process
  std::string kernel;       ///< as in the source
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
};

class Journal {
 public:
  /// `chip`: its name. The settings must outlive the journal.
  Journal(const Settings& settings, std::string chip);
  /// A launch that was predicted; returns its time in seconds.
  double predicted(const LaunchLine& line, const report::Prediction& prediction);
  /// One that was only emulated.
  void emulated(const LaunchLine& line);
  void fault(const LaunchLine& line, const std::string& what, const char* code);
  /// A launch begins.
  void begin();
  /// Blocks done of the launch that runs: shown on a terminal once it has taken a second, else every 20 seconds. From the thread that
  /// launched it.
  void progress(const std::string& kernel, std::uint64_t done, std::uint64_t of);
  /// The summary and the result document; later calls do nothing.
  void finish();

 private:
  struct PerKernel {
    std::uint64_t launches = 0, predicted = 0;
    double seconds = 0, longest = 0;
    std::map<std::string, std::uint64_t> limiters;
  };
  void say(const std::string& text);
  void clear_progress();

  const Settings& settings_;
  std::string chip_;
  std::map<std::string, PerKernel> kernels_;
  std::vector<std::string> order_;  // of first launch
  report::Document document_;
  std::uint64_t launches_ = 0, predicted_ = 0, faults_ = 0;
  double seconds_ = 0;
  bool terminal_ = false, shown_ = false, finished_ = false;
  std::chrono::steady_clock::time_point begun_, last_shown_;
};

}  // namespace foretrace::runtime
