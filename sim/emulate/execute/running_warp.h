// The warp that runs, as its instructions see it: operands, predicates, addresses, its place in the launch; and how it faults.
//
// Models:  divergence as docs/facts.md has it (W1, W2, W6, W7, W10 to W12 there). Lanes of a warp that stand at different instructions form
//          groups; each has its own program counter, its own copy of the uniform registers and of the convergence
//          barriers (execute/divergence.h). Special registers by the numbers that S2R encodes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/emulate/launch.h"
#include "sim/emulate/translate/compiled.h"

namespace foretrace::emulate {

inline constexpr int kConvergenceBarriers = 16;

enum class Wait : std::uint8_t { none, join, warpsync };

/// Lanes that execute together.
struct Group {
  std::uint32_t pc = 0;  ///< instruction index
  std::uint32_t lanes = 0;
  Wait wait = Wait::none;
  std::uint8_t barrier = 0;  ///< Wait::join: at which convergence barrier
  bool at_barrier = false;   ///< stands at a block barrier and lets the warp's other lanes come, too
  bool early = false;        ///< Wait::join: may be released while others only spin
  bool yielded = false;      ///< has executed YIELD since the last release, in vain where it tries again
  std::uint64_t noted = 0;   ///< Progress::times when it last executed YIELD
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
  std::uint8_t barrier = 0;  ///< at_barrier: which
  std::uint8_t short_turns =
      0;  ///< turns yet to come in which it goes as far as the others only, after a barrier
  std::uint32_t barrier_result = 0;    ///< of the last BAR.RED
  std::uint64_t cluster_arrivals = 0;  ///< at the cluster's barrier: one more than the phase of the last one
  std::uint64_t instructions = 0;
  std::unique_ptr<work::WarpRecorder> recorder;
  std::uint32_t tells = 0;  ///< writes so far that others may wait for: work::Signal::number
  work::Awaited seen;       ///< what the last counter has told it
  struct Round {
    const isa::SpinLoop* loop = nullptr;  ///< null: in none
    std::uint32_t lanes = 0, tells = 0;   ///< as it began
  } round;
  std::uint64_t waited_at = 0;   ///< Progress::times when it last stood at an mbarrier
  std::uint32_t waits = 0;       ///< turns that it has stood there since
  std::uint64_t products = 0;    ///< groups of warpgroup products that it has come to
  std::uint32_t counted_at = 0;  ///< 1 + index of the last atomic that counted for it; 0: none has
  bool told_before = false;      ///< an addition outside of such a loop has told it a number
  bool gave_way = false;         ///< others had their turn before the count that it is to ask for
};

/// Why a warp stopped running for now.
enum class Stop : std::uint8_t { budget, turn, barrier, done };

/// How a block gets on, by the number of warp instructions that it has issued.
struct Progress {
  static constexpr std::uint64_t kPolls = 1;  ///< polls without progress after which others have their turn
  std::uint64_t issued = 0;
  std::uint64_t at = 0;       ///< when there was some last: a store, an atomic, an exit
  std::uint64_t times = 0;    ///< how often there was some
  std::uint64_t polls = 0;    ///< since the last of these times
  std::uint64_t tickets = 0;  ///< counts that a loop has asked for again: what blocks share work by
  bool in_vain = false;       ///< the store that was just executed changed nothing, in a block that polls

  void note() {
    at = issued;
    ++times;
    polls = 0;
  }
  std::uint64_t idle() const { return issued - at; }
};

struct RunningWarp {
  RunningWarp(const Emulator::Launch& launch, std::uint64_t block);

  LaneFrame frame{};
  Warp* warp = nullptr;
  std::uint32_t active = 0;  ///< lanes of the running group
  std::uint32_t pc = 0;      ///< index of the instruction being executed
  alignas(64) std::array<work::LaneAddresses, 2> addresses;
  work::Transfer transfer;  ///< filled in by functions of instructions that start one
  std::uint32_t value = 0;  ///< the number that goes into the record, where the instruction has one
  bool turn = false;        ///< set by a function that would wait: others should run now
  bool counted = false;     ///< set by one that is to take a count, once others have had their turn
  bool again = false;       ///< with `turn`: as if the instruction had not been executed yet
  Stop stop = Stop::done;   ///< why it stopped, where it did
  Progress progress;

  /// `w` runs from here on.
  void enter(Warp& w);
  /// For a function that waits for an mbarrier's phase. True: the warp stands where it is until others have had their turn. False when
  /// that has brought nothing often enough: the instruction has to say that the phase has not ended.
  bool may_wait();
  /// A strong load or an exchange that failed: what a loop does that waits for somebody else's store.
  void note_poll() {
    if (++progress.polls % Progress::kPolls == 0 && warp->others.empty()) turn = true;
  }

  /// An atomic of global memory is to tell the warp a count. True where a loop asks for the next one, also after one before the loop:
  /// others have their turn first, so that what is shared out goes to all that run beside each other; then it is asked again.
  bool gives_way() {
    const bool next = pc < warp->counted_at || (warp->counted_at == 0 && warp->told_before);
    if (next && !std::exchange(warp->gave_way, true)) {
      ++progress.tickets;
      return again = counted = true;
    }
    warp->gave_way = false;
    warp->counted_at = pc + 1;
    return false;
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
  /// The lanes' addresses into `addresses[set]`. `form`: bits of address_form.h. `base` a register (pair), `uniform` a uniform register
  /// (pair) that is added.
  void form_addresses(const Source& base, const Source& uniform, std::uint32_t form, std::uint64_t offset,
                      int set);

  std::uint32_t special_register(std::uint32_t index, int lane) const;
  std::uint64_t block() const { return block_; }
  Dim3 block_index() const { return block_index_; }
  std::uint32_t cluster_rank() const { return cluster_rank_; }  ///< among the blocks of the cluster
  /// The lanes' words of SR_TID.X, .Y, .Z (33, 34, 35); null for another register.
  const std::uint32_t* thread_coordinates(std::uint32_t index) const {
    if (index < 33 || index > 35) return nullptr;
    return launch_.coordinates[index - 33].data() + std::size_t{warp->index} * 32;
  }
  Dim3 thread_index(int lane) const;

  /// The line that says where: kernel, block, thread, instruction, source line; and what.
  std::string fault_text(int lane, const std::string& what) const;
  [[noreturn]] void fault(FaultKind kind, int lane, const std::string& what) const;

 private:
  const Emulator::Launch& launch_;
  std::uint64_t block_;
  Dim3 block_index_;
  std::uint32_t cluster_rank_ = 0;
};

}  // namespace foretrace::emulate
