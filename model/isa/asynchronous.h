// Instructions whose work goes on behind the warp's back, and the barriers in shared memory (mbarriers) that say when it is done.
//
// Models:  which instructions start a copy by the copy engine; what an instruction does to an mbarrier and how its operand counts.
// Ignores: LDGSTS, whose groups are counted in the warp (LDGDEPBAR); barrier words of sm_80, which are plain data to the hardware.
// Source:  our probe kernels (docs/facts.md); suffixes of SYNCS.ARRIVE: A arrivals, T transactions, each 0, 1 or R (the operand), X its negative.
#pragma once

#include <cstdint>

#include "model/isa/program.h"

namespace foretrace::isa {

/// Copies, reductions and prefetches of the copy engine: UBLKCP, UBLKRED, UBLKPF, UTMALDG, UTMASTG, UTMAREDG, UTMAPF; UGETNEXTWORKID,
/// whose answer of 16 bytes comes as a copy does.
bool starts_transfer(const Instruction& instruction);

/// What an instruction does to mbarriers.
enum class BarrierUse : std::uint8_t {
  none,
  init,         ///< SYNCS.EXCH.64; sm_120: SYNCS.CCTL.IV after the word was stored
  arrive,       ///< SYNCS.ARRIVE
  copy_arrive,  ///< ARRIVES.LDGSTSBAR: arrives when the warp's LDGSTS so far have written
  check,        ///< SYNCS.PHASECHK
  store         ///< STAS, REDAS: data whose bytes are taken off a barrier's transactions
};
BarrierUse barrier_use(const Instruction& instruction);

/// What an arrival of one lane with `operand` adds to a barrier. Transactions are expected bytes; those done are negative.
struct Arrival {
  std::uint32_t arrivals = 0;
  std::int64_t transactions = 0;
  bool drops = false;  ///< and so many fewer are expected from the next phase on
};
/// Of a BarrierUse::arrive or copy_arrive.
Arrival arrival_of(const Instruction& instruction, std::uint32_t operand);

/// Whether a program has any of these: its record says more (docs/trace_format.md, version 3).
bool is_asynchronous(const Program& program);

}  // namespace foretrace::isa
