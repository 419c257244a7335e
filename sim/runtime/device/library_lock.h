// Who has the library to itself: a thread of the program, within a call, or a launch that runs beside the program.
//
// Order:   whoever asks first has it first, so that one who asks again and again keeps nobody out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace foretrace::runtime {

class LibraryLock {
 public:
  /// A thread, and a launch by its thread's id, which others may act for.
  using Owner = std::thread::id;

  /// For the calling thread, as often as it likes.
  void lock() { take(std::this_thread::get_id(), 1); }
  void unlock();
  /// `owner` has it `depth` times.
  void take(Owner owner, int depth);
  /// The calling thread gives it up, however often it has it: how often that was.
  int give_up();
  /// What the calling thread has is `owner`'s, once: how often it had it.
  int hand_over(Owner owner);
  /// Gives it up in the owner's name.
  void release();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, served_ = 0;  // tickets
  Owner owner_;                          // none: nobody
  int depth_ = 0;
};

}  // namespace foretrace::runtime
