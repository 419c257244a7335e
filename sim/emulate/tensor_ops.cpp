// Matrix multiply-accumulate of a warp.
#include "sim/emulate/decoder.h"

namespace foretrace::emulate {

bool translate_tensor(Decoder&, isa::Opcode) { return false; }

}  // namespace foretrace::emulate
