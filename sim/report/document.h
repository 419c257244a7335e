// The result document: what JSON holds, what text is rendered from, and what compare reads.
//
// Models:  one run of foretrace: who made it, and each launch's result on each chip. Field names are the
//          JSON's keys.
// Ignores: formatting: json.h writes and reads it, text.h renders it.
// Source:  docs/json.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/units/units.h"
#include "sim/report/launch_identity.h"
#include "sim/report/metrics.h"
#include "sim/report/prediction.h"
#include "sim/report/series.h"

namespace foretrace::report {

inline constexpr int kSchema = 2;  ///< documents of schema 1 are read as well: they lack optional keys

/// What other kernels on the chip were to a launch.
struct LaunchBeside {
  /// "simulation" (of all together), "rates" (from what each asks of the chip) or "shares" (of the chip, as if none slowed it).
  std::string by;
  double slowed = 1;                ///< its time from launch to end by its time alone
  std::vector<std::uint64_t> with;  ///< numbers of the launches that it shared the chip with
};

/// Where a launch stood in a program, and how its numbers came about. All keys are optional in JSON, and left out where they hold nothing.
struct LaunchPlace {
  /// "simulated" (also where the key is absent), "represented" (the counters are another launch's, of the same kernel and shape), or
  /// "functional" (executed, not simulated: no metrics).
  std::string simulated = "simulated";
  std::optional<std::uint64_t> number;     ///< of the program's launches, from 0
  std::optional<std::uint64_t> device;     ///< number of the program's GPU
  std::optional<std::uint64_t> stream;     ///< number of its stream on that GPU, 0: the default stream
  std::optional<double> start_ns, end_ns;  ///< on the program's time line
  std::optional<LaunchBeside> beside;      ///< nothing: no kernel overlapped with it
  std::string operation;                   ///< "operator": what called it, as PyTorch names it; empty: none
  std::string operation_note;              ///< "operator_note": what is to be known about it; empty: nothing
};

/// One static instruction, with its counters summed over the launch.
struct InstructionResult : stats::InstructionCounters {
  std::uint32_t offset = 0;  ///< bytes from the kernel's start
  std::string sass;
  std::string file;        ///< source file; empty: unknown (null in JSON)
  std::uint32_t line = 0;  ///< source line; 0: unknown (null in JSON)
  isa::CallChain
      inlined;  ///< where its function was called, innermost first ("call_chain"); empty: not inlined, or not known

  /// Of shared memory: it made requests and wavefronts but touched no sector.
  bool is_shared() const { return requests > 0 && sectors == 0 && wavefronts > 0; }
  /// Warp-cycles with this instruction next, the issuing ones left out.
  std::uint64_t stall_cycles() const;
};

/// What holds the kernel back.
struct Limiter {
  std::string
      name;  ///< one word to group by: "dram", "issue", "latency_long_scoreboard" (docs/json.md lists them)
  std::string sentence;  ///< one sentence with the number that proves it and what to try
};

/// What lifting one limit would bring: the launch simulated again without it.
struct Gain {
  std::string key;    ///< "ideal.bank_conflicts"
  std::string words;  ///< "without bank conflicts"
  double cycles = 0;  ///< elapsed, without the limit
};

/// One launch on one chip.
struct LaunchResult : LaunchIdentity {
  std::string arch;  ///< the chip's name, never an alias
  int sm = 0;        ///< 80, 90, 120
  spec::ClockSet clock_hz;
  std::string kernel, mangled, code_sha256;
  std::string toolkit;  ///< version of the compiler; empty: unknown (null in JSON)
  std::string config_sha256;
  std::uint64_t assumed_values = 0;
  std::uint64_t transferred_values = 0;  ///< optional in JSON: documents before 0.2 lack it
  std::vector<std::string> overrides;    ///< "set": what --set changed
  bool time_dependent = false;
  LaunchPlace place;
  sampling::Estimate estimate;  ///< "accuracy"
  MetricValues metrics;
  std::string occupancy_next_step;  ///< what the next better occupancy would need; empty: none (null in JSON)
  Limiter limiter;
  double gains_base = 0;          ///< elapsed cycles that gains are held against; 0: the launch's own
  std::vector<Gain> gains;        ///< optional in JSON: only where they were asked for
  std::vector<Series> over_time;  ///< optional in JSON: not of sampled launches
  std::vector<Series> sms;        ///< likewise
  std::vector<InstructionResult> instructions;
};

struct Document {
  std::string foretrace;  ///< version
  std::string commit;     ///< of the source it was built from; empty: unknown (null in JSON)
  std::vector<std::string> command;
  std::vector<LaunchResult> predictions;
};

/// A prediction's result: every metric evaluated, the limiter found, one row per instruction.
LaunchResult make_result(const Prediction& prediction);

}  // namespace foretrace::report
