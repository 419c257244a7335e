// Packets: how the lanes of a global atomic that touch one line leave the SM. A pure function.
//
// Models:  a packet holds each word once: lanes that share a word go in as many packets as there are of them, one after
//          the other; lanes on different words of the line go together, each sector with whatever words it has.
// Ignores: packets of one lane that the hardware sends as if there were more, in some warps that touch many lines.
// Source:  validate/measurements/h100-sxm-microbenchmarks.json:profiled_atomics (requests, sectors, cycles to the network).
#pragma once

#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::rules {

struct AtomicPackets {
  std::uint8_t packets = 0;  ///< requests to L2: the most lanes that share a word of the line
  std::uint8_t visits = 0;   ///< sectors, counted in every packet that has words of them
  std::uint8_t lone = 0;     ///< packets of a single word: it travels with the address
};

/// What the lanes in `executed` send of `line` (byte address / 128), `bytes` per lane (4, 8 or 16; less counts as 4).
AtomicPackets atomic_packets(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
                             std::uint32_t bytes, std::uint64_t line);

}  // namespace foretrace::rules
