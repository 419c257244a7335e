// What becomes of chosen warps' instructions, cycle by cycle: for looking at, as llvm-mca's timeline.
//
// Models:  nothing. The SM and its memory pipe say what they decide; where nobody looks, each such place costs one branch on a pointer.
// Ignores: warps and cycles that were not chosen.
// Time:    SM cycles since the launch began. A stage lasts from its first cycle to before its last.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/stats/launch_counters.h"
#include "model/units/units.h"

namespace foretrace::sm {

/// Where an instruction is after its issue.
enum class Stage : std::uint8_t {
  operands,    ///< control, allocation, registers are read; longer where they collide in their banks
  execute,     ///< a pipe's input is taken; a unit of the SM works on it
  queue,       ///< in the sub-core's memory queue, or before the SM's ADU
  address,     ///< address generation
  tags,        ///< in L1's tag stage, which also waits there for room for its misses
  data,        ///< passes of the data stage
  network,     ///< between the SM and L2, both ways
  l2,          ///< in L2's slices
  partition,   ///< between L2's partitions
  dram_queue,  ///< before DRAM
  dram,        ///< in DRAM
  fill,        ///< answers pass the SM's port into L1
  copy         ///< bytes that the copy engine moves
};
inline constexpr int kStages = static_cast<int>(Stage::copy) + 1;
const char* name_of(Stage stage);

struct StageTime {
  Stage stage = Stage::operands;
  Cycle from = 0, to = 0;
};
struct StateTime {
  stats::WarpState state = stats::WarpState::wait;
  Cycle from = 0, to = 0;
};

/// One instruction of one warp.
struct TimelineRow {
  std::uint64_t block = 0;   ///< its number in the grid
  std::uint32_t warp = 0;    ///< in the block
  std::uint64_t number = 0;  ///< how many the warp executed before it
  std::uint32_t sm = 0, sub_core = 0;
  std::uint32_t index = 0;                 ///< in Program::code
  std::uint32_t active = 0, executed = 0;  ///< lanes; those whose guard is true
  Cycle issued = 0;
  Cycle sources_read =
      kNever;  ///< its read scoreboard is released; kNever: it has none, or later than what was recorded
  Cycle written = kNever;  ///< its write scoreboard is released; the same
  std::vector<StateTime>
      states;  ///< the warp's, with this instruction next, or after it where they are its own (barriers, fences)
  std::vector<StageTime> stages;  ///< in order of their beginning

  Cycle first() const;  ///< the first cycle that is known of it
  Cycle last() const;   ///< the cycle after the last one
};

/// Which warps are recorded.
struct TimelineChoice {
  std::vector<std::uint64_t> blocks;  ///< numbers in the grid; empty: all
  std::vector<std::uint32_t> warps;   ///< in their blocks; empty: all
  Cycle from = 0, to = kNever;        ///< what is over before `from`, or begins at `to` or later, is left out
  bool has(std::uint64_t block, std::uint32_t warp) const;
};

/// Of one SM. Slots are the SM's for warps; operations and requests the memory pipe's.
class SmTimeline {
 public:
  SmTimeline(const TimelineChoice& choice, std::uint32_t sm) : choice_(choice), sm_(sm) {}

  void start_warp(std::uint16_t slot, std::uint64_t block, std::uint32_t warp, Cycle now);
  void end_warp(std::uint16_t slot);
  /// The warp was in a state that is attributed to instruction `index`.
  void waited(std::uint16_t slot, std::uint32_t index, stats::WarpState state, Cycle from, Cycle to);
  void issued(std::uint16_t slot, std::uint32_t index, std::uint32_t active, std::uint32_t executed,
              Cycle now);
  /// Of the instruction that the slot's warp issued last.
  void stage(std::uint16_t slot, Stage stage, Cycle from, Cycle to);
  void written(std::uint16_t slot, Cycle when);
  void sources_read(std::uint16_t slot, Cycle when);
  /// The row of that instruction, for what becomes of it later; negative: it is not recorded.
  std::int64_t row_of(std::uint16_t slot) const { return slots_[slot].chosen ? slots_[slot].last : kNobody; }
  void row_stage(std::int64_t row, Stage stage, Cycle from, Cycle to);

  // Memory operations
  void queued(std::uint32_t operation, std::uint16_t slot, Cycle now, Cycle address, Cycle ready);
  void accepted(std::uint32_t operation, Cycle now);
  void operation_stage(std::uint32_t operation, Stage stage, Cycle from, Cycle to);
  void operation_written(std::uint32_t operation, Cycle when);
  void operation_sources_read(std::uint32_t operation, Cycle when);
  /// The operation needs what a request asks for, since `now`.
  void asks(std::uint32_t operation, std::uint32_t request, Cycle now);
  /// The request's answer takes the SM's port until `to`.
  void arrived(std::uint32_t request, Cycle from, Cycle to);
  void answered(const memory::ReadJourney& journey);

  // What goes on behind a warp's back: a key that names it until it is over.
  void begin_copy(std::uint32_t job, std::uint16_t slot, Cycle now);
  void end_copy(std::uint32_t job, Cycle now);
  void begin_test(std::uint32_t test, std::uint16_t slot);
  void end_test(std::uint32_t test, Cycle when);

  /// What was recorded; nothing can be recorded afterwards.
  std::vector<TimelineRow> take();

 private:
  static constexpr std::int64_t kNobody = -1;
  struct Slot {
    bool chosen = false;
    std::int64_t last = kNobody;  ///< row of the instruction that was issued last
    TimelineRow next;             ///< of the one that is not yet
  };
  struct Asked {
    std::size_t row = 0;
    Cycle since = 0;
  };
  TimelineRow* last_of(std::uint16_t slot);
  TimelineRow* of(const std::unordered_map<std::uint32_t, std::size_t>& keys, std::uint32_t key);

  const TimelineChoice& choice_;
  const std::uint32_t sm_;
  std::array<Slot, 64> slots_{};
  std::vector<TimelineRow> rows_;
  std::unordered_map<std::uint32_t, std::size_t> operations_, copies_, tests_;  ///< rows
  std::unordered_map<std::uint32_t, std::vector<Asked>> requests_;              ///< who waits for them
};

/// Of a launch: gpu::LaunchSetup takes it along.
class Timeline {
 public:
  explicit Timeline(TimelineChoice choice) : choice_(std::move(choice)) {}
  const TimelineChoice& choice() const { return choice_; }
  SmTimeline& of_sm(std::uint32_t sm);
  void answered(const std::vector<memory::ReadJourney>& journeys);
  /// Takes what the SMs recorded: by block, warp and number.
  void finish();

  std::vector<TimelineRow> rows;  ///< after finish()

 private:
  TimelineChoice choice_;
  std::vector<std::unique_ptr<SmTimeline>> sms_;
};

}  // namespace foretrace::sm
