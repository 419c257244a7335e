// What a run says while it goes on and at its end: a line per launch, progress of long ones, a summary by kernel, the result document.
//
// The document's file is replaced once per second while there is something new (DocumentFile), so that a process that is killed loses the
// last second at most: launches whose place on the time line is not known yet stand in it without one. In its name each %p stands for
// the process; without it, processes other than the first write NAME.PROCESS. A process that was forked begins with a document of its
// own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sim/host/ranges.h"
#include "sim/host/time_line.h"
#include "sim/report/document_file.h"
#include "sim/report/document_text.h"
#include "sim/report/prediction.h"
#include "sim/report/program_result.h"
#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/perfetto.h"
#include "sim/runtime/settings.h"
#include "sim/runtime/trace_settings.h"
#include "sim/sampling/representatives.h"

namespace foretrace::runtime {

struct LaunchLine : LaunchShape {
  std::uint64_t index = 0;                                ///< from 0, of the process
  std::string kernel;                                     ///< as in the source
  std::shared_ptr<const NamedOperator> within = nullptr;  ///< null: none
  std::uint64_t stream = 0;                               ///< its number, 0: the default stream
  bool pinned = false, managed = false, peer = false;     ///< its arguments point into such memory
  std::uint32_t sms = 0;                                  ///< that it may use; 0: all of the device's
  bool repeated = false;  ///< nothing was different since it ran before: not executed (Repeats)
};

class Journal {
 public:
  /// `chip`: its name. Settings, time line and ranges must outlive the journal; finish() settles the line.
  Journal(const Settings& settings, TraceSettings trace, std::string chip, host::TimeLine& line,
          host::Ranges& ranges);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  /// A launch that was predicted; returns its time in seconds.
  double predicted(const LaunchLine& line, const report::Prediction& prediction);
  /// Puts the launches into the document whose place on the time line is known by now.
  void place_launches();
  /// One that another stands for: its time as far as is known by now.
  void represented(const LaunchLine& line, const sampling::LaunchWork& work,
                   const sampling::TimeEstimate& time);
  /// From where the times of represented launches come at the end; null: none are. Must outlive the journal's finish().
  void stand_for(const sampling::Representatives* representatives) { representatives_ = representatives; }
  /// One that was only emulated.
  void emulated(const LaunchLine& line);
  void fault(const LaunchLine& line, const std::string& what, const char* code);
  /// A launch begins. True: it is the first of a process that was forked.
  bool begin();
  /// Blocks done of the launch that runs: shown on a terminal once it has taken a second, else every 20 seconds. From the thread that
  /// launched it.
  void progress(const std::string& kernel, std::uint64_t done, std::uint64_t of);
  /// The summary and the result document; later calls, and those of a forked process without launches, do nothing.
  void finish();

 private:
  struct PerKernel {
    std::string shown;        // its title as lines have it
    std::uint64_t first = 0;  // launch of it
    std::uint64_t launches = 0, predicted = 0, simulated = 0;
    double seconds = 0, longest = 0;
    std::map<std::string, double> limiters;  // seconds of simulated launches by what limits them
  };
  void say(const std::string& text);
  void count(const LaunchLine& line, bool predicted);
  void to_save();
  void place_held(bool all);
  void place_represented();
  bool own_process();
  std::string named(std::string name) const;
  void trace(const LaunchLine& line, std::string how);
  void settle();
  std::string summary();
  std::string table();
  void begin_document();
  void save_now_and_then();
  void clear_progress();
  void end_saving();

  const Settings& settings_;
  const TraceSettings trace_;
  std::string chip_;
  host::TimeLine& line_;
  host::Ranges& ranges_;
  std::map<std::string, PerKernel> kernels_;            // by title
  std::vector<std::string> order_;                      // of first launch
  std::map<std::string, std::set<std::string>> notes_;  // operators by what is to be known about them
  std::unique_ptr<report::DocumentText> document_;      // with saving_ held
  std::unique_ptr<report::DocumentFile> file_;          // the saving thread's while there is one
  std::vector<Span> spans_;                             // while there is a --perfetto file to write
  std::uint64_t repeated_ = 0;                          // launches that were not executed again
  report::ProgramResult program_;                       // times in ns; "represented" with saving_ held
  const sampling::Representatives* representatives_ = nullptr;
  bool terminal_ = false, shown_ = false, finished_ = false;
  std::chrono::steady_clock::time_point begun_, last_shown_;
  int process_ = 0;
  // The document is shared with the thread that saves it.
  struct Saving {
    std::mutex mutex;
    std::condition_variable wake;
    std::unique_ptr<std::thread> thread;
    bool unsaved = false, ending = false;
  };
  std::unique_ptr<Saving> saving_ = std::make_unique<Saving>();
};

}  // namespace foretrace::runtime
