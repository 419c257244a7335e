#include "sim/runtime/device/library_lock.h"

#include <utility>

namespace foretrace::runtime {

void LibraryLock::take(Owner owner, int depth) {
  std::unique_lock lock(mutex_);
  if (owner_ == owner) {
    depth_ += depth;
    return;
  }
  const std::uint64_t ticket = next_++;
  changed_.wait(lock, [&] { return served_ == ticket && depth_ == 0; });
  owner_ = owner;
  depth_ = depth;
}

void LibraryLock::unlock() {
  const std::lock_guard lock(mutex_);
  if (--depth_ > 0) return;
  owner_ = {};
  ++served_;
  changed_.notify_all();
}

int LibraryLock::give_up() {
  const std::lock_guard lock(mutex_);
  owner_ = {};
  ++served_;
  changed_.notify_all();
  return std::exchange(depth_, 0);
}

int LibraryLock::hand_over(Owner owner) {
  const std::lock_guard lock(mutex_);
  owner_ = owner;
  return std::exchange(depth_, 1);
}

void LibraryLock::release() { (void)give_up(); }

}  // namespace foretrace::runtime
