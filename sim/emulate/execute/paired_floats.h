// Floats that sm_100 has in pairs and threes: FADD2, FMUL2, FFMA2; FMNMX3; CREDUX; of two precisions: FHADD, FHFMA; rounded by random bits.
#pragma once

#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

/// As the others of decoder.h.
bool translate_paired(Decoder& d, isa::Opcode opcode);
bool translate_mixed(Decoder& d, isa::Opcode opcode);
/// F2FP with .RS.
void take_stochastic_rounding(Decoder& d);

}  // namespace foretrace::emulate
