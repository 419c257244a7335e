// A kernel's instructions as the SM sees them: one plain record each, decoded once for a chip.
//
// Models:  pipe choice, initiation interval, latency class, control bits, register reads by bank, memory form.
// Source:  the encoding (control bits), configs/isa (pipe and latency class), configs (widths and latencies).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/isa/asynchronous.h"
#include "model/isa/operands.h"
#include "model/isa/program.h"
#include "model/sm/products.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// What the issue stage does with an instruction beyond occupying its pipe.
enum class Action : std::uint8_t {
  compute,         ///< a pipe, and perhaps a scoreboard after a known time
  memory,          ///< goes through the memory pipe, accesses memory
  memory_other,    ///< goes through the memory pipe, accesses none (SHFL, S2R, MATCH)
  constant_load,   ///< LDC, LDCU, ULDC: served by the constant cache
  barrier_sync,    ///< BAR.SYNC, BAR.RED: waits
  barrier_arrive,  ///< BAR.ARV: does not wait
  membar,          ///< MEMBAR of the device or the system: waits for the SM's stores
  store_fence,     ///< MEMBAR.CTA: its scoreboard waits for the warp's stores
  block_fence,     ///< MEMBAR.CTA without a scoreboard: holds its warp for a time
  invalidate,      ///< CCTL.IVALL: L1 forgets what it has of global memory
  control,         ///< may jump: BRA, BSYNC, CALL, RET, EXIT, WARPSYNC ...
  depbar,          ///< DEPBAR.LE
  commit_copies,   ///< LDGDEPBAR
  sleep,           ///< NANOSLEEP
  yield,
  product,           ///< a warpgroup product (wgmma)
  product_begin,     ///< WARPGROUP.ARRIVE
  product_wait,      ///< WARPGROUP.DEPBAR
  transfer,          ///< a copy by the copy engine
  commit_transfers,  ///< UTMACMDFLUSH
  registers,         ///< USETMAXREG
  announce,          ///< PREEXIT
  cluster_arrive,    ///< UCGABAR_ARV
  cluster_wait,      ///< UCGABAR_WAIT
  unknown  ///< opaque, or without a row in the opcode table: stops the run by name where lanes execute it
};

/// One register that an instruction reads.
struct RegisterRead {
  static constexpr std::uint32_t kMaxBanks = 4;
  std::uint8_t number = 0;
  std::uint8_t bank = 0;
  std::uint8_t slot = 0;  ///< operand
  bool reuse = false;     ///< the register-file cache keeps it
  bool first =
      true;  ///< no operand before names it: two that do read it once (validate/microbenchmarks/register_banks)
};

/// Of a joined program's kernels, from one's constants to the next one's: more banks than a kernel has.
inline constexpr std::uint32_t kConstantsApart = 1u << 21;

struct StaticInstruction {
  Action action = Action::compute;
  std::uint8_t issue_class = 0;  ///< index into StaticProgram::classes
  std::uint8_t stall = 1;
  bool yield = false;
  std::uint8_t write_barrier = 7, read_barrier = 7;
  std::uint8_t wait_mask = 0;
  std::uint8_t interval = 1;  ///< cycles the pipe's input is taken
  std::uint8_t passes = 1;    ///< cycles in which it needs the registers' ports
  std::uint8_t hold = 0;  ///< cycles after it in which its sub-core issues nothing and counts nothing down
  bool converges =
      false;  ///< BSYNC, EXIT, BREAK: where lanes of it execute it, the warp goes on later than after a branch
  bool register_target = false;  ///< a branch whose target is in a register: BRX, JMX, RET, CALL
  bool through_adu = false;      ///< RET: its target's way through the ADU is counted there as well
  bool fixed_latency = true;     ///< operands are read through the allocate stage
  bool long_scoreboard = false;  ///< a wait for its result is a long_scoreboard stall
  std::uint16_t latency = 0;     ///< issue to scoreboard release, where the class has a number
  spec::Pipe counted =
      spec::Pipe::none;  ///< where the counters have it; fmaheavy and fmalite: wherever it was issued
  // Register reads
  std::vector<RegisterRead> reads;  ///< in order of operands
  // Constant operand or load: byte address in the constant space, and whether the record has what a register adds
  bool constant = false;
  bool constant_indexed = false;
  std::uint32_t constant_address = 0;
  // Memory
  isa::MemoryForm form{};
  // MATCH (spec::MatchSpec) and WARPSYNC
  bool compares_lanes = false;      ///< the record says how many values there are
  std::uint8_t value_latency = 0;   ///< cycles that each further value adds
  std::uint8_t value_interval = 0;  ///< cycles that each takes the data stage; 0: no MATCH
  bool bypasses_l1 = false;         ///< LDGSTS.BYPASS: what comes from L2 goes to shared memory at once
  std::uint8_t data_registers = 1;  ///< 32-bit registers a lane moves
  bool short_address = false;       ///< shared memory or a uniform address
  spec::LatencyClass latency_class = spec::LatencyClass::fixed;
  // Barriers and fences
  bool defers = false;  ///< BAR.DEFER_BLOCKING: what passes_barrier is issued while the warp waits at it
  bool passes_barrier = false;      ///< waits at no such barrier
  std::int16_t barrier = -1;        ///< immediate barrier number, -1: in the record's value
  std::uint16_t barrier_warps = 0;  ///< warps expected, 0: all of the block
  std::uint8_t depbar_scoreboard = 0, depbar_count = 0;
  bool drains = false;           ///< FENCE.VIEW.ASYNC: waits for what the data stage has before it
  std::uint32_t fixed_wait = 0;  ///< MEMBAR, NANOSLEEP of a time in the code: cycles
  // What goes on behind the warp's back (decode_asynchronous())
  isa::BarrierUse barrier_use = isa::BarrierUse::none;
  std::uint16_t poll_interval =
      0;                  ///< PHASECHK: cycles between two tests of the loop around it; 0: it is suspended
  bool suspends = false;  ///< PHASECHK: a wait for bytes of copies ends with them
  Product product{};
  std::uint16_t registers = 0;   ///< USETMAXREG: a thread
  bool takes_registers = false;  ///< USETMAXREG.TRY_ALLOC
};

/// What copies, mbarriers, warpgroup products and clusters add to instruction `index`.
void decode_asynchronous(const isa::Program& program, std::uint32_t index, const spec::GpuSpec& spec,
                         StaticInstruction& out);

/// A way out of the issue stage: instructions of one class wait for the same pipes.
struct IssueClass {
  spec::Pipe first = spec::Pipe::none, second = spec::Pipe::none;
  bool allocate =
      false;           ///< reads its operands at once; where their banks are too busy, the sub-core is held
  bool queue = false;  ///< needs room in the memory queue
  stats::WarpState throttle = stats::WarpState::math_pipe_throttle;
  friend bool operator==(const IssueClass&, const IssueClass&) = default;
};

struct StaticProgram {
  StaticProgram(std::shared_ptr<const isa::Program> program, const spec::GpuSpec& spec);
  /// Throws InputError, which says what of an Action::unknown is not known.
  [[noreturn]] void stop_at(std::uint32_t index) const;
  std::shared_ptr<const isa::Program> program;
  work::Shapes shapes;
  std::vector<StaticInstruction> code;
  std::vector<IssueClass> classes;
};
inline constexpr int kMaxClasses = 24;

}  // namespace foretrace::sm
