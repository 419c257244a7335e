// What a run says while it goes on and at its end: a line a launch, progress of long ones, a summary by kernel, the result document.
//
// The document's file is replaced, by renaming, once a second while there is something new, so that a process that is killed loses the
// last second at most. In its name %p stands for the process; without it, processes other than the first write NAME.PROCESS. A process
// that was forked begins with a document of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/report/document.h"
#include "sim/report/json.h"
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
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
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
  /// The summary and the result document; later calls, and those of a forked process without launches, do nothing.
  void finish();

 private:
  struct PerKernel {
    std::uint64_t launches = 0, predicted = 0;
    double seconds = 0, longest = 0;
    std::map<std::string, std::uint64_t> limiters;
  };
  void say(const std::string& text);
  void count(const LaunchLine& line);
  void keep(report::LaunchResult result);
  void own_process();
  void begin_document();
  std::string file() const;
  void save();
  void save_now_and_then();
  void clear_progress();

  const Settings& settings_;
  std::string chip_;
  std::map<std::string, PerKernel> kernels_;
  std::vector<std::string> order_;                  // of first launch
  std::unique_ptr<report::DocumentText> document_;  // while there is a file to write
  std::uint64_t launches_ = 0, predicted_ = 0, faults_ = 0;
  double seconds_ = 0;
  bool terminal_ = false, shown_ = false, finished_ = false;
  std::chrono::steady_clock::time_point begun_, last_shown_;
  int process_ = 0;
  // The document is shared with the thread that saves it.
  std::mutex saving_;
  std::condition_variable wake_;
  std::unique_ptr<std::thread> saver_;
  bool unsaved_ = false, ending_ = false;
};

}  // namespace foretrace::runtime
