// Where values stand that are followed through code: registers and predicates, as a set.
#pragma once

#include <algorithm>
#include <bitset>

#include "model/isa/operands.h"
#include "model/isa/program.h"

namespace foretrace::isa {

/// Registers 0 to 254, then predicates P0 to P6.
inline constexpr int kFirstPredicate = 256, kPlaces = kFirstPredicate + 8;
using Places = std::bitset<kPlaces>;

inline void set(Places& places, const RegisterRange& range, bool value = true) {
  for (int r = range.first; r < std::min(range.first + range.count, kRz); ++r)
    places.set(static_cast<std::size_t>(r), value);
}
inline bool any(const Places& places, int first, int count) {
  for (int r = first; r < std::min(first + count, kRz); ++r)
    if (places.test(static_cast<std::size_t>(r))) return true;
  return false;
}
inline std::size_t predicate(std::uint8_t index) { return static_cast<std::size_t>(kFirstPredicate) + index; }

/// Operands in front of the first source: the results, predicates among them.
std::size_t results_of(const Instruction& in);

/// Whether operands from `first` on hold such a value; `uniform`: all uniform registers and predicates do.
bool reads(const Instruction& in, const Places& places, std::size_t first, bool uniform);

/// Whether an address holds one.
bool addresses(const Instruction& in, const Places& places, bool uniform);

/// An instruction's results hold such a value from here on, or no longer. True: uniform ones do.
bool give(const Instruction& in, int sm, bool result, Places& after);

}  // namespace foretrace::isa
