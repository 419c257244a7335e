// What of other devices' memory a kernel may reach, for the cycle model.
#pragma once

#include <memory>

#include "model/memory/peer_memory.h"
#include "sim/collective/link_spec.h"
#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

/// As a kernel of `device` sees it; null: other devices have none.
std::shared_ptr<const memory::PeerMemory> peer_memory(const DeviceMemory& memory, int device,
                                                      const collective::LinkSpec& link);

}  // namespace foretrace::runtime
