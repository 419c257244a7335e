#include "sim/emulate/fault.h"

namespace foretrace::emulate {

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds: return "out_of_bounds";
    case FaultKind::misaligned: return "misaligned";
    case FaultKind::divergent_barrier: return "divergent_barrier";
    case FaultKind::impossible_barrier: return "impossible_barrier";
    case FaultKind::never_ends: return "never_ends";
    case FaultKind::trap: return "trap";
    case FaultKind::assertion: return "assertion";
    case FaultKind::stack_overflow: return "stack_overflow";
    case FaultKind::uninitialized_read: return "uninitialized_read";
    case FaultKind::race: return "race";
    case FaultKind::use_after_free: return "use_after_free";
    case FaultKind::illegal_instruction: return "illegal_instruction";
    case FaultKind::unsupported: return "unsupported";
  }
  return "unknown";
}

}  // namespace foretrace::emulate
