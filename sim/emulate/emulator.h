// Functional execution of a launch: machine code, arguments and memory in; memory, a record of every warp, or a fault out.
//
// Models:  what instructions compute, 32 lanes at a time; divergence by convergence barriers; block barriers; global, shared,
//          local, constant and generic addresses. Source: our probe kernels and the PTX ISA (docs/facts.md).
// Ignores: time. clock and globaltimer count the instructions that the block has issued. Control bits have no effect.
// Choice:  every launch has the workspace of a cooperative one, so a grid-wide barrier works if blocks take turns (below).
// Order:   blocks run one at a time, each to its end (some begin together: isa::done_by_all_first); warps of a
//          block take turns at barriers (also where they only arrive), YIELD, NANOSLEEP, a failed mbarrier test, and after a fixed
//          number of instructions, which is small after a barrier; so a run repeats exactly.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/isa/program.h"
#include "model/units/launch_shape.h"
#include "model/work/address_space.h"
#include "model/work/warp_record.h"
#include "sim/emulate/execute/driver_functions.h"
#include "sim/emulate/fault.h"
#include "sim/emulate/memory/global_memory.h"

namespace foretrace::emulate {

inline constexpr int kConstantBanks = 8;
using work::kLocalWindow;
using work::kSharedWindow;
using work::kWindowBytes;
inline constexpr std::uint64_t kIdleLimit =
    100'000'000;  ///< warp instructions without a store, atomic or exit
/// The same of programs whose blocks wait for nobody: minutes of a host's time, after which an endless loop is named.
inline constexpr std::uint64_t kLongestWork = 10'000'000'000;

struct Translation;
class TextureTable;
class DeviceRuntime;

/// What a launch's blocks may wait for outside of it: what the program does next, another launch.
class Outside {
 public:
  virtual ~Outside() = default;
  /// All that the blocks do is to ask memory again and again. True: they may ask once more; false: nobody is left who could answer.
  /// `again`: as at the last call, without any progress since.
  virtual bool wait(bool again) = 0;
};

/// What a launch is watched for on request; slower, and one block at a time.
struct Checks {
  bool uninitialized =
      false;  ///< reads of shared memory, and of global memory under WrittenBytes::track(), that was never written
  bool races = false;  ///< between warps on shared memory (shared_checks.h)
  /// An access beyond an allocation, on a page that the device has, is a fault; false: it is reported once and done.
  bool bounds = true;
};

/// A cluster of (1,1,1) stands for what the kernel was compiled for.
struct LaunchContext : LaunchShape {
  const isa::Program* program = nullptr;  ///< must outlive the emulator
  /// Where the program's translation is kept for its next launch (one launch at a time); null: nowhere.
  std::shared_ptr<const Translation>* translation = nullptr;
  GlobalMemory* memory = nullptr;  ///< must outlive the emulator
  const TextureTable* textures =
      nullptr;                 ///< what handles of textures and surfaces stand for; null: there are none
  std::uint32_t sms = 1;       ///< of the chip: %nsmid; block b says that it is on SM b modulo that
  std::uint32_t part_sms = 0;  ///< of these, that the launch may use; 0: all. Then b modulo this
  std::uint32_t sms_used() const { return part_sms == 0 ? sms : part_sms; }
  std::uint32_t shared_unit =
      1;  ///< the chip's limits.shared_unit: the last unit of a block is its own to its end
  std::uint32_t shared_reserved = 0;  ///< the chip's limits.shared_reserved, behind or before a block's own
  std::vector<std::byte> parameters;  ///< the parameter area, Program::parameter_bytes long
  /// Images of constant banks 2, 3, 4; bank 0 is made from the launch, the rest stays empty.
  std::array<std::vector<std::byte>, kConstantBanks> banks;
  std::uint64_t constants =
      0;  ///< generic address of what bank 3 holds (code may take a constant's address); 0: nowhere
  /// Bytes of local memory per thread, rounded up to 16; less than the program's own need is raised to it.
  std::uint32_t local_bytes = 1024;
  std::uint64_t max_instructions = 0;  ///< warp instructions of the launch's longest block; 0: no limit
  std::uint64_t idle_limit =
      kIdleLimit;  ///< after so many warp instructions of a block without progress: FaultKind::never_ends; the default is
                   ///< kLongestWork for programs whose blocks wait for nobody
  double time_limit =
      0;  ///< seconds of host time a block may take, which depends on the host; then never_ends; 0: no limit
  Outside* outside = nullptr;  ///< who is asked when all blocks wait; null: nobody could answer them
  const std::atomic<bool>* stop =
      nullptr;  ///< set by another thread: the launch ends with Interrupted; null: nobody does
  Checks checks;
  /// Nobody reads what the launch writes, only its records matter: matrix products that decide nothing (isa/product_flow.h) are not
  /// computed, and nothing is looked at that they would read. Without effect where something is checked.
  bool results_unused = false;
  /// A block barrier that only part of a warp's live lanes execute: true: FaultKind::divergent_barrier. False: as on a GPU, which does
  /// not notice: lanes that come alone wait until the warp's others have exited, have come to a barrier, too, or wait for these;
  /// then the warp has arrived. The first such barrier is reported.
  bool strict_barriers = true;
  TextSink print = to_standard_output;  ///< what device printf writes
  /// Whether an access beyond an allocation has been reported (Checks::bounds); null: each launch reports one.
  std::atomic<bool>* bounds_reported = nullptr;
  DeviceRuntime* device_runtime =
      nullptr;                          ///< what device code's launches go to; null: such a launch is refused
  TextSink report = to_standard_error;  ///< what a failed assert writes
};

/// What a block did, in numbers that need no record.
struct BlockCount {
  std::uint64_t instructions = 0;         ///< warp instructions issued
  std::uint64_t thread_instructions = 0;  ///< of active lanes
  std::uint64_t rounds_tried = 0;         ///< of loops that wait, to see what would end them (SpinRounds)

  BlockCount& operator+=(const BlockCount& other) {
    instructions += other.instructions;
    thread_instructions += other.thread_instructions;
    rounds_tried += other.rounds_tried;
    return *this;
  }
};

/// A launch ready to run. Blocks of independent launches (see below) may be run by several threads at once.
class Emulator {
 public:
  /// Translates the program. Throws InputError when the launch is impossible: no or too many threads or blocks, parameters of
  /// the wrong size. An instruction that is not supported is reported when a warp reaches it.
  explicit Emulator(const LaunchContext& context);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  std::uint64_t blocks() const;
  /// Runs one block (linear index, x fastest) to its end, without the other blocks of its cluster if it has any (blocks_are_independent). `record` may be null: then nothing is recorded.
  /// Throws KernelFault; memory then holds what was stored before.
  BlockCount run_block(std::uint64_t block, work::BlockRecord* record) const;
  /// The number of clusters; of blocks where clusters are of one.
  std::uint64_t clusters() const;
  /// The same with the blocks of a cluster (x fastest), for launches whose clusters are independent. `records`: gets theirs, by rank.
  BlockCount run_cluster(std::uint64_t cluster,
                         std::vector<std::shared_ptr<work::BlockRecord>>* records) const;

  struct Launch;
  const Launch& launch() const { return *launch_; }

 private:
  std::unique_ptr<Launch> launch_;
};

/// All blocks of a launch in index order, for kernels whose blocks may wait for each other (a grid-wide barrier, a chain of
/// flags): when the next block spins, the ones after it are started beside it, up to `resident` at a time, and take turns.
/// A kernel whose blocks do not wait runs exactly as with run_block. The blocks of a cluster run together.
class BlockSequence {
 public:
  /// The emulator must outlive the sequence. `recording` false: the records stay empty.
  BlockSequence(const Emulator& emulator, std::uint64_t resident, bool recording);
  ~BlockSequence();
  BlockSequence(const BlockSequence&) = delete;
  BlockSequence& operator=(const BlockSequence&) = delete;
  /// The next block's record; null at the end. Throws KernelFault, never_ends when no block that may run makes progress.
  std::shared_ptr<work::BlockRecord> next();
  /// Of all blocks that next() has returned.
  const BlockCount& count() const { return count_; }
  /// Whether a block did not come to its end by itself, so that what follows may depend on how many run beside each other (`resident`).
  bool has_waited() const { return has_waited_; }

 private:
  struct State;
  const Emulator& emulator_;
  std::uint64_t resident_;  // clusters
  bool recording_, may_wait_, has_waited_ = false;
  std::unique_ptr<State> state_;
  BlockCount count_;
};

/// True when no block can see what another does while it runs: the code holds no global atomic that returns a value, no
/// strong or volatile access and no fence. Such blocks may be run in any order and at the same time.
bool blocks_are_independent(const isa::Program& program);

/// The same of blocks of different clusters: those of one may meet at the cluster's barriers and in each other's shared memory.
bool clusters_are_independent(const isa::Program& program);

/// Whether several threads may execute clusters of the launch at once: they are independent, and nothing is watched for that has an order.
bool may_run_at_once(const LaunchContext& context);

/// False when no block can wait for what another does: the code asks nothing of global memory that it would see change, no atomic that
/// returns a value and no strong or volatile load. Such a block that computes for long only computes.
bool blocks_may_wait(const isa::Program& program);

}  // namespace foretrace::emulate
