// What the program's calls mean to its time line (sim/host).
//
// Models:  each thread of the program is one of the host's; what a stream is given becomes work, and what a call waits for is waited for.
//          The thread's own work between calls is its CPU time here, times what --host-time says. A copy from one device's memory to
//          another's takes what the link's numbers say (sim/collective); managed memory is nobody's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>

#include "sim/collective/link_spec.h"
#include "sim/host/ranges.h"
#include "sim/host/time_line.h"
#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/stream.h"

namespace foretrace::runtime {

struct State;
struct Event;

/// What executing an operation has shown.
struct Executed {
  double seconds = 0;                        ///< of a kernel, predicted
  std::uint64_t launch = ~std::uint64_t{0};  ///< its number; none: it was refused
  double share = 1;                          ///< of the chip's room for blocks
  host::Dependence dependence;               ///< of a kernel
};

class Clock {
 public:
  /// `own`: factor of the program's own work; 0: it takes no time. `sharing`: as of the time line.
  /// `link`: what joins the devices; none: there is one, or no time passes.
  Clock(host::HostSpec host, double own, host::Sharing* sharing, std::optional<collective::LinkSpec> link);

  /// A call begins, and ends: from the outermost call of a thread.
  void enter();
  void leave();

  void give(State& state, const Stream& stream, const Operation& operation, const Executed& executed);
  host::WorkId record(const Stream& stream, const Event& event);
  void wait(const Stream& stream, const Event& event);
  void synchronize(const Stream& stream);
  void synchronize(const Event& event);
  void synchronize();
  /// The thread's last copy has to be done: its call is not asynchronous.
  void finish_copy();
  void allocate(std::uint64_t bytes);
  void allocate_in_stream();
  void release(std::uint64_t bytes);

  /// Ranges that the thread names: NVTX's push and pop by domain, and those of the process.
  int push_range(const void* domain, std::string name);
  int pop_range(const void* domain);
  std::uint64_t start_range(std::string name);
  void end_range(std::uint64_t range);

  host::Place place(const Stream& stream);
  host::CopyWork copy_of(State& state, const CopyCall& copy) const;
  host::TimeLine& line() { return line_; }
  host::Ranges& ranges() { return ranges_; }
  const std::optional<collective::LinkSpec>& link() const { return link_; }

 private:
  host::TimeLine line_;
  host::Ranges ranges_{line_};
  double own_;
  std::optional<collective::LinkSpec> link_;
};

std::uint64_t bytes_of(const FillCall& fill);

/// `result` of a copy whose call waits until it is done.
cudaError_t waited(cudaError_t result);

}  // namespace foretrace::runtime
