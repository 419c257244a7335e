// The threads of a program on the host, each in its own time: its own work, and calls that take time and may wait.
//
// Models:  a thread that is new begins at what the last call has come to, since somebody has started it. Who waits for the GPU goes on
//          `link.notice` after it.
// Units:   nanoseconds from the program's first call on.
#pragma once

#include <vector>

#include "sim/host/host_spec.h"
#include "sim/host/schedule.h"

namespace foretrace::host {

/// A call of a thread, for viewers.
struct HostCall {
  unsigned thread = 0;
  const char* name = "";
  double begin = 0, end = 0;
  WorkId work = kNoWork;  ///< what it asked for
  WorkId waited =
      kNoWork;  ///< what it waited for; it returned `link.notice` after that, where that is later than it would have
  double own = 0;  ///< the thread's own work before the call
};

class HostThreads {
 public:
  /// Both must outlive it; the schedule is settled as far as a thread waits for it.
  HostThreads(const HostSpec& spec, Schedule& schedule) : spec_(spec), schedule_(schedule) {}

  double now(unsigned thread) const;
  /// Its own work before its next call.
  void own_work(unsigned thread, double ns);
  /// It is in a call for so long; returns the call's end.
  double spend(unsigned thread, const char* name, double ns);
  /// The last call, which asked for the work. Returns the work.
  WorkId asked_for(WorkId work) { return calls_.back().work = work; }
  /// The last call is the thread's, and returns when somebody has told it that the work has ended.
  void wait_for_end(unsigned thread, WorkId work);
  /// The same, but the thread looks on: nobody has to tell it.
  void look_on(unsigned thread, WorkId work);
  /// A call that lasts until the work has begun; none where it has by now.
  void wait_for_begin(unsigned thread, const char* name, WorkId work);
  const std::vector<HostCall>& calls() const { return calls_; }

 private:
  struct Thread {
    double now = 0, own = 0;
  };
  double first_now() const;
  Thread& of(unsigned number);
  void extend_call(Thread& thread, WorkId waited, double until);

  const HostSpec& spec_;
  Schedule& schedule_;
  std::vector<Thread> threads_;
  std::vector<HostCall> calls_;
};

}  // namespace foretrace::host
