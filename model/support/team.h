// Host threads that work on the SMs of a window together.
//
// Choice:  a window is some microseconds of work, thousands of times per second. Nobody waits for a helper to wake up: the caller begins at
//          once, who comes while there is work takes part, and the end waits for those alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace foretrace::support {

/// run(n, work) calls work(i) for every i < n, each once, on any of the threads, and returns when all are done.
/// What work throws does not stop the others; of all that was thrown, run throws that of the lowest i, whatever the number of threads.
class Team {
 public:
  /// With fewer threads where the host gives no more.
  explicit Team(int threads) {
    if (threads > 1) helpers_.reserve(static_cast<std::size_t>(threads - 1));
    try {
      for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {}
  }
  ~Team() {
    stop_ = true;
    wake();
    for (std::thread& helper : helpers_) helper.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(std::size_t count, const std::function<void(std::size_t)>& work) {
    count_ = count;
    work_ = &work;
    next_ = 0;
    if (helpers_.empty()) {
      take();
    } else {
      inside_ = kOpen;
      wake();
      take();
      std::uint32_t inside = inside_ &= ~kOpen;
      for (; inside != 0; inside = inside_) inside_.wait(inside);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;

  void wake() {
    ++round_;
    round_.notify_all();
  }
  void help() {
    for (std::uint32_t seen = 0;;) {
      round_.wait(seen);
      seen = round_;
      if (stop_) return;
      std::uint32_t inside = inside_;
      while ((inside & kOpen) != 0 && !inside_.compare_exchange_weak(inside, inside + 1)) {}
      if ((inside & kOpen) == 0) continue;
      take();
      if (--inside_ == 0) inside_.notify_one();
    }
  }
  void take() {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        (*work_)(i);
      } catch (...) {
        const std::lock_guard lock(failing_);
        if (failure_ == nullptr || i < failed_) {
          failed_ = i;
          failure_ = std::current_exception();
        }
      }
    }
  }

  std::atomic<std::size_t> next_{0};
  std::size_t count_ = 0;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::atomic<std::uint32_t> round_{0};   // goes up when there is something new
  std::atomic<std::uint32_t> inside_{0};  // helpers at work, and whether more may come
  std::atomic<bool> stop_{false};
  std::mutex failing_;
  std::size_t failed_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace foretrace::support
