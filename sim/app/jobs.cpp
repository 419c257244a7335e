#include "sim/app/jobs.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "sim/report/kernel_name.h"

namespace foretrace::app {

struct Progress::State {
  std::mutex mutex;
  bool terminal = false;
  bool shown = false;
};

Progress::Progress() : state_(new State) { state_->terminal = isatty(STDERR_FILENO) != 0; }

Progress::~Progress() {
  if (state_->shown) std::fputs("\r\033[K", stderr);
  delete state_;
}

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t of) {
  if (!state_->terminal) return;
  const std::lock_guard lock(state_->mutex);
  const std::string line = report::progress_line("", what, done, of, report::terminal_columns(STDERR_FILENO));
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
  state_->shown = true;
}

std::vector<report::Prediction> run_jobs(const std::vector<Job>& jobs, int threads) {
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int side_by_side = std::min<int>(threads, static_cast<int>(jobs.size()));
  Progress progress;
  // One job alone gives its threads to the SMs; with several, each job has one, and the emulator's beside it.
  const JobContext context{std::max(1, side_by_side ? threads / side_by_side : 1), &progress};
  std::vector<std::vector<report::Prediction>> results(jobs.size());
  std::vector<std::exception_ptr> failures(jobs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      try {
        results[i] = jobs[i](context);
      } catch (...) { failures[i] = std::current_exception(); }
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < side_by_side; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  std::vector<report::Prediction> all;
  for (auto& some : results)
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  return all;
}

}  // namespace foretrace::app
