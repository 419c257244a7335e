// A program's time line: the host's threads, whose calls take time, and the GPU, which gets its work from them.
//
// Models:  a call keeps its thread; the GPU has the work `link.arrival` after the call has returned. Streams are in order; the legacy
//          default stream waits for, and holds up, those that are not created non-blocking. Calls that wait return `link.notice` after
//          what they wait for. A copy from or to pageable memory is the calling thread's own work, small ones to the device apart. A
//          launch waits while `link.queue` launches of its stream have not begun.
// Ignores: threads of the host that wait for each other without the GPU; launches that need memory or a module loaded first.
// Units:   nanoseconds from the program's first call on, bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/host/host_spec.h"
#include "sim/host/schedule.h"

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
};

enum class CopyWay { to_device, to_host, on_device };
struct CopyWork {
  CopyWay way = CopyWay::to_device;
  std::uint64_t bytes = 0;
  bool pageable = false;
};

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

class TimeLine {
 public:
  explicit TimeLine(HostSpec spec);
  TimeLine(const TimeLine&) = delete;
  TimeLine& operator=(const TimeLine&) = delete;

  /// A stream must be known before work is given to it; `legacy`: its device's legacy default stream. Number 0 is that of device 0, and
  /// known.
  void add_stream(std::uint64_t stream, bool non_blocking, unsigned device = 0, std::uint64_t legacy = 0);

  /// The thread's own work before its next call.
  void own_work(unsigned thread, double ns);
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

  /// One launch of a graph: begin, a node after another in an order that the edges allow, end. `paths`: nodes that do not continue
  /// exactly one other; `first_of_path` says it of each.
  void graph_begin(const Place& place, std::size_t nodes, std::size_t paths);
  WorkId graph_kernel(const std::vector<WorkId>& after, bool first_of_path, const KernelWork& kernel);
  WorkId graph_copy(const std::vector<WorkId>& after, bool first_of_path, const CopyWork& copy);
  WorkId graph_fill(const std::vector<WorkId>& after, bool first_of_path, std::uint64_t bytes);
  WorkId graph_marker(const std::vector<WorkId>& after, bool first_of_path);
  void graph_end(const std::vector<WorkId>& last);

  /// When the work begins: settles as much as that needs.
  double begin_of(WorkId work) { return schedule_.settle_begin(work).begin; }
  double now(unsigned thread) const;
  void settle() { schedule_.settle_all(); }
  const Schedule& schedule() const { return schedule_; }
  const std::vector<HostCall>& calls() const { return calls_; }
  const HostSpec& spec() const { return spec_; }
  /// The work of the program's launch; kNoWork: it had none.
  WorkId work_of_launch(std::uint64_t launch) const;
  /// When the last work and the last call are over; all must be settled.
  double end() const;

 private:
  struct StreamState {
    bool non_blocking = false;
    unsigned device = 0;
    std::uint64_t legacy = 0;
    WorkId last = kNoWork;
    std::vector<WorkId> waits;    // for the next work
    std::deque<WorkId> launches;  // the last link.queue
  };
  struct Thread {
    double now = 0, own = 0;
  };
  Thread& thread(unsigned number);
  std::vector<WorkId> after_of(std::uint64_t stream);
  /// The thread is in the call that long; returns its end.
  double spend(unsigned thread, const char* name, double ns);
  void wait_until_end(unsigned thread, WorkId work);
  void wait_for_queue(const Place& place);
  WorkId give(const Place& place, Work work, bool after_stream = true);
  Work work_of(const CopyWork& copy) const;
  WorkId give_node(const std::vector<WorkId>& after, bool first_of_path, Work work);
  WorkId pageable(const Place& place, const CopyWork& copy);

  const HostSpec spec_;
  Schedule schedule_;
  std::map<std::uint64_t, StreamState> streams_;
  std::vector<Thread> threads_;
  std::vector<HostCall> calls_;
  std::vector<WorkId> launches_;
  std::uint64_t graphs_ = 0;
  struct {
    Place place;
    double arrival = 0;
    double path = 0;
    WorkId root = kNoWork;
  } graph_;
};

}  // namespace foretrace::host
