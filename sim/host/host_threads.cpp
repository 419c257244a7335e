#include "sim/host/host_threads.h"

namespace foretrace::host {

/// When a thread of which nothing is known yet would make its first call: behind the last one of any.
double HostThreads::first_now() const { return calls_.empty() ? 0 : calls_.back().end; }

HostThreads::Thread& HostThreads::of(unsigned number) {
  while (threads_.size() <= number) {
    Thread fresh;
    fresh.now = first_now();
    threads_.push_back(fresh);
  }
  return threads_[number];
}

double HostThreads::now(unsigned thread) const {
  return thread < threads_.size() ? threads_[thread].now : first_now();
}

void HostThreads::own_work(unsigned thread, double ns) {
  Thread& t = of(thread);
  t.now += ns;
  t.own += ns;
}

double HostThreads::spend(unsigned thread, const char* name, double ns) {
  Thread& t = of(thread);
  calls_.push_back({thread, name, t.now, t.now + ns, kNoWork, kNoWork, t.own});
  t.own = 0;
  t.now += ns;
  return t.now;
}

void HostThreads::extend_call(Thread& thread, WorkId waited, double until) {
  if (until <= thread.now) return;
  calls_.back().waited = waited;
  calls_.back().end = thread.now = until;
}

void HostThreads::wait_for_end(unsigned thread, WorkId work) {
  Thread& t = of(thread);
  extend_call(t, work, schedule_.settle_end(work).end + spec_.link.notice);
}

void HostThreads::look_on(unsigned thread, WorkId work) {
  Thread& t = of(thread);
  extend_call(t, work, schedule_.settle_end(work).end);
}

void HostThreads::wait_for_begin(unsigned thread, const char* name, WorkId work) {
  const double begun = schedule_.settle_begin(work).begin;
  Thread& t = of(thread);
  if (begun <= t.now) return;
  calls_.push_back({thread, name, t.now, begun, kNoWork, work, t.own});
  t.own = 0;
  t.now = begun;
}

}  // namespace foretrace::host
