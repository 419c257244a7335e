// A program's launches as a whole: what `run` adds to the result document beside the launches that were simulated.
//
// Source: docs/json.md, keys "program" and "represented".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/units/launch_shape.h"

namespace foretrace::report {

/// A launch that another stands for: executed, not simulated.
struct RepresentedLaunch : LaunchShape {
  std::uint64_t number = 0;  ///< in the program, from 0
  std::uint64_t by = 0;      ///< number of the simulated launch that is most like it
  std::string kernel;
  double duration_ns = 0, duration_low_ns = 0, duration_high_ns = 0;  ///< interval: nine cases of ten
  std::optional<std::uint64_t> stream;
  std::optional<double> start_ns, end_ns;  ///< on the program's time line
  std::string operation, operation_note;   ///< as in LaunchPlace
};

/// Parts of a time, ns: kernels (and fills, and copies within the device), copies beside nothing, calls of the host and the way from
/// them, the host's own work, gaps on the GPU.
struct TimeParts {
  double kernels = 0, copies = 0, calls = 0, own = 0, gaps = 0;
};

/// All ranges of a name that the program's threads opened (NVTX), and what was asked for within them.
struct RangeResult {
  std::string name;  ///< DOMAIN/NAME in a domain of its own
  std::uint64_t count = 0, kernels = 0;
  double kernels_ns = 0, host_ns = 0;  ///< on the GPU; between begin and end on the host
};

/// Launches that others ran beside.
struct BesideResult {
  std::uint64_t simulated = 0, groups = 0;  ///< launches that were simulated together; groups in all
  std::uint64_t by_rates = 0;   ///< launches in them whose times come from what each asks of the chip
  std::uint64_t by_shares = 0;  ///< launches that overlap by their shares of the chip alone
  double slowed_mean = 1,
         slowed_most = 1;  ///< of those in groups: time from launch to end by time alone
};

/// Copies from one GPU's memory to another's.
struct PeerResult {
  std::string link;
  bool asked = false;  ///< the user named the link
  std::uint64_t copies = 0, bytes = 0;
  double duration_ns = 0;  ///< added up
};

/// The program's time line as a whole (docs/time_line.md).
struct TimeLineResult {
  std::string host, host_title;
  double host_time = 0;  ///< factor of the program's own work between calls
  double duration_ns = 0;
  TimeParts time, critical;
  double overlap_won_ns = 0, overlap_lost_ns = 0;
  std::optional<PeerResult> peer_copies;  ///< nothing: there were none
  std::optional<BesideResult> beside;     ///< nothing: no kernels overlapped
  std::vector<RangeResult> ranges;        ///< the most GPU time first
};

struct ProgramResult {
  std::uint64_t launches = 0, simulated = 0, faults = 0;
  /// Predicted launches whose arguments point into such memory, which their times take for the GPU's own.
  std::uint64_t pinned_memory = 0, managed_memory = 0, peer_memory = 0;
  double duration_ns = 0, duration_low_ns = 0,
         duration_high_ns = 0;  ///< sum of the predicted launches' times
  std::uint64_t budget = 0;     ///< warp instructions; 0: all are simulated
  std::uint64_t warp_instructions = 0, simulated_warp_instructions = 0;  ///< of the predicted launches
  std::vector<RepresentedLaunch> represented;
  std::optional<TimeLineResult> time_line;
};

}  // namespace foretrace::report
