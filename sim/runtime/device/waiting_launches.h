// Kernels that wait for what the program does later: a word that the host writes, a copy, a kernel of another stream.
//
// Models:  a kernel whose blocks may wait is executed by a thread of its own. When all that they do is to ask memory again and again, the
//          call that launched it returns; the kernel asks again now and then, between the program's calls.
// Order:   what its stream is given afterwards is executed when it has ended. Who waits for the stream, an event behind it or the device
//          waits for that; ten seconds of that in which it does not get on are taken for ever.
// Ignores: how long it has waited: its time is that of its work, and it comes onto the time line when it has ended.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/stream.h"

namespace foretrace::emulate {
class Outside;
}

namespace foretrace::runtime {

struct Event;
struct Executed;
struct State;

class WaitingLaunches {
 public:
  explicit WaitingLaunches(State& state) : state_(state) {}
  ~WaitingLaunches();

  bool may_wait(const KernelCall& call);
  /// Executes the kernel. False: it waits, and its call is over; else its `result`, and what it took.
  bool launch(cudaStream_t handle, const Stream& stream, const KernelCall& call, cudaError_t& result,
              Executed& executed);
  bool any() const { return !launches_.empty(); }
  /// Whether what the stream is given now has to wait for one of them.
  bool before(const Stream& stream) const { return last_before(stream) != nullptr; }
  /// `work` is done when what the stream waits for has ended.
  void put_behind(const Stream& stream, std::function<void()> work);
  /// The event is recorded behind what the stream waits for.
  void put_behind(Stream& stream, Event& event);
  void forget(const Event& event) { events_.erase(&event); }
  bool before(const Event& event) const { return events_.count(&event) != 0; }
  /// Waits until the stream waits for none of them; until nothing that was given to a stream is left; until the event is recorded.
  void finish(const Stream& stream);
  void finish();
  void finish(const Event& event);
  /// What has ended since comes onto the time line, and what is behind it is done.
  void collect();
  /// What the calling thread's launch may wait for; null: it is not one of these.
  static emulate::Outside* of_this_thread();

 private:
  class Launch;
  std::shared_ptr<Launch> last_before(const Stream& stream) const;
  void finish(const std::function<std::shared_ptr<Launch>()>& next);

  State& state_;
  std::vector<std::shared_ptr<Launch>> launches_;  // those that wait, in the order of their calls
  std::unordered_map<const Event*, std::shared_ptr<Launch>> events_;  // recorded behind one
  std::unordered_map<std::string, bool> may_wait_;                    // by code
  std::mutex mutex_;                                                  // of the launches' states
  std::condition_variable changed_;
};

}  // namespace foretrace::runtime
