// What the instructions of textures and of surfaces share.
#pragma once

#include <cstdint>

#include "sim/emulate/texture/texture.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

class Execution;

/// The object of a handle; faults where there is none, or where it is none of surfaces and has to be.
const Texture& texture_at(Execution& x, std::uint32_t handle, int lane, bool surface);
/// The operand that holds a handle: a register, a uniform register (and 0), or bank and word of constant memory (sm_80).
Source take_handle(Decoder& d);
void translate_surface(Decoder& d);

}  // namespace foretrace::emulate
