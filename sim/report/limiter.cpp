#include "sim/report/limiter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/table.h"

namespace foretrace::report {
namespace {

using stats::WarpState;

/// A limiter, and the keys of what was simulated again without it, or with its sentence's advice taken.
struct Verdict {
  std::string name, sentence;
  std::vector<std::string_view> ideals;
};

constexpr std::string_view kConflictsGain = "ideal.bank_conflicts", kCoalescingGain = "ideal.coalescing",
                           kDramGain = "ideal.dram", kL2Gain = "ideal.l2",
                           kLatencyGain = "ideal.memory_latency", kResidencyGain = "ideal.residency",
                           kAtomicsGain = "ideal.atomics", kPipesGain = "ideal.pipes",
                           kCodeGain = "ideal.code", kLaunchGain = "ideal.launch", kNoGain = "";

// The thresholds of the questions; docs/json.md explains them.
constexpr double kLaunchShare = 40;    // % of the launch without a warp anywhere from which on it is the cost
constexpr double kBusy = 60;           // % of the launch's cycles from which on a unit counts as the limit
constexpr double kUnbalanced = 25;     // % by which the mean SM works less than the busiest
constexpr double kConflictShare = 20;  // % of shared wavefronts that are conflicts
constexpr double kWastedSectors = 1.3;  // sectors over the fewest possible
constexpr double kLowOccupancy = 60;    // % theoretical occupancy below which raising it is worth a word

struct StateText {
  const char* meaning;
  const char* hint;
  std::string_view ideal = kNoGain;  ///< what was simulated without it
};

// In the order of WarpState.
constexpr std::array<StateText, stats::kWarpStates> kStates = {{
    {"the other warps of their block at a barrier",
     "balance the warps' work between barriers, or use smaller blocks"},
    {"a branch's target", "shorten loops' branch overhead by unrolling"},
    {"the dispatch port", "spread the instructions over pipes"},
    {"their last stores to leave the SM", "write less at the end, or coalesce what is written", kL2Gain},
    {"asynchronous matrix operations", "overlap them with other work", kPipesGain},
    {"a constant that was not cached",
     "give each warp more work so that cold caches matter less, or access fewer different constants",
     kCodeGain},
    {"room in the queue of local and global accesses", "use fewer, wider accesses"},
    {"data from L1, L2 or DRAM",
     "increase memory-level parallelism: more independent loads per thread, more warps, or data reused from "
     "shared memory",
     kLatencyGain},
    {"a busy arithmetic pipe", "move work to another pipe or do less of it", kPipesGain},
    {"a memory fence", "use fewer or narrower fences", kL2Gain},
    {"room in the queue of shared-memory and special instructions", "use fewer, wider shared accesses"},
    {"something that has no state of its own", "look at the hottest instructions"},
    {"instructions that were not in the cache",
     "give each warp more work so that cold caches matter less, or shorten the code and its unrolling",
     kCodeGain},
    {"their turn: another warp was selected", "nothing: there are warps enough"},
    {"nothing: they issue", "nothing"},
    {"results from shared memory or a special pipe",
     "put independent instructions between such an operation and its use"},
    {"the end of a sleep", "sleep for a shorter time"},
    {"room in the texture queue", "use fewer texture accesses"},
    {"results of fixed-latency instructions",
     "interleave independent instructions: more of them per thread, or more warps"},
}};

/// "sgemm.cu:14 (LDG.E R2, ...)", or the offset where no line is known.
std::string where(const InstructionResult& row) {
  const auto slash = row.file.find_last_of('/');
  const std::string name = slash == std::string::npos ? row.file : row.file.substr(slash + 1);
  return row.line > 0 ? fmt::format("{}:{}", name, row.line) : fmt::format("offset 0x{:x}", row.offset);
}

/// The most wasteful global or local access, and how much all of them waste.
struct Waste {
  const InstructionResult* worst = nullptr;
  double factor = 1;  // sectors over the fewest possible, all accesses
};

Waste wasted_sectors(const LaunchResult& result) {
  Waste waste;
  std::uint64_t most = 0, sectors = 0, ideal = 0;
  for (const auto& row : result.instructions) {
    if (row.sectors == 0) continue;
    sectors += row.sectors;
    ideal += row.ideal_sectors;
    if (row.sectors > row.ideal_sectors && row.sectors - row.ideal_sectors > most) {
      most = row.sectors - row.ideal_sectors;
      waste.worst = &row;
    }
  }
  if (ideal > 0) waste.factor = static_cast<double>(sectors) / static_cast<double>(ideal);
  return waste;
}

std::string coalescing_advice(const LaunchResult& result) {
  const Waste waste = wasted_sectors(result);
  if (waste.worst == nullptr || waste.factor < kWastedSectors) return {};
  return fmt::format(
      "global accesses touch {:.1f} times the sectors that their bytes need, {} alone {:.1f} per request "
      "where {:.1f} would do, so coalesce it",
      waste.factor, where(*waste.worst),
      static_cast<double>(waste.worst->sectors) / static_cast<double>(waste.worst->requests),
      static_cast<double>(waste.worst->ideal_sectors) / static_cast<double>(waste.worst->requests));
}

struct Conflicts {
  const InstructionResult* worst = nullptr;
  double share = 0;  // % of shared wavefronts
  bool atomics() const { return worst != nullptr && worst->sass.find("ATOMS") != std::string::npos; }
};

Conflicts bank_conflicts(const LaunchResult& result) {
  Conflicts conflicts;
  std::uint64_t most = 0, wavefronts = 0, extra = 0;
  for (const auto& row : result.instructions) {
    if (!row.is_shared()) continue;
    wavefronts += row.wavefronts;
    if (row.wavefronts <= row.ideal_wavefronts) continue;
    extra += row.wavefronts - row.ideal_wavefronts;
    if (row.wavefronts - row.ideal_wavefronts > most) {
      most = row.wavefronts - row.ideal_wavefronts;
      conflicts.worst = &row;
    }
  }
  if (wavefronts > 0) conflicts.share = 100.0 * static_cast<double>(extra) / static_cast<double>(wavefronts);
  return conflicts;
}

/// What to do about it, without an end.
std::string conflict_advice(const Conflicts& conflicts) {
  if (conflicts.atomics()) {
    return fmt::format(
        "lanes whose atomics at {} go to one word or bank are done one after another: combine them within "
        "the warp "
        "first, or give the warps words of their own",
        where(*conflicts.worst));
  }
  return fmt::format("pad or permute the array that {} accesses", where(*conflicts.worst));
}

/// The global atomic with most sectors; null: there is none.
const InstructionResult* main_atomic(const LaunchResult& result) {
  constexpr const char* kAtomics[] = {"RED.", "REDG.", "ATOM.", "ATOMG."};
  const InstructionResult* most = nullptr;
  for (const auto& row : result.instructions) {
    const bool changes = std::any_of(std::begin(kAtomics), std::end(kAtomics), [&](const char* opcode) {
      return row.sass.find(opcode) != std::string::npos;
    });
    if (row.sectors == 0 || !changes) continue;
    if (most == nullptr || row.sectors > most->sectors) most = &row;
  }
  return most;
}

Verdict busiest_slice(const LaunchResult& result, double share) {
  const InstructionResult* atomic = main_atomic(result);
  const std::string why =
      atomic != nullptr
          ? fmt::format(
                "atomics go to few addresses, most at {}: combine them within a warp or block first, or "
                "spread them over more addresses",
                where(*atomic))
          : std::string("accesses go to few lines: spread them, or keep what they read on the SM");
  return {"l2_slice",
          fmt::format("One of L2's slices is busy {:.0f}% of the time, the mean one {:.1f}%; {}.", share,
                      result.metrics.get("foretrace__l2_slices.pct", 0), why),
          {atomic != nullptr ? kAtomicsGain : kL2Gain}};
}

struct Unit {
  const char* name;
  const char* metric;
  const char* words;
  const char* hint;
  std::string_view ideal = kNoGain;
};

constexpr std::array<Unit, 17> kUnits = {{
    {"dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM's data buses are",
     "move fewer bytes: reuse data on the chip, fuse kernels or use a narrower type", kDramGain},
    {"l2", "foretrace__l2_slices.pct", "L2's slices are",
     "ask less of L2: keep reused data in shared memory or registers", kL2Gain},
    {"l2_fabric", "foretrace__l2_fabric.pct", "the ways between L2's partitions are",
     "half of what DRAM brings and of what is stored crosses them: move fewer bytes, or reuse what an SM's "
     "side of L2 holds",
     kL2Gain},
    {"network", "foretrace__network_reply.pct", "the SMs' ports for data from L2 are",
     "ask less of L2: keep reused data in shared memory or registers", kL2Gain},
    {"network", "foretrace__network_request.pct", "the SMs' ports for data to L2 are", "store fewer bytes",
     kL2Gain},
    {"l1_data", "foretrace__l1_data.pct", "L1's data stage is",
     "use fewer or wider (64- and 128-bit) accesses and keep values in registers"},
    {"l1_tag", "foretrace__l1_tag.pct", "L1's tag stage is", "let a warp's lanes touch fewer lines"},
    {"memory_unit", "foretrace__memory_unit.pct", "the input of the SM's memory unit is",
     "use fewer, wider memory instructions"},
    {"issue", "foretrace__issue_share.pct", "the issue slots are",
     "execute fewer instructions: wider accesses, unrolling, cheaper index arithmetic"},
    {"pipe_tensor", "foretrace__pipe_tensor.pct", "the tensor pipe is",
     "this is what the kernel is for; a smaller type is faster", kPipesGain},
    {"pipe_fma", "foretrace__pipe_fma.pct", "the FMA pipe is", "do less arithmetic, or use the tensor pipe",
     kPipesGain},
    {"pipe_fmaheavy", "foretrace__pipe_fmaheavy.pct", "the heavy FMA pipe is",
     "integer multiplications can only go there: simplify the index arithmetic", kPipesGain},
    {"pipe_alu", "foretrace__pipe_alu.pct", "the integer and logic pipe is",
     "simplify integer and index arithmetic", kPipesGain},
    {"pipe_fp16", "foretrace__pipe_fp16.pct", "the half-precision pipe is",
     "do less arithmetic, or use the tensor pipe", kPipesGain},
    {"pipe_fp64", "foretrace__pipe_fp64.pct", "the FP64 pipe is", "use single precision where it suffices",
     kPipesGain},
    {"pipe_xu", "foretrace__pipe_xu.pct", "the pipe for transcendental functions and conversions is",
     "use fewer conversions and special functions, or cheaper forms of them", kPipesGain},
    {"pipe_uniform", "foretrace__pipe_uniform.pct", "the uniform pipe is",
     "simplify warp-uniform arithmetic"},
}};

Verdict busy_unit(const LaunchResult& result, const Unit& unit, double share) {
  std::string proof = fmt::format("{} busy {:.0f}% of the time", unit.words, share);
  std::string hint = unit.hint;
  std::string name = unit.name;
  std::vector<std::string_view> ideals{unit.ideal};
  const std::string_view which = unit.name;
  if (which == "dram") {
    proof += fmt::format(", {:.0f} of {:.0f} GB/s", result.metrics.get("dram__bytes.sum.per_second", 0) / 1e9,
                         result.metrics.get("foretrace__dram_peak.per_second", 0) / 1e9);
  }
  if (which == "l1_data") {
    const Conflicts conflicts = bank_conflicts(result);
    if (conflicts.worst != nullptr && conflicts.share >= kConflictShare) {
      name = conflicts.atomics() ? "shared_atomics" : "bank_conflicts";
      proof +=
          fmt::format(", and {:.0f}% of the shared-memory wavefronts are bank conflicts", conflicts.share);
      hint = conflict_advice(conflicts);
      ideals.push_back(conflicts.atomics() ? kAtomicsGain : kConflictsGain);
    }
  }
  if (name == which &&
      (which == "dram" || which == "l2" || which == "network" || which == "l1_data" || which == "l1_tag")) {
    const std::string advice = coalescing_advice(result);
    if (!advice.empty()) {
      hint = advice;
      ideals.push_back(kCoalescingGain);
    }
  }
  proof[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(proof[0])));
  return {name, proof + "; " + hint + ".", ideals};
}

/// The state, other than issuing, that holds most warp-cycles.
WarpState main_stall(const LaunchResult& result, double& share, double& total) {
  WarpState worst = WarpState::long_scoreboard;
  double most = -1;
  total = 0;
  for (int i = 0; i < stats::kWarpStates; ++i) {
    const auto state = static_cast<WarpState>(i);
    const double value = result.metrics.get(
        fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", stats::name_of(state)), 0);
    total += value;
    if (state == WarpState::selected || state == WarpState::not_selected) continue;
    if (value > most) {
      most = value;
      worst = state;
    }
  }
  share = total > 0 ? 100.0 * most / total : 0;
  return worst;
}

Verdict latency(const LaunchResult& result, double busiest) {
  double share = 0, total = 0;
  const WarpState state = main_stall(result, share, total);
  const auto& text = kStates[static_cast<std::size_t>(state)];
  std::string hint = text.hint;
  std::vector<std::string_view> ideals{text.ideal};
  const double occupancy = result.metrics.get("sm__maximum_warps_per_active_cycle_pct", 100);
  if (state == WarpState::long_scoreboard) {
    const std::string advice = coalescing_advice(result);
    if (!advice.empty()) {
      hint = advice;
      ideals.push_back(kCoalescingGain);
    }
  }
  if (state == WarpState::mio_throttle || state == WarpState::short_scoreboard) {
    const Conflicts conflicts = bank_conflicts(result);
    if (conflicts.worst != nullptr && conflicts.share >= kConflictShare) {
      hint = fmt::format(
          "{:.0f}% of the shared-memory wavefronts are bank conflicts, most at {}: {}", conflicts.share,
          where(*conflicts.worst),
          conflicts.atomics() ? "combine these atomics within the warp first" : "pad or permute that array");
      ideals.push_back(conflicts.atomics() ? kAtomicsGain : kConflictsGain);
    }
  }
  if (occupancy < kLowOccupancy && !result.occupancy_next_step.empty()) {
    std::string step = result.occupancy_next_step;
    if (step.back() == '.') step.pop_back();
    step[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(step[0])));
    hint += fmt::format("; theoretical occupancy is {:.0f}%: {}", occupancy, step);
    ideals.push_back(kResidencyGain);
  }
  const std::string busy_text = fmt::format("{:.{}f}", busiest, busiest < 10 ? 1 : 0);
  return {std::string("latency_") + stats::name_of(state),
          fmt::format("No unit is busy more than {}% of the time; warps spend {:.0f}% of their cycles "
                      "waiting for {} ({}); {}.",
                      busy_text, share, text.meaning, stats::name_of(state), hint),
          ideals};
}

Verdict find(const LaunchResult& result) {
  const MetricValues& m = result.metrics;
  const double elapsed = m.get("gpc__cycles_elapsed.max", 0);
  FORETRACE_ASSERT(elapsed > 0, "A launch takes time.");
  const double idle = m.get("foretrace__launch_cycles.min", 0);
  const double sms = m.get("launch__sm_count", 0);
  const double blocks = m.get("launch__grid_size", 0);
  // What a slice does after the last warp's end is no launch.
  const double slice = m.get("foretrace__l2_busiest_slice.pct", 0);
  if (100.0 * idle / elapsed >= kLaunchShare && slice < kBusy) {
    return {"launch",
            fmt::format("The launch itself takes the time: {} of {} cycles pass before the first and after "
                        "the last warp runs; give a launch more work, or batch launches in a graph.",
                        grouped(idle, 0), grouped(elapsed, 0)),
            {kLaunchGain}};
  }
  const Unit* busiest = nullptr;
  double share = 0;
  for (const Unit& unit : kUnits) {
    const double value = m.get(unit.metric, 0);
    if (value > share) {
      share = value;
      busiest = &unit;
    }
  }
  if (busiest != nullptr && share >= kBusy) return busy_unit(result, *busiest, share);
  if (slice >= kBusy) return busiest_slice(result, slice);
  if (blocks < sms) {
    return {
        "small_grid",
        fmt::format("The grid has {:.0f} blocks for {:.0f} SMs, so {:.0f}% of the chip stays idle; use more, "
                    "smaller blocks or split the work further.",
                    blocks, sms, 100.0 * (sms - blocks) / sms),
        {}};
  }
  const double most = m.get("sm__cycles_active.max", 0);
  const double mean = m.get("sm__cycles_active.avg", 0);
  if (most > 0 && 100.0 * (most - mean) / most >= kUnbalanced) {
    return {
        "tail",
        fmt::format(
            "The mean SM has work for {} cycles and the busiest for {}: the grid is {:.2f} waves, "
            "and "
            "the last is not full; choose blocks so that the waves fill, or let blocks take work in a loop.",
            grouped(mean, 0), grouped(most, 0), m.get("launch__waves_per_multiprocessor", 0)),
        {}};
  }
  return latency(result, share);
}

constexpr double kWorthNaming = 0.5;  // % of the time; less is what moved addresses alone may bring

/// "1,204 of 16,779 cycles, 7%": what the launch would save.
std::string saved(double base, const Gain& gain) {
  const double share = 100 * (base - gain.cycles) / base;
  return fmt::format("{} of {} cycles, {:.{}f}%", grouped(base - gain.cycles, 0), grouped(base, 0), share,
                     share < 9.95 ? 1 : 0);
}

/// What the launch was when it was simulated again without what the verdict names; that it names nothing that could be left out.
std::string gain_sentence(const LaunchResult& result, const std::vector<std::string_view>& ideals) {
  const double base =
      result.gains_base > 0 ? result.gains_base : result.metrics.get("gpc__cycles_elapsed.max", 0);
  const auto worth = [&](const Gain& gain) { return 100 * (base - gain.cycles) / base >= kWorthNaming; };
  std::string told;
  for (const std::string_view key : ideals) {
    const auto gain = std::find_if(result.gains.begin(), result.gains.end(),
                                   [&](const Gain& each) { return each.key == key; });
    if (gain == result.gains.end()) continue;
    told += told.empty() ? " Simulated again, it saves " : "; ";
    told += worth(*gain) ? saved(base, *gain) : "nothing";
    told += ", " + gain->words;
  }
  if (!told.empty()) return told + ".";
  told = " No simulation without this limit was made: it is none of those that one change lifts";
  const auto most = std::min_element(result.gains.begin(), result.gains.end(),
                                     [](const Gain& a, const Gain& b) { return a.cycles < b.cycles; });
  if (worth(*most)) told += fmt::format("; the most is saved ({}) {}", saved(base, *most), most->words);
  return told + ".";
}

}  // namespace

const char* meaning_of(WarpState state) { return kStates[static_cast<std::size_t>(state)].meaning; }

Limiter find_limiter(const LaunchResult& result) {
  Verdict verdict = find(result);
  if (!result.gains.empty()) verdict.sentence += gain_sentence(result, verdict.ideals);
  return {verdict.name, verdict.sentence};
}

}  // namespace foretrace::report
