// Floats that sm_100 has in pairs and threes: FADD2, FMUL2, FFMA2; FMNMX3; CREDUX.
#pragma once

#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

/// As the others of decoder.h.
bool translate_paired(Decoder& d, isa::Opcode opcode);

}  // namespace foretrace::emulate
