// One block in execution: its warps, their diverged groups, its barriers and its shared and local memory.
//
// Models:  divergence as docs/facts.md has it (W1, W2, W6, W7, W10 to W12 there). Lanes of a warp that stand at different instructions form
//          groups; each has its own program counter, its own copy of the uniform registers and of the convergence
//          barriers. Fall-through runs first; what was pushed last is taken up first.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/operands.h"
#include "sim/emulate/emulator.h"
#include "sim/emulate/memory/shared_checks.h"
#include "sim/emulate/schedule/waits.h"
#include "sim/emulate/translate/compiled.h"

namespace foretrace::emulate {

struct Emulator::Launch {
  LaunchContext context;
  const LaneTable* lanes = nullptr;
  std::shared_ptr<const Translation> translation;
  LaneWords literals;
  mutable std::atomic<bool> bounds_reported{false};      ///< of an access, Checks::bounds
  mutable std::atomic<bool> divergence_reported{false};  ///< of a barrier, LaunchContext::strict_barriers
  mutable WriteHistory writes;  ///< of launches with waiting loops, whose blocks one thread executes
  std::uint64_t workspace = 0;  ///< address of what a grid-wide barrier needs; 0: none
  std::uint64_t parameter_area =
      0;  ///< allocation that holds the parameters where code asks for their address; 0: none
  std::uint32_t threads = 0;          ///< a block
  std::uint32_t warps = 0;            ///< a block
  std::uint32_t shared_bytes = 0;     ///< a block, the part below Program::shared_base included
  std::uint32_t local_bytes = 0;      ///< a thread
  std::vector<isa::Access> accesses;  ///< by instruction, where checks are asked for; what is no access: load
  std::array<LaneWords, 3> coordinates;  ///< threadIdx.x, y, z of all threads, 32 words a warp

  explicit Launch(const LaunchContext& from);
  ~Launch();
};

inline constexpr int kConvergenceBarriers = 16;
inline constexpr int kBlockBarriers = 16;
inline constexpr std::uint64_t kPolls = 1;  ///< polls without progress after which others have their turn

enum class Wait : std::uint8_t { none, join, warpsync };

/// Lanes that execute together.
struct Group {
  std::uint32_t pc = 0;  ///< instruction index
  std::uint32_t lanes = 0;
  Wait wait = Wait::none;
  std::uint8_t barrier = 0;  ///< Wait::join: at which convergence barrier
  bool at_barrier = false;   ///< stands at a block barrier and lets the warp's other lanes come, too
  bool early = false;        ///< Wait::join: may be released while others only spin
  bool yielded = false;      ///< has executed YIELD since the last release
  std::uint32_t mask = 0;    ///< Wait::warpsync: lanes that must arrive
  std::array<std::uint32_t, kConvergenceBarriers> joined{};  ///< lanes that take part in each barrier
  std::array<std::uint32_t, 8> uniform_predicates{};         ///< while not running
  std::vector<std::uint32_t> uniform;                        ///< uniform registers while not running
};

enum class WarpState : std::uint8_t { ready, at_barrier, at_cluster, done };

struct Warp {
  std::uint32_t index = 0;
  std::uint32_t* registers = nullptr;
  std::uint32_t* uniforms = nullptr;
  std::array<std::uint32_t, kPredicateSlots> predicates{};
  std::uint32_t live = 0;     ///< lanes that exist and have not exited
  Group now;                  ///< the running group
  std::vector<Group> others;  ///< the last one is taken up first
  WarpState state = WarpState::ready;
  std::uint8_t barrier = 0;            ///< at_barrier: which
  std::uint32_t barrier_result = 0;    ///< of the last BAR.RED
  std::uint64_t cluster_arrivals = 0;  ///< at the cluster's barrier: one more than the phase of the last one
  std::uint64_t instructions = 0;
  std::unique_ptr<work::WarpRecorder> recorder;
  std::uint32_t tells = 0;  ///< writes so far that others may wait for: work::Signal::number
  work::Awaited seen;       ///< what the last counter has told it
  struct Round {
    const isa::WaitingLoop* loop = nullptr;  ///< null: in none
    std::uint32_t lanes = 0, tells = 0;      ///< as it began
  } round;
  std::uint64_t waited_at = 0;  ///< Execution's progress when it last stood at an mbarrier
  std::uint32_t waits = 0;      ///< turns that it has stood there since
};

/// Why a warp stopped running for now.
enum class Stop : std::uint8_t { budget, turn, barrier, done };

class Cluster;

class Execution {
 public:
  Execution(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record);
  /// Runs until the block has ended (true), or until `patience` warp instructions in a row have brought no store, atomic or
  /// exit (false): it may be waiting for another block. May be called again.
  /// `leaves_polling`: also as soon as all that its warps do is to ask memory again and again.
  bool run(std::uint64_t patience, bool leaves_polling = false);
  /// Gives every warp that is ready one turn of up to `slice` warp instructions; true: the block has ended. Faults like run() with the
  /// launch's idle limit.
  bool run_turn(std::uint64_t slice);
  bool ended() const { return done_ == warps_.size(); }
  /// The block is one of several that run together.
  void enter_cluster(Cluster* cluster) { cluster_ = cluster; }
  bool all_arrived(std::uint64_t phase) const;
  void release_from_cluster();
  [[noreturn]] void fault_impossible_barrier();
  bool ended(std::uint32_t index) const { return warps_[index].state == WarpState::done; }
  /// From here on what warp `index` does is recorded there; what was recorded before is complete.
  void record_in(std::uint32_t index, work::WarpRecord& record) {
    warps_[index].recorder->go_on_in(record);
    warps_[index].round.loop = nullptr;  // what it began with is out of reach
  }
  void close_record(std::uint32_t index) { warps_[index].recorder->finish(); }
  /// From here on nothing is recorded.
  void stop_recording() {
    for (Warp& w : warps_) w.recorder.reset();
  }
  /// In the last call of run().
  bool made_progress() const { return progress_at_ > resumed_at_; }
  BlockCount count() const { return {issued_, thread_instructions_}; }
  [[noreturn]] void fault_never_ends(std::uint64_t idle);

  // What warp functions see.
  LaneFrame frame{};
  Warp* warp = nullptr;
  std::uint32_t active = 0;  ///< lanes of the running group
  std::uint32_t pc = 0;      ///< index of the instruction being executed
  alignas(64) std::array<work::LaneAddresses, 2> addresses;
  work::Transfer transfer;  ///< filled in by functions of instructions that start one
  std::uint32_t value = 0;  ///< the number that goes into the record, where the instruction has one
  bool turn = false;        ///< set by a function that would wait: others should run now
  bool again = false;       ///< with `turn`: as if the instruction had not been executed yet
  /// For a function that waits for an mbarrier's phase. True: the warp stands where it is until others have had their turn. False when
  /// that has brought nothing often enough: the instruction has to say that the phase has not ended.
  bool may_wait();
  void note_progress() {
    progress_at_ = issued_;
    ++progress_;
    polls_ = 0;
  }
  /// A strong load or an exchange that failed: what a loop does that waits for somebody else's store.
  void note_poll() {
    if (++polls_ % kPolls == 0 && warp->others.empty()) turn = true;
  }

  const Emulator::Launch& launch() const { return launch_; }
  const LaneTable& lanes() const { return *launch_.lanes; }
  std::uint32_t* words(File file, std::uint32_t word) const {
    return frame.file[static_cast<int>(file)] + word;
  }
  std::uint32_t* words(const Source& s) const { return words(s.file, s.word); }
  std::uint32_t* result(const MicroOp& op) const { return words(op.destination_file, op.destination); }
  std::uint32_t read(const Source& s, int lane) const {
    return ((words(s)[lane] & s.and_mask) ^ s.xor_mask) + s.add;
  }
  std::uint32_t predicate(const PredicateSource& p) const { return frame.predicates[p.slot] ^ p.invert; }
  void set_predicate(std::uint8_t slot, std::uint32_t mask, std::uint32_t lanes) {
    frame.predicates[slot] = (frame.predicates[slot] & ~mask) | (lanes & mask);
  }
  std::uint32_t special_register(std::uint32_t index, int lane) const;
  std::uint64_t clock() const { return issued_; }
  Dim3 block_index() const { return block_index_; }
  std::uint32_t cluster_rank() const { return cluster_rank_; }
  /// The lanes' words of SR_TID.X, .Y, .Z (33, 34, 35); null for another register.
  const std::uint32_t* thread_coordinates(std::uint32_t index) const {
    if (index < 33 || index > 35) return nullptr;
    return launch_.coordinates[index - 33].data() + std::size_t{warp->index} * 32;
  }
  Dim3 thread_index(int lane) const;

  // Memory. Addresses come from `addresses[set]`; every lane of the mask is checked.
  /// `form`: bits of address_form.h. `base` a register (pair), `uniform` a uniform register (pair) that is added.
  void form_addresses(const Source& base, const Source& uniform, std::uint32_t form, std::uint64_t offset,
                      int set);
  /// Host memory of one lane's access; faults when it is not inside one buffer or not aligned.
  std::byte* global_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// The same of bytes that are written whole by what is no plain store.
  std::byte* written_at(std::uint64_t address, std::uint32_t bytes, int lane) {
    if (checks_global_) memory_.mark_written(address, bytes);
    return global_at(address, bytes, lane);
  }
  std::byte* shared_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// An mbarrier of any block of the cluster, which is signalled there.
  std::byte* mbarrier_at(std::uint64_t address, int lane);
  /// Of any block of the cluster, by the rank in the address.
  std::byte* cluster_shared_at(std::uint64_t address, std::uint32_t bytes, int lane);
  std::byte* local_at(std::uint64_t address, std::uint32_t bytes, int lane);
  std::byte* generic_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// Host memory for all accesses in [least, greatest + bytes), or null when they need to be looked at one by one.
  std::byte* global_span(const AddressRange& range, std::uint32_t bytes);
  std::byte* shared_span(const AddressRange& range, std::uint32_t bytes);

  std::string fault_text(int lane, const std::string& what) const;
  [[noreturn]] void fault(FaultKind kind, int lane, const std::string& what) const;
  void check_shared(std::uint64_t offset, std::uint32_t bytes, int lane);
  void check_global(std::uint64_t address, std::uint32_t bytes, int lane);
  [[noreturn]] void fault_heap(int lane, std::uint64_t address, std::uint32_t bytes) const;
  [[noreturn]] void fault_access(FaultKind kind, int lane, const std::string& space, std::uint64_t address,
                                 std::uint32_t bytes) const;
  /// What the access did wrong, in words; may make the kind more precise.
  std::string describe_access(FaultKind& kind, const std::string& space, std::uint64_t address,
                              std::uint32_t bytes) const;
  std::byte* beyond_allocation(std::uint64_t address, std::uint32_t bytes, int lane);

 private:
  struct BlockBarrier {
    std::uint32_t arrived_warps = 0;  ///< also those that do not wait (BAR.ARV)
    std::uint32_t expected = 0;       ///< threads; 0: all that are live
    std::uint32_t count = 0;          ///< threads whose predicate was true
    bool all = true, any = false;
  };

  template <bool kRecording, bool kWaits>
  Stop run_warp(std::uint64_t budget);
  // waits.cpp
  struct Former {
    int lane = 0;
    std::array<std::uint32_t, 4> words{};
  };
  void look_for_round();
  void forget_round(std::uint32_t from);
  bool before_access(const MicroOp& op, std::uint32_t executed);
  void after_access(const MicroOp& op, std::uint32_t executed);
  template <typename See>
  void for_lanes(const MicroOp& op, std::uint32_t executed, See&& see);
  void put_words(const MicroOp& op, int lane, const std::array<std::uint32_t, 4>& words);
  void answer(const MicroOp& op, std::uint32_t executed);
  void find_awaited(const isa::WaitingLoop& loop, const MicroOp& op, std::uint32_t executed);
  bool leaves(const isa::WaitingLoop& loop, const MicroOp& load, std::uint32_t executed, int lane,
              const std::array<std::uint32_t, 4>& words);
  bool follow(const isa::WaitingLoop& loop, std::uint32_t from, int lane);
  void give_turn(Warp& w, std::uint64_t slice);
  void enter(Warp& w);
  void leave();
  /// Branches and everything else that may change the group; returns false when the warp must stop (see stop_).
  bool control(const MicroOp& op, std::uint32_t executed);
  void branch(std::uint32_t taken, std::uint32_t target);
  void branch_indirect(const MicroOp& op, std::uint32_t executed);
  void call_driver(std::uint64_t address, std::uint32_t lanes);
  bool exit_lanes(std::uint32_t lanes);
  bool join(const MicroOp& op, std::uint32_t executed);
  void leave_barrier(std::uint32_t lanes, std::uint8_t barrier);
  void move_barrier(const MicroOp& op, std::uint32_t executed);
  bool warpsync(const MicroOp& op, std::uint32_t executed);
  bool yield();
  bool block_barrier(const MicroOp& op, std::uint32_t executed);
  bool leave_at_barrier(std::uint32_t executed);
  void report_divergent_barrier(std::uint32_t executed);
  void note_barrier_value(const MicroOp& op, std::uint32_t executed);
  void complete_barriers();
  bool cluster_barrier(const MicroOp& op, std::uint32_t executed);

  Group copy_of_now() const;
  void push(Group group);
  bool take_up();  ///< another runnable group becomes the running one; false: none
  void take(std::size_t index);
  void settle();  ///< completes joins and warpsyncs whose lanes have all arrived or gone
  bool release_joined(bool any);

  const Emulator::Launch& launch_;
  std::uint64_t block_;
  Dim3 block_index_;
  Cluster* cluster_ = nullptr;      // null: the block runs by itself
  std::uint32_t cluster_rank_ = 0;  // among the blocks of the cluster
  GlobalMemory& memory_;
  std::vector<Warp> warps_;
  LaneWords files_;
  std::vector<std::byte> shared_;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> local_;  // made by calloc: what no thread touches takes no memory
  std::unique_ptr<SharedChecks> shared_checks_;
  bool checks_global_ = false;
  bool signals_ = false;  // an mbarrier is being signalled
  std::chrono::steady_clock::time_point started_;
  std::array<BlockBarrier, kBlockBarriers> barriers_{};
  const GlobalMemory::Allocation* last_ = nullptr;  // the allocation of the last access
  std::uint64_t issued_ = 0;
  std::uint64_t progress_at_ = 0, resumed_at_ = 0;
  std::uint64_t progress_ = 0;  // how often there was some
  std::uint64_t polls_ = 0;     // since the last progress
  std::size_t done_ = 0;        // warps that have ended
  std::uint64_t thread_instructions_ = 0;
  Stop stop_ = Stop::done;
  std::vector<work::Awaited> awaited_;  // by the access that is being executed
  std::vector<Former> former_;          // what it would have found before
  std::vector<std::uint32_t> tried_;    // registers while a round is tried
};

}  // namespace foretrace::emulate
