// Loops in which a warp asks memory until somebody else has written what it waits for: found in the code alone.
//
// Models:  the smallest loop around a strong load (volatile, relaxed, acquire), an atomic that adds nothing, or a compare-and-swap or
//          exchange that has no effect but to ask again: no store (but one to a place of the thread's own, where it keeps what it found),
//          no other atomic, no barrier, no call; it asks for the same places in each round. Also the same instruction just before the
//          loop, with a branch past the loop: compilers ask once before they enter it.
// Ignores: loops with loops or block barriers in them, loops over shared memory. A search through a list (the address comes from what
//          was loaded) is no wait.
#pragma once

#include <cstdint>
#include <vector>

#include "model/isa/program.h"

namespace foretrace::isa {

/// Instruction indices.
struct SpinLoop {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t first = 0;           ///< where a round begins
  std::uint32_t last = 0;            ///< the branch back to it
  std::uint32_t early = kNone;       ///< the instruction that asks before the loop
  std::uint32_t early_exit = kNone;  ///< the branch past the loop that belongs to it
  bool holds(std::uint32_t index) const { return index >= first && index <= last; }
};

/// In ascending order; they do not overlap.
std::vector<SpinLoop> spin_loops(const Program& program);

/// A loop that reads a place, computes and tries to exchange what it found for the result, until nobody came between: additions of
/// doubles in shared memory, minima of floats and the like. The smallest loop around one compare-and-swap, with nothing else in it that
/// has an effect, which ends by what that finds; it tries another value in each round (else it is a spin loop).
struct RetryLoop {
  std::uint32_t first = 0;  ///< where a round begins
  std::uint32_t last = 0;   ///< the branch back to it
  std::uint32_t swap = 0;   ///< the compare-and-swap
  bool shared = false;      ///< which is of shared memory
  bool holds(std::uint32_t index) const { return index >= first && index <= last; }
};

/// In ascending order; they do not overlap.
std::vector<RetryLoop> retry_loops(const Program& program);

/// Whether there is something that asks (a strong load, a compare-and-swap) in a loop that is neither of these, around other loops or barriers or through a
/// list of places: its warps may go around for as long as others have not written what they need.
bool has_asking_loop(const Program& program);

/// A load of global or generic memory that sees what other SMs write, or an atomic that changes nothing unless it finds what it wants.
bool asks_memory(const Instruction& instruction);

/// A store to local memory, which its thread alone sees.
bool stores_locally(const Instruction& instruction);

/// An instruction that may write for others to see: a strong store, an atomic or a reduction of global or generic memory.
bool tells_memory(const Instruction& instruction);

/// Whether the instruction at `index` is a plain store of whole words that others are told by: a fence stands before it, a few instructions
/// away (__threadfence(), then the flag).
bool tells_behind_fence(const Program& program, std::uint32_t index);

/// An atomic that tells whose order among its like does not matter for what comes of them (additions and the like, no exchanges).
bool counts_memory(const Instruction& instruction);

}  // namespace foretrace::isa
