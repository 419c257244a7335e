#include <algorithm>
#include <array>
#include <cstddef>

#include "model/isa/instruction.h"

namespace foretrace::isa {
namespace {

constexpr std::array kMnemonics = {
#define FORETRACE_OPCODE(name) std::string_view{#name},
#include "model/isa/opcodes.def"
#undef FORETRACE_OPCODE
};
static_assert(kMnemonics.size() == static_cast<std::size_t>(Opcode::count));
static_assert(std::is_sorted(kMnemonics.begin(), kMnemonics.end()), "opcodes.def is searched by bisection");

}  // namespace

bool opcode_from_name(std::string_view mnemonic, Opcode& opcode) {
  const auto found = std::lower_bound(kMnemonics.begin(), kMnemonics.end(), mnemonic);
  if (found == kMnemonics.end() || *found != mnemonic) return false;
  opcode = static_cast<Opcode>(found - kMnemonics.begin());
  return true;
}

std::string_view name_of(Opcode opcode) {
  return opcode == Opcode::opaque ? "(unknown)" : kMnemonics[static_cast<std::size_t>(opcode)];
}

}  // namespace foretrace::isa
