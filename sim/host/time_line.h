// A program's time line: the host's threads, whose calls take time, and the GPU, which gets its work from them.
//
// Models:  a call keeps its thread; the GPU has the work `link.arrival` after the call has returned. Streams are in order; the legacy
//          default stream waits for, and holds up, those that are not created non-blocking. Calls that wait return `link.notice` after
//          what they wait for. A copy from or to pageable memory is the calling thread's own work, small ones to the device apart. A
//          launch waits while `link.queue` launches of its stream have not begun. A copy between devices takes the time that it comes with.
// Ignores: threads of the host that wait for each other without the GPU; launches that need memory or a module loaded first.
// Units:   nanoseconds from the program's first call on, bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/host/host_spec.h"
#include "sim/host/host_threads.h"
#include "sim/host/schedule.h"
#include "sim/host/streams.h"

namespace foretrace::host {

/// Where work is given to the GPU.
struct Place {
  unsigned thread = 0;
  std::uint64_t stream = 0;
  int priority = 0;
};

struct KernelWork {
  std::uint64_t launch = 0;  ///< its number in the program
  double ns = 0;
  double share = 1;  ///< as Work::share
  bool dependent = false;
  Dependence dependence = {};
};

enum class CopyWay { to_device, to_host, on_device, to_peer };
struct CopyWork {
  CopyWay way = CopyWay::to_device;
  std::uint64_t bytes = 0;
  bool pageable = false;
  // Of a copy to a peer: the devices, and what their link takes.
  unsigned sender = 0, receiver = 0;
  double link_ns = 0;
};

/// What a copy is to the GPU, its arrival apart.
Work work_of(const HostSpec& spec, const CopyWork& copy);
/// The same of a memory that is filled.
Work work_of_fill(const HostSpec& spec, std::uint64_t bytes);

class TimeLine {
 public:
  /// `sharing`: as of the schedule.
  explicit TimeLine(HostSpec spec, Sharing* sharing = nullptr);
  TimeLine(const TimeLine&) = delete;
  TimeLine& operator=(const TimeLine&) = delete;

  /// A stream must be known before work is given to it; `legacy`: its device's legacy default stream. Number 0 is that of device 0, and
  /// known.
  void add_stream(std::uint64_t stream, bool non_blocking, unsigned device = 0, std::uint64_t legacy = 0) {
    streams_.add(stream, non_blocking, device, legacy);
  }

  /// The thread's own work before its next call.
  void own_work(unsigned thread, double ns) { threads_.own_work(thread, ns); }
  WorkId kernel(const Place& place, const KernelWork& kernel);
  WorkId copy(const Place& place, const CopyWork& copy);
  /// The call that asked for it returns when it is done.
  void finish_copy(unsigned thread, WorkId copy);
  WorkId fill(const Place& place, std::uint64_t bytes);
  /// A function of the host in the stream.
  WorkId function(const Place& place);
  /// The event's time is that of the work's begin.
  WorkId record(const Place& place, bool timed);
  /// The stream's next work comes after that.
  void wait(const Place& place, WorkId event);
  void synchronize_stream(const Place& place);
  void synchronize_event(unsigned thread, WorkId event);
  void synchronize(unsigned thread, unsigned device = 0);
  void allocate(unsigned thread, std::uint64_t bytes);
  void allocate_in_stream(unsigned thread);
  void release(unsigned thread, std::uint64_t bytes, unsigned device = 0);

  /// When the work begins: settles as much as that needs.
  double begin_of(WorkId work) { return schedule_.settle_begin(work).begin; }
  double now(unsigned thread) const { return threads_.now(thread); }
  void settle() { schedule_.settle_all(); }
  const Schedule& schedule() const { return schedule_; }
  const std::vector<HostCall>& calls() const { return threads_.calls(); }
  const HostSpec& spec() const { return spec_; }
  /// The work of the program's launch; kNoWork: it had none.
  WorkId work_of_launch(std::uint64_t launch) const;

 private:
  friend class GraphLaunch;
  /// A launch of the stream waits while `link.queue` others have not begun.
  void wait_for_queue(const Place& place);
  WorkId give(const Place& place, Work work, bool after_stream = true);
  WorkId pageable(const Place& place, const CopyWork& copy);

  const HostSpec spec_;
  Schedule schedule_;
  HostThreads threads_;
  Streams streams_;
  std::vector<WorkId> launches_;
  std::uint64_t graphs_ = 0;
};

/// When the last work and the last call are over; all must be settled.
double end_of(const TimeLine& line);

}  // namespace foretrace::host
