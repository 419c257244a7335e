// Words of a wide load that the program has no use for: compilers load four words where three are asked for.
//
// Models:  a word is of no use if every way on from the load writes its register before it reads it, or ends the thread.
// Ignores: calls, returns, branches through registers, and a register that only some lanes write: behind them all is taken as read.
#pragma once

#include <cstdint>

#include "model/isa/program.h"

namespace foretrace::emulate {

/// Whether word `word` of what the load at `at` brings may be read.
bool may_read_word(const isa::Program& program, std::size_t at, std::uint32_t word);

}  // namespace foretrace::emulate
