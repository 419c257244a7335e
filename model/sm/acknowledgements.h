// Acknowledgements of an SM's stores and reductions that have not come yet, in order of time.
#pragma once

#include <cstddef>
#include <vector>

#include "model/memory/memory_system.h"

namespace foretrace::sm {

class Acknowledgements {
 public:
  /// In order of time, none before one that came before.
  void add(const std::vector<memory::Reply>& replies) {
    replies_.insert(replies_.end(), replies.begin(), replies.end());
  }
  /// When the next one comes, kNever: there is none.
  Cycle next() const { return replies_.empty() ? kNever : replies_[first_].time; }
  /// Calls take(id) for those that have come by `now`.
  template <typename Take>
  void take(Cycle now, Take&& take) {
    if (replies_.empty()) return;
    while (first_ < replies_.size() && replies_[first_].time <= now) take(replies_[first_++].id);
    if (first_ == replies_.size()) {
      replies_.clear();
      first_ = 0;
    }
  }

 private:
  std::vector<memory::Reply> replies_;
  std::size_t first_ = 0;  // those before it were taken
};

}  // namespace foretrace::sm
