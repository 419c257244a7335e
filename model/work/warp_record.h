// What a warp did: the sequence of its instructions with lane masks and addresses, in a compact form.
//
// Models:  order of instructions of one warp (groups of a diverged warp interleaved as they were executed), the active lanes
//          of each, the lanes whose guard was true, the addresses that memory instructions used, and for a load in a spin loop the
//          writes of other warps without which the loop would not have ended; what a copy engine was asked to move; what arrived at an
//          mbarrier, and which phase of one a warp waited for. No other values, no time.
// Form:    two byte streams per warp. `runs`: consecutive instructions under one active mask. `details`: in order of execution, what
//          is not static: guard outcomes, addresses, values. docs/trace_format.md describes both; the trace file holds them as they are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/isa/program.h"
#include "model/isa/spin_loops.h"
#include "model/units/units.h"
#include "model/work/signal.h"
#include "model/work/transfer.h"

namespace foretrace::work {

/// What of an instruction is recorded beside its index and active mask.
struct Shape {
  bool guarded = false;  ///< the guard can hold lanes back: a lane mask is recorded
  std::uint8_t addresses =
      0;  ///< address sets a lane: 0 none, 1 memory access, 2 copy (first: shared destination, second: global source), SYNCS (second: what its operand says), STAS (second: the mbarrier)
  bool value =
      false;  ///< one 32-bit number is recorded (of a BAR with a register as an operand id | threads << 16; the time of a NANOSLEEP in a register)
  bool waits = false;      ///< asks memory in a spin loop: the writes that it waits for are recorded
  bool tells = false;      ///< may be waited for; only in programs with spin loops
  bool counts = false;     ///< tells, and its executions are counted where all its lanes go to one word
  bool transfers = false;  ///< starts a copy by the copy engine, which is recorded
  bool details = false;    ///< any of the above that `details` holds something of
  std::uint16_t slot =
      0;  ///< index of the first address set among all address sets of the program; `transfers`: among those that do
};

/// In the second address set of a SYNCS.PHASECHK, by lane: the parity that was asked for, and whether its phase had ended. One that had
/// not when others could go on is not recorded: the warp waits until it has.
inline constexpr std::uint64_t kAskedParity = 1, kPhaseEnded = 2;

/// The shapes of a program's instructions, a function of the program alone.
struct Shapes {
  explicit Shapes(const isa::Program& program);
  std::vector<Shape> of;             ///< by instruction index
  std::uint32_t slots = 0;           ///< address sets in the program
  std::uint32_t transfers = 0;       ///< instructions in it that start copies
  std::vector<isa::SpinLoop> loops;  ///< in which warps wait for each other
  std::vector<std::uint16_t>
      loop_of;  ///< by instruction, from its early load on: 1 + index into `loops`, 0: none; empty: no loops
  std::vector<isa::RetryLoop> retries;  ///< in which warps try again when another came between
  std::vector<std::uint16_t>
      retry_of;  ///< by instruction: 1 + index into `retries`, 0: none; empty: no such loops
};

struct WarpRecord {
  std::vector<std::uint8_t> runs;
  std::vector<std::uint8_t> details;
  std::uint64_t instructions = 0;         ///< warp instructions
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes
};

/// The rest of a block's record, made while it is read. Used by one thread at a time.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  /// The next part of a warp's record; null: the warp has ended. It stays as it is until the next call for the same warp. May throw
  /// what the execution of the block throws.
  virtual const WarpRecord* next(std::uint32_t warp) = 0;
};

/// The record of one block; warps in order of thread index.
struct BlockRecord {
  std::uint64_t block = 0;  ///< linear index, x fastest
  std::vector<WarpRecord> warps;
  std::shared_ptr<RecordStream> rest;  ///< null: `warps` is all; else what follows what `warps` holds
};

using LaneAddresses = std::array<std::uint64_t, kWarpSize>;

/// Addresses of a warp's lanes: lane l uses base + (l mod w) * inner + (l div w) * outer with w = 1 << log2_width when `regular`,
/// else what the cursor expands. Only lanes of the executed mask mean anything.
struct AddressPattern {
  std::uint64_t base = 0;  ///< address that lane 0 has or would have
  std::int64_t inner = 0;
  std::int64_t outer = 0;
  std::uint8_t log2_width = 5;
  bool regular = true;
  friend bool operator==(const AddressPattern&, const AddressPattern&) = default;
};

/// Writes one warp's record. Not thread-safe; one per warp.
class WarpRecorder {
 public:
  WarpRecorder(const Shapes& shapes, WarpRecord& record);
  /// One executed instruction. `active`: lanes of the group that executes it; `executed`: those whose guard is true.
  /// `addresses` has one entry for each address set of the shape (may be empty when executed is 0). `value` when the shape has one;
  /// `awaited` when it waits. `transfer` when it starts one; null: nothing is moved.
  void record(std::uint32_t index, std::uint32_t active, std::uint32_t executed,
              std::span<const LaneAddresses> addresses = {}, std::uint32_t value = 0,
              std::span<const Awaited> awaited = {}, const Transfer* transfer = nullptr);
  /// Notes what was recorded so far; take_back() forgets what came after the last mark(). Not across unmark() and go_on_in().
  void mark();
  void take_back();
  void unmark() { marking_ = false; }
  /// Must be called once at the warp's end.
  void finish();
  /// Closes the record that is being written and goes on in another, which continues it.
  void go_on_in(WarpRecord& record);

 private:
  struct Last {
    AddressPattern pattern;
    std::int64_t step = 0;
  };
  struct Run {
    std::uint32_t start = 0, next = 0, count = 0, mask = 0, expected = 0, written_mask = 0;
  };
  struct Marked {
    std::size_t runs = 0, details = 0;
    std::uint64_t instructions = 0, thread_instructions = 0;
    std::vector<std::pair<std::size_t, Last>> last;  ///< of the slots that were written since, oldest first
    std::vector<Transfer> transfers;
    Run run;
  };
  void write_addresses(const LaneAddresses& addresses, std::uint32_t executed, Last& last);
  void close_run();
  const Shapes& shapes_;
  WarpRecord* record_;
  std::vector<Last> last_;
  std::vector<Transfer> transfers_;  // the last of each instruction
  Run run_;
  bool marking_ = false;
  Marked marked_;
};

/// One executed instruction, as read back.
struct Step {
  std::uint32_t index = 0;
  std::uint32_t active = 0;
  std::uint32_t executed = 0;
  std::uint32_t value = 0;
};

/// Reads one warp's record from its start. The record and the shapes must outlive the cursor.
/// Throws InputError naming the byte offset when the record is damaged.
class WarpCursor {
 public:
  WarpCursor() = default;
  WarpCursor(const Shapes& shapes, const WarpRecord& record);
  /// The next instruction; false at the end.
  bool next(Step& step) {
    if (left_ == 0 || shapes_->of[next_index_].details) return next_of_any(step);
    --left_;
    step = {next_index_++, mask_, mask_, 0};
    look_ahead();
    return true;
  }
  /// After the end of a record: goes on with the one that continues it, which must outlive the cursor too.
  void go_on_with(const WarpRecord& record);
  /// Address set `which` (0, 1) of the step just read; lanes outside the executed mask are unspecified.
  void addresses(int which, LaneAddresses& out) const;
  /// Whether all executed lanes of the step just read go to one address.
  bool one_address(std::uint32_t executed, std::uint64_t& address) const;
  /// What the step just read waits for.
  std::span<const Awaited> awaited() const { return awaited_; }
  /// What the step just read moves; only of an instruction that starts a transfer, and where lanes executed it.
  const Transfer& transfer() const { return transfers_[transfer_]; }
  const AddressPattern& pattern(int which) const { return current_[static_cast<std::size_t>(which)]; }

 private:
  struct Last {
    AddressPattern pattern;
    std::int64_t step = 0;
  };
  bool next_of_any(Step& step);
  /// Asks for what the next step's addresses are read against: the host's caches hold few warps' at a time.
  void look_ahead() const {
    if (left_ == 0) return;
    const Shape& shape = shapes_->of[next_index_];
    if (shape.addresses) __builtin_prefetch(&last_[shape.slot]);
  }
  void read_addresses(std::uint32_t executed, Last& last, int which);
  void read_awaited();
  std::uint64_t varint(const std::uint8_t*& p, const std::uint8_t* end);
  [[noreturn]] void damaged(const char* what) const;
  const Shapes* shapes_ = nullptr;
  const WarpRecord* record_ = nullptr;
  const std::uint8_t *runs_ = nullptr, *runs_end_ = nullptr, *details_ = nullptr, *details_end_ = nullptr;
  std::uint32_t next_index_ = 0, left_ = 0, mask_ = 0;
  std::vector<Last> last_;
  std::array<AddressPattern, 2> current_{};
  std::vector<Awaited> awaited_;
  std::vector<Transfer> transfers_;  // the last of each instruction
  std::uint16_t transfer_ = 0;
  std::vector<LaneAddresses>
      irregular_;  // by address set, of the step just read; none before the first that has no pattern
};

}  // namespace foretrace::work
