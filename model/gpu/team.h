// Host threads that work on the SMs of a window together.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace foretrace::gpu {

/// run(n, work) calls work(i) for every i < n, each once, on any of the threads, and returns when all are done.
class Team {
 public:
  explicit Team(int threads) : start_(threads), done_(threads) {
    for (int i = 1; i < threads; ++i) {
      helpers_.emplace_back([this] {
        for (;;) {
          start_.arrive_and_wait();
          if (stop_) return;
          take();
          done_.arrive_and_wait();
        }
      });
    }
  }
  ~Team() {
    stop_ = true;
    if (!helpers_.empty()) start_.arrive_and_wait();
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
      return;
    }
    start_.arrive_and_wait();
    take();
    done_.arrive_and_wait();
  }

 private:
  void take() {
    for (std::size_t i = next_++; i < count_; i = next_++) (*work_)(i);
  }
  std::barrier<> start_, done_;
  std::atomic<std::size_t> next_{0};
  std::size_t count_ = 0;
  const std::function<void(std::size_t)>* work_ = nullptr;
  bool stop_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace foretrace::gpu
