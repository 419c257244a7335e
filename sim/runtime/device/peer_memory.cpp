#include "sim/runtime/device/peer_memory.h"

#include <cmath>

namespace foretrace::runtime {

std::shared_ptr<const memory::PeerMemory> peer_memory(const DeviceMemory& memory, int device,
                                                      const collective::LinkSpec& link) {
  const auto bytes = [](double value) { return static_cast<std::uint32_t>(std::lround(value)); };
  auto found = std::make_shared<memory::PeerMemory>();
  for (const auto& [address, block] : memory.blocks()) {
    if (!is_of_one_device(block) || block.device == device) continue;
    found->ranges.push_back({address, address + block.size});
  }
  if (found->ranges.empty()) return nullptr;
  found->latency = link.kernel.latency;
  found->bandwidth = link.kernel.bandwidth;
  found->header = bytes(link.kernel.header);
  found->question = bytes(link.kernel.question);
  return found;
}

}  // namespace foretrace::runtime
