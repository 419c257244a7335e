// Where the printed operands stand in the 128-bit word: used to take floats from their bits and to check the rest.
//
// Source: our probe kernels (docs/facts.md); every position was checked against nvdisasm over our corpus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/isa/instruction.h"
#include "model/isa/parse.h"

namespace foretrace::isa {

/// The bits of a float as nvdisasm prints it ("1.5", "+INF", "-QNAN"), rounded to nearest even; halves in the low 16.
std::uint64_t float_bits(std::string_view text, FloatFormat format);

/// Takes float immediates and special-register indices from the word and compares guard, integer immediates, constant
/// operands and code labels with it where their position is known. Returns "" or a sentence about what disagrees.
std::string settle_with_word(Instruction& instruction, int sm);

/// The address that a control-transfer instruction encodes, in bytes from the section's start; false when the opcode
/// carries none.
bool encoded_target(const Instruction& instruction, int sm, std::uint64_t& target);

}  // namespace foretrace::isa
