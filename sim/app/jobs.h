// Predictions that do not depend on each other, run side by side; results come back in the order of the jobs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/report/prediction.h"

namespace foretrace::app {

/// Progress of all jobs on one terminal line; silent where standard error is no terminal. Safe from several threads.
class Progress {
 public:
  Progress();
  ~Progress();
  void show(const std::string& what, std::uint64_t done, std::uint64_t of);

 private:
  struct State;
  State* state_;
};

/// What a job may use.
struct JobContext {
  int threads = 1;  ///< host threads for the cycle model
  Progress* progress = nullptr;
};
using Job = std::function<std::vector<report::Prediction>(const JobContext&)>;

/// Runs the jobs on `threads` host threads (0: as many as the machine has). The first job's failure, in order of the jobs, is thrown.
std::vector<report::Prediction> run_jobs(const std::vector<Job>& jobs, int threads);

}  // namespace foretrace::app
