// What a request says of the access that it is part of.
#pragma once

#include <array>
#include <cstdint>

#include "model/memory/memory_system.h"
#include "model/sm/memory_operation.h"

namespace foretrace::sm {

/// How an atomic or a reduction of lanes on the request's line leaves the SM: its packets, and the flits of 32 bytes that they are.
void put_packets(memory::Request& request, const isa::MemoryForm& form, const work::LaneAddresses& addresses,
                 std::uint32_t executed);

/// What an access tells or waits for goes with the last of its lines.
inline void put_signal(memory::Request& request, const MemoryOperation& operation, bool last) {
  if (!last) return;
  request.tells = operation.tells;
  request.signal = operation.signal;
  if (operation.waits) request.waits = static_cast<std::uint8_t>(operation.warp + 1);
}

}  // namespace foretrace::sm
