#include <algorithm>
#include <array>
#include <cstddef>

#include "model/isa/instruction.h"

namespace foretrace::isa {
namespace {

constexpr std::array kNames = {
#define FORETRACE_OPCODE(name) std::string_view{#name},
#include "model/isa/opcodes.def"
#undef FORETRACE_OPCODE
};
static_assert(kNames.size() == static_cast<std::size_t>(Opcode::count));
static_assert(std::is_sorted(kNames.begin(), kNames.end()), "opcodes.def is searched by bisection");

}  // namespace

bool opcode_from_name(std::string_view mnemonic, Opcode& opcode) {
  const auto found = std::lower_bound(kNames.begin(), kNames.end(), mnemonic);
  if (found == kNames.end() || *found != mnemonic) return false;
  opcode = static_cast<Opcode>(found - kNames.begin());
  return true;
}

std::string_view name_of(Opcode opcode) {
  return opcode == Opcode::opaque ? "(unknown)" : kNames[static_cast<std::size_t>(opcode)];
}

}  // namespace foretrace::isa
